//! Films from models: submitted once, paid once, stored as media.

mod followed;
mod killed;

use std::time::Duration;

use fanfare_entities::ai_job;
use fanfare_people::credits;
use fanfare_tests::{Options, TestApp, User};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::signup::text;

async fn available(user: &User) -> i64 {
    let wallet = user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    wallet["available"].as_i64().unwrap()
}

/// Waits until the provider was asked for every film. Until then no time passes: a lease that expires during a submission ends it.
async fn all_submitted(app: &TestApp) {
    app.eventually("the provider was asked", || async {
        let rows = ai_job::Entity::find().all(&app.domain.db.read).await.unwrap();
        let is_asked = |row: &ai_job::Model| row.submitted_at.is_some() || row.due_at.is_none();
        rows.iter().all(is_asked).then_some(())
    })
    .await;
}

async fn ask(user: &User, body: Value) -> Value {
    user.post("/api/v1/ai/generate-video", body).await.expect(202).body["job"].clone()
}

/// Waits until a film has ended; time passes meanwhile.
pub async fn ended(app: &TestApp, user: &User, job: &Value) -> Value {
    all_submitted(app).await;
    let path = format!("/api/v1/ai/video-jobs/{}", text(job, "id"));
    app.eventually_in_time("a film ends", Duration::from_secs(15), || async {
        let job = user.get(&path).await.expect(200).body["job"].clone();
        (!matches!(text(&job, "status"), "queued" | "processing")).then_some(job)
    })
    .await
}

async fn billed(app: &TestApp) -> usize {
    let url = app.simulator.url.join("/ai/bill").unwrap();
    let request = fanfare_tests::local_client().get(url).bearer_auth(&app.simulator.secret);
    let bill: Value = request.send().await.unwrap().json().await.unwrap();
    bill["bill"].as_array().unwrap().iter().filter(|line| line["what"] == "video").count()
}

#[tokio::test]
async fn a_film_is_made_stored_and_paid_for() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    for (provider, credits) in [("xai", 42), ("google_veo", 60)] {
        let body = json!({"prompt": "A cat plays the piano", "provider": provider, "duration_seconds": 6, "aspect_ratio": "9:16"});
        let job = ask(&user, body).await;
        assert_eq!((text(&job, "status"), &job["credits"]), ("queued", &json!(credits)));
        assert_eq!((&job["params"]["resolution"], &job["sandbox"]), (&json!("720p"), &json!(true)));
        let done = ended(&app, &user, &job).await;
        assert_eq!(text(&done, "status"), "completed", "{done}");
        let (status, headers, _) = user.fetch(&done["video_url"], &[]).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "video/mp4"));
        let listed = user.get("/api/v1/media").await.expect(200).body;
        let asset = listed["media"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["id"] == done["asset_id"])
            .unwrap();
        assert_eq!(asset["ai_generated"], true);
    }
    assert_eq!(available(&user).await, before - 102);
    assert_eq!(billed(&app).await, 2);
    let page = user.get("/api/v1/ai/video-jobs?status=completed&limit=1").await.expect(200).body;
    assert_eq!(page["jobs"].as_array().unwrap().len(), 1);
    let next = user
        .get(&format!("/api/v1/ai/video-jobs?limit=1&cursor={}", text(&page, "next_cursor")))
        .await
        .expect(200)
        .body;
    assert_eq!((&next["next_cursor"], next["jobs"].as_array().unwrap().len()), (&Value::Null, 1));
    let stranger = app.user().await;
    let path = format!("/api/v1/ai/video-jobs/{}", text(&page["jobs"][0], "id"));
    let _ = stranger.get(&path).await.refused(404, "job_not_found");
    let events = user.get("/api/v1/events").await.expect(200).body;
    let kinds: Vec<_> =
        events["events"].as_array().unwrap().iter().map(|it| text(it, "type").to_owned()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "video_job.completed").count(), 2, "{kinds:?}");
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn a_film_that_there_is_not_costs_nothing_and_is_never_asked_for_twice() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    for (word, provider, code) in [
        ("[[refuse]]", "xai", "content_refused"),
        ("[[refuse]]", "google", "content_refused"),
        ("[[fail]]", "xai", "provider_error"),
        ("[[fail]]", "google", "provider_error"),
        ("[[fail-submit]]", "xai", "outcome_unknown"),
        ("[[drop]]", "xai", "outcome_unknown"),
        ("[[retired]]", "google", "model_retired"),
        ("[[delay 9999s]]", "xai", "provider_timeout"),
        ("[[lost-result]]", "google", "result_lost"),
    ] {
        let asked = billed(&app).await;
        let job =
            ask(&user, json!({"prompt": format!("A cat {word}"), "provider": provider})).await;
        let path = format!("/api/v1/ai/video-jobs/{}", text(&job, "id"));
        all_submitted(&app).await;
        let job = app
            .eventually_in_time(code, Duration::from_secs(15), || async {
                let job = user.get(&path).await.expect(200).body["job"].clone();
                (text(&job, "status") == "failed").then_some(job)
            })
            .await;
        assert_eq!(text(&job["error"], "code"), code, "{job}");
        assert!(billed(&app).await - asked <= 1, "{word} was asked for twice");
    }
    assert_eq!(available(&user).await, before);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn five_films_at_most_are_under_way_and_a_queued_one_can_be_cancelled() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let before = available(&user).await;
    let body = json!({"prompt": "A cat", "provider": "xai", "duration_seconds": 1});
    let asked = futures_util::future::join_all(
        (0..9).map(|_| user.post("/api/v1/ai/generate-video", body.clone())),
    )
    .await;
    let taken: Vec<_> = asked.iter().filter(|answer| answer.status == 202).collect();
    assert_eq!(taken.len(), 5);
    let refused = asked.iter().find(|answer| answer.status != 202).unwrap();
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("too_many_jobs")));
    assert_eq!(available(&user).await, before - 35);
    let path = format!("/api/v1/ai/video-jobs/{}/cancel", text(&taken[0].body, "job_id"));
    let job = user.post(&path, json!({})).await.expect(200).body["job"].clone();
    assert_eq!(text(&job, "status"), "cancelled");
    let _ = user.post(&path, json!({})).await.refused(409, "invalid_transition");
    let _ = user.post("/api/v1/ai/generate-video", body.clone()).await.expect(202);
    let wrong = json!({"prompt": "A cat", "provider": "google", "duration_seconds": 5, "image_url": "https://example.com/a.png"});
    let _ = user.post("/api/v1/ai/generate-video", wrong).await.expect(400);
    app.start_workers();
    all_submitted(&app).await;
    app.eventually_in_time("all end", Duration::from_secs(10), || async {
        let page = user.get("/api/v1/ai/video-jobs?status=completed").await.expect(200).body;
        (page["jobs"].as_array().unwrap().len() == 5).then_some(())
    })
    .await;
    assert_eq!(available(&user).await, before - 35);
    assert_eq!(billed(&app).await, 5);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn a_film_may_begin_with_an_image_of_ours() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let drawn =
        user.post("/api/v1/ai/generate-image", json!({"prompt": "A cat"})).await.expect(201).body;
    for (provider, credits) in [("xai", 57), ("google", 80)] {
        let body =
            json!({"prompt": "It runs", "provider": provider, "image_url": drawn["media_urls"][0]});
        let job = ask(&user, body).await;
        assert_eq!(job["credits"], credits);
        assert_eq!(text(&ended(&app, &user, &job).await, "status"), "completed");
    }
}

