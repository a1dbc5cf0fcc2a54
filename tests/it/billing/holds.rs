//! Posts are held while a subscription is paused, whatever happens at the same time.

use std::sync::Arc;

use async_trait::async_trait;
use fanfare_core::{
    access::PlanTier,
    failpoint::{Failpoint, Hook},
};
use fanfare_entities::{unpaid_post, workspace};
use fanfare_people::{billing::subscriptions, users};
use fanfare_tests::TestApp;
use reqwest::Method;
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::at_stripe;
use crate::{
    signup::{stripe, text},
    subscriptions::subscriber,
};

/// Stops after each batch until it is let go.
#[derive(Debug)]
struct Gate {
    reached: Semaphore,
    open: Semaphore,
}

#[async_trait]
impl Hook for Gate {
    async fn reach(&self, name: &str) {
        if name == "posts_held" {
            self.reached.add_permits(1);
            self.open.acquire().await.unwrap().forget();
        }
    }
}

async fn count(user: &fanfare_tests::User, status: &str) -> usize {
    let mut cursor = String::new();
    let mut found = 0;
    loop {
        let path = format!("/api/v1/posts?status={status}&limit=100{cursor}");
        let page = user.get(&path).await.expect(200).body;
        found += page["posts"].as_array().unwrap().len();
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

async fn set_pause(app: &TestApp, subscription: &str, paused: bool) {
    let form: &[(&str, &str)] = if paused {
        &[("pause_collection[behavior]", "void")]
    } else {
        &[("pause_collection", "")]
    };
    at_stripe(app, &format!("subscriptions/{subscription}"), form).await;
}

/// The slow one stands after each of its batches while the other one does all of its work.
#[tokio::test]
async fn a_pause_that_was_read_earlier_undoes_no_later_resume_and_the_reverse() {
    const POSTS: usize = 230;
    let app = TestApp::start().await;
    let (ada, session) = subscriber(&app, "ada@example.com").await;
    stripe(&app, Method::PUT, "deliveries", json!({"hold": true})).await;
    let id = text(&session, "subscription").to_owned();
    let account = ada.connect("bluesky").await;
    let later = |nth: usize| json!({"account_id": account, "caption": format!("{nth}"), "scheduled_at": app.at(86_400)});
    for part in (0..POSTS).collect::<Vec<_>>().chunks(25) {
        let posts: Vec<Value> = part.iter().map(|nth| later(*nth)).collect();
        let _ = ada.post("/api/v1/posts/batch", json!({ "posts": posts })).await.expect(200);
    }
    assert_eq!(count(&ada, "scheduled").await, POSTS);
    for first_pauses in [true, false] {
        for batches in 1..=3 {
            // What is there before: the opposite of what the slow one begins.
            set_pause(&app, &id, !first_pauses).await;
            subscriptions::refresh_all(&app.domain).await.unwrap();
            let gate = Arc::new(Gate { reached: Semaphore::new(0), open: Semaphore::new(0) });
            let slow =
                app.other_process_at(Failpoint::with_hook(Arc::clone(&gate) as Arc<_>)).await;
            set_pause(&app, &id, first_pauses).await;
            let work = tokio::spawn(async move { subscriptions::refresh_all(&slow).await });
            for _ in 1..batches {
                gate.reached.acquire().await.unwrap().forget();
                gate.open.add_permits(1);
            }
            gate.reached.acquire().await.unwrap().forget();
            set_pause(&app, &id, !first_pauses).await;
            subscriptions::refresh_all(&app.domain).await.unwrap();
            gate.open.add_permits(1_000);
            work.await.unwrap().unwrap();
            let (status, other) =
                if first_pauses { ("scheduled", "paused") } else { ("paused", "scheduled") };
            let found = (count(&ada, status).await, count(&ada, other).await);
            assert_eq!(found, (POSTS, 0), "{status} after {batches} batches");
        }
    }
}

#[tokio::test]
async fn posts_whose_time_passed_while_unpaid_say_why_they_stay_paused() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let account = ada.connect("bluesky").await;
    let post = |seconds: i64| json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(seconds)});
    let soon = ada.publish(post(3_600)).await;
    let _ = ada.post("/api/v1/subscription/pause", json!({})).await.expect(200);
    app.advance(std::time::Duration::from_secs(5_400));
    let _ = ada.post("/api/v1/subscription/resume", json!({})).await.expect(200);
    let activity = ada.get("/api/v1/activity?type=post.updated&limit=100").await.expect(200).body;
    let all = activity["activity"].as_array().unwrap().iter();
    let said: Vec<&str> = all
        .filter(|event| event["post_id"] == soon["id"])
        .map(|event| text(event, "message"))
        .collect();
    let why = "its time passed while its subscription was paused; give it a new time";
    assert!(said.iter().any(|message| message.contains(why)), "{said:?}");
}

#[tokio::test]
async fn a_plan_that_an_operator_gives_lets_the_held_posts_go() {
    let app = TestApp::start().await;
    let (ada, _) = subscriber(&app, "ada@example.com").await;
    let account = ada.connect("bluesky").await;
    let later = json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(86_400)});
    let post = ada.publish(later).await;
    let _ = ada.post("/api/v1/subscription/pause", json!({})).await.expect(200);
    let status = async || {
        let path = format!("/api/v1/posts/{}", post["id"]);
        ada.get(&path).await.expect(200).body["post"]["status"].clone()
    };
    assert_eq!(status().await, "paused");
    let home = workspace::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap();
    users::set_plan(&app.domain, home.id, PlanTier::Pro, Some(true)).await.unwrap();
    assert_eq!(status().await, "scheduled");
    assert_eq!(unpaid_post::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
}
