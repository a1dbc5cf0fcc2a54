//! The answer to a renewal of tokens is lost: it is asked for again at once, the old access token serves to its end, and the
//! owner learns the reason before that.

mod left;

use std::time::Duration;

use fanfare_core::{AccountId, PlatformId};
use fanfare_entities::event;
use fanfare_publishing::{accounts, accounts::RefreshOutcome};
use fanfare_tests::{Receiver, TestApp, User, networks};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use crate::inbox::gate::Gate;

/// Networks whose refresh token is good once, and gives no grace: the renewal whose answer was lost is the last one.
const SINGLE_USE: [&str; 3] = ["x", "tiktok", "pinterest"];

struct Place {
    user: User,
    receiver: Receiver,
    platform: PlatformId,
    id: i64,
}

impl Place {
    async fn open(app: &TestApp, name: &str) -> Option<Self> {
        let user = app.user().await;
        let receiver = Receiver::start().await;
        let events = ["account.token_expiring", "account.disconnected"];
        let hook = json!({"url": receiver.url, "events": events});
        let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
        let id = user.connect(name).await;
        let row = accounts::row(&app.domain, AccountId(id)).await.unwrap().unwrap();
        let platform = name.parse().unwrap();
        row.refresh_at.is_some().then_some(Self { user, receiver, platform, id })
    }

    async fn row(&self, app: &TestApp) -> fanfare_entities::account::Model {
        accounts::row(&app.domain, AccountId(self.id)).await.unwrap().unwrap()
    }

    async fn renew(&self, app: &TestApp) -> RefreshOutcome {
        let used = self.row(app).await.secret_id;
        accounts::refresh(&app.domain, self.platform, AccountId(self.id), used).await.unwrap()
    }

    async fn fault(&self, kind: &str, times: u32) {
        let mut fault = json!({"on": "prepare", "kind": kind, "times": times});
        if kind == "hang" {
            fault["ms"] = json!(50);
        }
        if kind == "status" {
            fault["status"] = json!(503);
        }
        self.user.faults(self.platform.as_str(), self.id, json!([fault])).await;
    }

    async fn publishes(&self, app: &TestApp) -> Value {
        networks::publish(app, &self.user, networks::post(self.platform.as_str(), self.id)).await
    }

    async fn events(&self, app: &TestApp, count: usize) -> Vec<Value> {
        app.eventually("a webhook", || async {
            (self.receiver.received().len() >= count).then_some(())
        })
        .await;
        self.receiver.received().iter().map(|heard| heard.body()).collect()
    }
}

/// Checks what follows from a renewal that met a fault.
async fn is_told_truly(app: &TestApp, place: &Place, story: &str, outcome: RefreshOutcome) {
    match outcome {
        RefreshOutcome::Fresh => {
            let post = place.publishes(app).await;
            assert_eq!(post["status"], "published", "{story}: {post:#}");
            assert_eq!(place.receiver.received().len(), 0, "{story}");
            assert_eq!(place.row(app).await.refreshing_until, None, "{story}");
        }
        RefreshOutcome::Ending(error) => {
            assert!(error.message.contains("was lost on the way"), "{story}: {error}");
            let events = place.events(app, 1).await;
            assert_eq!(events[0]["type"], "account.token_expiring", "{story}: {events:#?}");
            let end = place.row(app).await.token_expires_at.unwrap();
            let told = events[0]["data"]["token_expires_at"].as_str().unwrap();
            assert_eq!(told, fanfare_core::clock::to_rfc3339(end), "{story}");
            let post = place.publishes(app).await;
            assert_eq!(post["status"], "published", "{story}: {post:#}");
            // Once is enough.
            assert!(matches!(place.renew(app).await, RefreshOutcome::Ending(_)), "{story}");
            let left = u64::try_from(end - app.domain.clock.now()).unwrap();
            app.pass_time(Duration::from_millis(left + 1_000)).await;
            let events = place.events(app, 2).await;
            assert_eq!(events[1]["type"], "account.disconnected", "{story}: {events:#?}");
            assert!(events.len() == 2, "{story}: {events:#?}");
        }
        RefreshOutcome::Failed(error) => {
            assert!(error.message.contains("was lost on the way"), "{story}: {error}");
        }
        other => panic!("{story}: {other:?}"),
    }
}

#[tokio::test]
async fn a_renewal_whose_answer_is_lost_is_asked_for_again_and_the_owner_learns_why() {
    let app = TestApp::start().await;
    let mut renewed = 0;
    for name in networks::all() {
        for kind in ["reset", "hang", "drop_after_change", "error_after_change"] {
            let Some(place) = Place::open(&app, name).await else { continue };
            renewed += 1;
            if name == "threads" || name == "instagram" {
                // A token that is younger than a day is not renewed.
                app.pass_time(Duration::from_secs(25 * 3_600)).await;
            }
            place.fault(kind, 1).await;
            let outcome = place.renew(&app).await;
            let story = format!("{name}, {kind}: {outcome:?}");
            let is_kept = !kind.ends_with("after_change") || !SINGLE_USE.contains(&name);
            assert_eq!(matches!(outcome, RefreshOutcome::Fresh), is_kept, "{story}");
            is_told_truly(&app, &place, &story, outcome).await;
        }
    }
    assert!(renewed >= 24, "{renewed} renewals");
}

