//! Workers die at every step of a film, and others take over: it is asked for once, and paid for once or not at all.

use fanfare_core::failpoint;
use fanfare_people::credits;
use fanfare_tests::{Options, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use super::{ask, billed};
use crate::{signup::text, worker::Worker};

/// The credits of a film of these stories.
const COST: i64 = 7;

async fn rows(app: &TestApp, change: &str) {
    let sql = format!("UPDATE ai_jobs SET {change}");
    app.domain.db.write.execute_unprepared(&sql).await.expect("the rows move");
}

/// Asks for a film, kills the worker that makes it at `place`, and lets another one take over; what became of the film.
async fn survived(app: &TestApp, user: &User, place: &str, prompt: &str) -> Value {
    let body = json!({"prompt": prompt, "provider": "xai", "duration_seconds": 1});
    let job = ask(user, body).await;
    let mut dying = Worker::start(app, Some(place));
    dying.arrived().await;
    drop(dying);
    // The lease of the dead worker ends.
    rows(app, "due_at = 1 WHERE due_at IS NOT NULL").await;
    let _second = Worker::start(app, None);
    let path = format!("/api/v1/ai/video-jobs/{}", text(&job, "id"));
    app.eventually("another worker ends it", || async {
        // The provider is asked again at once; a row that is held stays as it is.
        rows(app, "due_at = 1 WHERE due_at IS NOT NULL AND lease_expirations = 0").await;
        let job = user.get(&path).await.expect(200).body["job"].clone();
        (!matches!(text(&job, "status"), "queued" | "processing")).then_some(job)
    })
    .await
}

/// The wallet and the ledger agree, nothing is held back, and this much is spent.
async fn assert_spent(app: &TestApp, user: &User, before: &Value, spent: i64, story: &str) {
    let wallet = user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    let available = |wallet: &Value| wallet["available"].as_i64().unwrap();
    assert_eq!(available(&wallet), available(before) - spent, "{story}");
    assert_eq!(wallet["reserved"], 0, "{story}");
    assert_eq!(credits::check(&app.domain).await.unwrap(), [], "{story}");
}

async fn stored_films(user: &User) -> usize {
    let listed = user.get("/api/v1/media").await.expect(200).body;
    listed["media"].as_array().unwrap().iter().filter(|row| row["ai_generated"] == true).count()
}

#[tokio::test]
async fn a_worker_killed_at_any_step_of_a_film() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let before = user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    let mut made = 0;
    for place in failpoint::FILMING {
        let asked = billed(&app).await;
        let job = survived(&app, &user, place, "A cat").await;
        let story = format!("killed at {place}: {job:#}");
        // From the moment at which it may have been sent until its id is written down nobody can tell, and nobody asks again.
        let is_lost = matches!(*place, "video_sending" | "video_sent");
        if is_lost {
            assert_eq!(text(&job, "status"), "failed", "{story}");
            assert_eq!(text(&job["error"], "code"), "outcome_unknown", "{story}");
        } else {
            assert_eq!(text(&job, "status"), "completed", "{story}");
            let (status, headers, _) = user.fetch(&job["video_url"], &[]).await;
            assert_eq!(status, 200, "{story}");
            assert_eq!(headers["content-type"].to_str().unwrap(), "video/mp4", "{story}");
            made += 1;
        }
        let bills = if *place == "video_sending" { 0 } else { 1 };
        assert_eq!(billed(&app).await - asked, bills, "{story}");
        assert_eq!(stored_films(&user).await, made, "{story}");
        let spent = COST * i64::try_from(made).unwrap();
        assert_spent(&app, &user, &before, spent, &story).await;
    }
}

#[tokio::test]
async fn a_worker_killed_while_a_film_fails_gives_its_credits_back_once() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let before = user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    for (place, prompt, code) in [
        ("video_step_done:2", "A cat [[refuse]] [[delay 0s]]", "content_refused"),
        ("video_settled", "A cat [[fail]]", "provider_error"),
        // It was asked, and what it said was not written down.
        ("video_step_done", "A cat [[retired]]", "outcome_unknown"),
    ] {
        let asked = billed(&app).await;
        let job = survived(&app, &user, place, prompt).await;
        let story = format!("killed at {place}: {job:#}");
        assert_eq!(text(&job, "status"), "failed", "{story}");
        assert_eq!(text(&job["error"], "code"), code, "{story}");
        assert!(billed(&app).await - asked <= 1, "{story}");
        assert_spent(&app, &user, &before, 0, &story).await;
    }
    assert_eq!(stored_films(&user).await, 0);
}