#[tokio::test]
async fn vertex_ai_films_in_the_name_of_a_service_account() {
    let app = TestApp::with(Options { vertex: true, ..Options::default() }).await;
    let user = app.user().await;
    let before = available(&user).await;
    let options = user.get("/api/v1/ai/video-options").await.expect(200).body;
    let google =
        options["providers"].as_array().unwrap().iter().find(|it| it["id"] == "google_veo");
    let model = &google.unwrap()["models"][0];
    assert_eq!(text(model, "id"), "veo-3.1-fast-generate-001");
    let rule = json!({"if": {"resolution": "1080p"}, "then": {"duration_seconds": [8]}});
    assert_eq!(model["rules"][0], rule);
    let short = json!({"prompt": "A cat", "provider": "google", "duration_seconds": 6, "resolution": "1080p"});
    let refused = user.post("/api/v1/ai/generate-video", short).await.expect(400).body;
    assert_eq!(refused["validation_errors"][0]["field"], "duration_seconds");
    let drawn =
        user.post("/api/v1/ai/generate-image", json!({"prompt": "A cat"})).await.expect(201).body;
    let body = json!({"prompt": "It runs", "provider": "google", "resolution": "4K", "generate_audio": false,
        "image_url": drawn["media_urls"][0]});
    let job = ask(&user, body).await;
    assert_eq!(job["credits"], 280);
    let done = ended(&app, &user, &job).await;
    assert_eq!(text(&done, "status"), "completed", "{done}");
    let (status, headers, _) = user.fetch(&done["video_url"], &[]).await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "video/mp4"));
    // A token that has ended is no reason to fail, nor to ask for a film twice.
    app.simulator.end_vertex_tokens().await;
    let body = json!({"prompt": "It sleeps", "provider": "google", "duration_seconds": 4});
    let job = ask(&user, body).await;
    assert_eq!(text(&ended(&app, &user, &job).await, "status"), "completed");
    assert_eq!(billed(&app).await, 2);
    for (word, code) in [
        ("[[refuse]]", "content_refused"),
        ("[[fail]]", "provider_error"),
        ("[[retired]]", "model_retired"),
        ("[[drop]]", "outcome_unknown"),
    ] {
        let body = json!({"prompt": format!("A cat {word}"), "provider": "google"});
        let job = ask(&user, body).await;
        let job = ended(&app, &user, &job).await;
        assert_eq!(text(&job["error"], "code"), code, "{job}");
    }
    let image = drawn["credits_spent"].as_i64().unwrap();
    assert_eq!(available(&user).await, before - 280 - 60 - image);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}
