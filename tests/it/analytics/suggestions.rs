//! Suggestions become one post at most.

use fanfare_tests::{TestApp, User};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{after_syncs, idle, set};

/// An account on Threads with a profile, and three posts that did well.
pub async fn account_with_suggestions() -> (TestApp, User, i64) {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    for days in 20..32 {
        let text = format!("Post of {days} days");
        let made = json!({"account_id": id, "text": text, "created_at": app.at(-86_400 * days)});
        let made = user.post("/api/v1/sandbox/threads/posts", made).await.expect(201).body;
        let likes = if days % 4 == 0 { 30 } else { 10 };
        set(
            &user,
            "threads",
            id,
            json!({"post_id": made["id"]}),
            json!({"views": 100, "likes": likes}),
        )
        .await;
    }
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let made =
        user.post("/api/v1/sandbox/suggestions", json!({"account_id": id})).await.expect(200);
    assert_eq!(made.body["suggestions"], 2, "one of the three is younger than 21 days");
    (app, user, id)
}

async fn listed(user: &User, status: &str) -> Vec<Value> {
    let path = format!("/api/v1/suggestions?status={status}");
    user.get(&path).await.expect(200).body["suggestions"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_suggestion_becomes_one_post_and_comes_back_with_its_deletion() {
    let (app, user, id) = account_with_suggestions().await;
    let again =
        user.post("/api/v1/sandbox/suggestions", json!({"account_id": id})).await.expect(200);
    assert_eq!(again.body["suggestions"], 0, "one turn a week");
    let pending = listed(&user, "pending").await;
    // The model writes fresh captions after the old ones.
    let captions = [&pending[0]["caption"], &pending[1]["caption"]];
    assert_eq!(captions, ["Here it is: Post of 24 days", "Here it is: Post of 28 days"]);
    assert!(pending[0]["rationale"].as_str().unwrap().contains("3 times the median"));
    assert_eq!(pending[0]["account"]["id"], id);
    let body = json!({"account_id": id, "caption": "Again", "suggestion_id": pending[0]["id"], "scheduled_at": app.at(86_400)});
    let made = join_all((0..20).map(|_| user.post("/api/v1/posts", body.clone()))).await;
    let (won, lost): (Vec<_>, Vec<_>) = made.into_iter().partition(|answer| answer.status == 201);
    assert_eq!(won.len(), 1);
    for answer in lost {
        let _ = answer.refused(409, "suggestion_already_scheduled");
    }
    let post = won[0].body["post"]["id"].clone();
    let scheduled = listed(&user, "scheduled").await;
    assert_eq!((&scheduled[0]["id"], &scheduled[0]["post_id"]), (&pending[0]["id"], &post));
    let dismissed = format!("/api/v1/suggestions/{}/dismiss", pending[0]["id"].as_str().unwrap());
    let _ = user.post(&dismissed, json!({})).await.refused(409, "suggestion_already_scheduled");
    let _ = user.delete(&format!("/api/v1/posts/{post}")).await.expect(200);
    assert_eq!(listed(&user, "pending").await.len(), 2);
    assert_eq!(listed(&user, "pending").await[0]["post_id"], Value::Null);
}

#[tokio::test]
async fn a_dismissed_suggestion_makes_no_post() {
    let (_app, user, id) = account_with_suggestions().await;
    let other = user.connect("threads").await;
    let first = listed(&user, "pending").await[0]["id"].as_str().unwrap().to_owned();
    let elsewhere = json!({"account_id": other, "caption": "Again", "suggestion_id": first});
    let refused = user.post("/api/v1/posts", elsewhere).await.expect(400);
    assert_eq!(refused.body["validation_errors"][0]["field"], "suggestion_id");
    for _ in 0..2 {
        let path = format!("/api/v1/suggestions/{first}/dismiss");
        let dismissed = user.post(&path, json!({})).await.expect(200);
        assert_eq!(dismissed.body["suggestion"]["status"], "dismissed");
    }
    let body = json!({"account_id": id, "caption": "Again", "suggestion_id": first});
    let _ = user.post("/api/v1/posts", body.clone()).await.refused(409, "suggestion_dismissed");
    let batch = user.post("/api/v1/posts/batch", json!({"posts": [body]})).await.body;
    assert_eq!(batch["errors"][0]["code"], "suggestion_dismissed");
    let absent = "/api/v1/suggestions/0190f5a0-0000-7000-8000-000000000000/dismiss";
    let _ = user.post(absent, json!({})).await.refused(404, "suggestion_not_found");
}

#[tokio::test]
async fn a_post_whose_text_cannot_be_used_takes_nobodys_place() {
    // The best posts of twelve, and how many of them say nothing but a phone number that nobody knows.
    for (best, unusable, wanted) in [(5, 1, 3), (5, 2, 3), (4, 2, 2), (3, 3, 0)] {
        let (app, user) = idle().await;
        let id = user.connect("threads").await;
        for nth in 0..12 {
            let text =
                if nth < unusable { format!("2281908{nth}") } else { format!("Post {nth} of old") };
            let at = app.at(-86_400 * (22 + nth));
            let made = json!({"account_id": id, "text": text, "created_at": at});
            let made = user.post("/api/v1/sandbox/threads/posts", made).await.expect(201).body;
            let likes = if nth < best { 60 - nth } else { 10 };
            let numbers = json!({"views": 100, "likes": likes});
            set(&user, "threads", id, json!({"post_id": made["id"]}), numbers).await;
        }
        app.start_workers();
        after_syncs(&app, &user, 1).await;
        let body = json!({"account_id": id});
        let made = user.post("/api/v1/sandbox/suggestions", body).await.expect(200).body;
        assert_eq!(made["suggestions"], wanted, "{best} good ones, {unusable} of them unusable");
        let pending = listed(&user, "pending").await;
        let usable: Vec<String> =
            (unusable..best).map(|nth| format!("Post {nth} of old")).collect();
        for (suggestion, old) in pending.iter().zip(&usable) {
            assert!(suggestion["caption"].as_str().unwrap().contains(old), "{suggestion:#}");
        }
    }
}
