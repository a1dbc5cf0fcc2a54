//! Readings that wait for a change of status.

use fanfare_tests::{Options, TestApp};
use serde_json::json;

#[tokio::test]
async fn a_reading_that_waits_answers_with_the_changed_status() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "Soon", "scheduled_at": app.at(3_600)});
    let id = user.publish(body).await["id"].clone();
    let waiting = format!("/api/v1/posts/{id}?wait=25");
    let change = async || {
        let path = format!("/api/v1/posts/{id}/status");
        user.put(&path, json!({"status": "paused"})).await.expect(200)
    };
    let (read, _) = tokio::join!(user.get(&waiting), change());
    assert_eq!(read.expect(200).body["post"]["status"], "paused");
    for bad in ["-1", "26", "long"] {
        let path = format!("/api/v1/posts/{id}?wait={bad}");
        let _ = user.get(&path).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn links_signups_and_films_are_waited_for_too() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let link = user.post("/api/v1/connect/bluesky/sessions", json!({})).await.expect(201).body;
    let link =
        format!("/api/v1/connect/sessions/{}", link["connect_session"]["id"].as_str().unwrap());
    let signup = json!({"email": "ada@example.com", "name": "Ada", "tier": "starter", "api_addon": true, "source": "agent"});
    let signup = app.without_key().post("/api/v1/signup", signup).await.expect(201).body;
    let signup = format!("/api/v1/signup/sessions/{}", signup["session_id"].as_str().unwrap());
    let film =
        json!({"prompt": "A lake", "provider": "xai", "duration_seconds": 5, "resolution": "480p"});
    let film = user.post("/api/v1/ai/generate-video", film).await.expect(202).body;
    let film = format!("/api/v1/ai/video-jobs/{}", film["job_id"].as_str().unwrap());
    for path in [link, signup, film] {
        let _ = user.get(&format!("{path}?wait=0")).await.expect(200);
        let _ = user.get(&format!("{path}?wait=1")).await.expect(200);
        let _ = user.get(&format!("{path}?wait=26")).await.refused(400, "invalid_field");
    }
}
