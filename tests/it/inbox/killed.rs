//! Two hundred deaths over answers: the worker that makes one, or finds out what came of one, dies at a place that follows
//! from a number. No answer is on the network twice, and each ends as sent, failed or unknown.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fanfare_core::{
    Domain,
    failpoint::{Failpoint, Hook, OUTGOING},
};
use fanfare_entities::{OutgoingId, outgoing};
use fanfare_jobs::SendOutgoing;
use fanfare_tests::{Options, TestApp, User};
use fanfare_workers::Context;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    lost::{answerable, latest, ways},
    order::Dice,
    pro,
    sender::ask,
    sent,
};
use crate::worker::Worker;

/// The deaths of the story, and the most over one answer.
const DEATHS: usize = 200;
const DEATHS_OF_ONE: usize = 3;

/// The most turns that an answer may need when nobody dies any more.
const TURNS: usize = 40;

/// Stops whoever comes to the armed place for ever.
#[derive(Debug, Default)]
struct Reaper {
    place: Mutex<Option<&'static str>>,
    died: Notify,
}

impl Reaper {
    fn arm(&self, place: Option<&'static str>) {
        *self.place.lock().unwrap() = place;
    }
}

#[async_trait]
impl Hook for Reaper {
    async fn reach(&self, name: &str) {
        let is_it = self.place.lock().unwrap().take_if(|place| *place == name).is_some();
        if is_it {
            self.died.notify_one();
            std::future::pending().await
        }
    }
}

/// Answers under way: who makes them, and how many have died over it.
struct Story {
    app: TestApp,
    reaper: Arc<Reaper>,
    /// The rules as those know them who die.
    dying: Domain,
    dice: Dice,
    deaths: usize,
}

impl Story {
    /// Does a piece of work that ends by itself or with a death at the armed place; true if it did so. Nothing of whoever has
    /// died goes on.
    async fn dies(&mut self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        let work = tokio::spawn(work);
        let abort = work.abort_handle();
        let is_dead = tokio::select! {
            () = self.reaper.died.notified() => true,
            ended = work => { ended.expect("the work ends"); false }
        };
        abort.abort();
        self.reaper.arm(None);
        self.deaths += usize::from(is_dead);
        is_dead
    }

    fn place(&mut self, platform: &str) -> &'static str {
        let mut places = OUTGOING.to_vec();
        // Only Threads has something to prepare.
        places.retain(|place| platform == "threads" || !place.contains("prepare"));
        places[self.dice.below(places.len())]
    }

    async fn row(&self, id: OutgoingId) -> outgoing::Model {
        let found = outgoing::Entity::find_by_id(id).one(&self.app.domain.db.write).await.unwrap();
        found.expect("the row stays")
    }

    /// Has a worker take the answer, who dies on the way if the dice say so.
    async fn take(&mut self, id: OutgoingId, place: Option<&'static str>) {
        // With the lease of whoever is dead ends the deadline of the call.
        self.app.expire_leases().await;
        self.reaper.arm(place);
        let cx = if place.is_some() { self.dying.clone() } else { self.app.domain.clone() };
        let job = SendOutgoing { id: id.0 };
        self.dies(async move {
            fanfare_workers::send_outgoing(job, Context::new(cx, "story".to_owned())).await;
        })
        .await;
    }

    /// Answers, and has workers take it up until it has ended; its row.
    async fn answer(
        &mut self,
        user: &User,
        (platform, path): (&str, &str),
        text: &str,
    ) -> outgoing::Model {
        // The row counts, so the request is not waited for.
        let id = ask(&self.app, user, format!("{path}/reply"), json!({"text": text})).await;
        let place = self.place(platform);
        self.take(id, Some(place)).await;
        for _ in 1..DEATHS_OF_ONE {
            if self.row(id).await.due_at.is_none() || self.dice.below(3) == 0 {
                break;
            }
            let place = self.place(platform);
            self.take(id, Some(place)).await;
        }
        for _ in 0..TURNS {
            let row = self.row(id).await;
            if row.due_at.is_none() {
                return row;
            }
            self.take(id, None).await;
        }
        panic!("{text} never ends: {:#?}", self.row(id).await);
    }
}

#[tokio::test]
async fn two_hundred_deaths_leave_no_answer_twice_and_none_without_an_outcome() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let helper = Worker::start(&app, None);
    let mut doors = Vec::new();
    for (platform, messages) in ways() {
        let (account, path) = answerable(&app, &user, platform, messages).await;
        doors.push((platform, account, path));
    }
    drop(helper);
    let reaper = Arc::new(Reaper::default());
    let dying =
        app.other_process_at(Failpoint::with_hook(Arc::clone(&reaper) as Arc<dyn Hook>)).await;
    let mut story = Story { app, reaper, dying, dice: Dice(1), deaths: 0 };
    let mut outcomes = std::collections::BTreeMap::new();
    let mut nth = 0;
    while story.deaths < DEATHS {
        let (platform, account, path) = doors[nth % doors.len()].clone();
        // Some calls are lost on their way as well.
        if let Some(kind) = [Some("drop_after_change"), Some("reset"), None][story.dice.below(3)] {
            user.faults(platform, account, json!([{"on": "commit", "kind": kind}])).await;
        }
        let text = format!("Answer {nth}");
        let row = story.answer(&user, (platform, &path), &text).await;
        let there = sent(&user, platform, account, &text).await;
        let shown = latest(&user, &path).await;
        let status = shown["status"].as_str().unwrap_or_default().to_owned();
        let told = format!("{platform}, {text}, {there} there: {shown:#} {:#}", row.steps);
        assert!(there <= 1, "{told}");
        match status.as_str() {
            "sent" => assert_eq!(there, 1, "{told}"),
            "failed" => assert_eq!(there, 0, "{told}"),
            "unknown" => {}
            _ => panic!("no outcome: {told}"),
        }
        assert_eq!(shown["text"], text, "{told}");
        *outcomes.entry(status).or_insert(0) += 1;
        // Faults that were not used up would meet the next answer.
        user.faults(platform, account, json!([])).await;
        nth += 1;
    }
    let open = outgoing::Entity::find().filter(outgoing::Column::DueAt.is_not_null());
    assert!(open.all(&story.app.domain.db.write).await.unwrap().is_empty());
    assert!(outcomes["sent"] > 20 && outcomes["failed"] > 5, "{outcomes:?}");
}