/// A token that ends within the half-hour is renewed ahead of a call; if that fails, it serves for the call.
#[tokio::test]
async fn an_access_token_serves_to_its_end_while_it_cannot_be_renewed() {
    let app = TestApp::start().await;
    for (name, call) in
        [("x", "token"), ("youtube", "token"), ("google_business", "token"), ("bluesky", "refresh")]
    {
        let Some(place) = Place::open(&app, name).await else { panic!("{name}") };
        let remote_id = place.row(&app).await.remote_id;
        for is_away in [false, true] {
            let end = place.row(&app).await.token_expires_at.unwrap();
            let left = u64::try_from(end - app.domain.clock.now()).unwrap();
            app.pass_time(Duration::from_millis(left - 20 * 60_000)).await;
            let answers = if is_away { json!([{"on": call, "status": 503}]) } else { json!([]) };
            app.simulator.behave(name, &remote_id, &json!({ "answers": answers })).await;
            let before = place.row(&app).await;
            let post = place.publishes(&app).await;
            let after = place.row(&app).await;
            assert_eq!(post["status"], "published", "{name}, away: {is_away}: {post:#}");
            assert_eq!(after.secret_id == before.secret_id, is_away, "{name}, away: {is_away}");
            assert_eq!(after.status, before.status, "{name}, away: {is_away}");
        }
    }
}

/// Workers of two processes at one account whose renewal gets no answer: no token is sent to the network by two at once.
#[tokio::test]
async fn a_renewal_without_an_answer_is_never_made_by_two_at_once() {
    let app = TestApp::start().await;
    for name in ["x", "bluesky"] {
        let Some(place) = Place::open(&app, name).await else { panic!("{name}") };
        place.fault("hang", 1).await;
        let (other, used) = (app.other_process().await, place.row(&app).await.secret_id);
        let (platform, id) = (place.platform, AccountId(place.id));
        let many = (0..20).map(|n| {
            let cx = if n % 2 == 0 { app.domain.clone() } else { other.clone() };
            tokio::spawn(async move { accounts::refresh(&cx, platform, id, used).await.unwrap() })
        });
        let (mut fresh, mut elsewhere) = (0, 0);
        for one in many.collect::<Vec<_>>() {
            match one.await.unwrap() {
                RefreshOutcome::Fresh => fresh += 1,
                RefreshOutcome::Elsewhere => elsewhere += 1,
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(fresh >= 1 && fresh + elsewhere == 20, "{name}: {fresh}, {elsewhere}");
        let calls = app.simulator.calls(name, &place.row(&app).await.remote_id).await;
        let renewals = calls.iter().filter(|call| {
            let path = call["path"].as_str().unwrap();
            path.contains("oauth2/token") || path.contains("refreshSession")
        });
        assert_eq!(renewals.count(), 2, "{name}: one without an answer, and one: {calls:#?}");
    }
}

/// Without an access token that still works nothing can go out, and the reason is the true one.
#[tokio::test]
async fn a_lost_renewal_of_an_access_token_that_has_ended_is_the_reason_that_is_given() {
    let app = TestApp::start().await;
    for (kind, is_kept) in [("reset", true), ("drop_after_change", false)] {
        let Some(place) = Place::open(&app, "x").await else { panic!("x") };
        app.pass_time(Duration::from_secs(3 * 3_600)).await;
        place.fault(kind, 1).await;
        let post = place.publishes(&app).await;
        let lost = event::Entity::find()
            .filter(event::Column::AccountId.eq(place.id))
            .filter(event::Column::EventType.eq("account.disconnected"));
        let lost = lost.all(&app.domain.db.write).await.unwrap();
        if is_kept {
            assert_eq!((post["status"].as_str(), lost.len()), (Some("published"), 0), "{post:#}");
            continue;
        }
        assert_eq!(post["status"], "failed", "{post:#}");
        let said = post["error"]["message"].as_str().unwrap();
        assert!(said.contains("was lost on the way"), "{post:#}");
        assert_eq!(post["error"]["retry_safe"], true, "{post:#}");
        assert_eq!(lost.len(), 1, "{lost:#?}");
        assert!(lost[0].message.contains("was lost on the way"), "{lost:#?}");
        assert_eq!(place.user.on_network("x", place.id).await.len(), 0);
    }
}

/// A process dies with new tokens in its hand: the next one finds the old refresh token spent, and knows why.
#[tokio::test]
async fn a_process_that_dies_with_new_tokens_leaves_the_old_access_token_and_a_true_reason() {
    let app = TestApp::start().await;
    let Some(place) = Place::open(&app, "pinterest").await else { panic!("pinterest") };
    let (gate, hook) = Gate::hook("tokens_exchanged");
    let dying = app.other_process_at(hook).await;
    let (platform, id, used) =
        (place.platform, AccountId(place.id), place.row(&app).await.secret_id);
    let killed = tokio::spawn(async move { accounts::refresh(&dying, platform, id, used).await });
    gate.is_reached().await;
    killed.abort();
    // Its reservation ends.
    assert!(matches!(place.renew(&app).await, RefreshOutcome::Elsewhere));
    app.pass_time(Duration::from_secs(31)).await;
    let outcome = place.renew(&app).await;
    assert!(matches!(outcome, RefreshOutcome::Ending(_)), "{outcome:?}");
    is_told_truly(&app, &place, "killed", outcome).await;
}
