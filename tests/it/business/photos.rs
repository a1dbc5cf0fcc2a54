//! Photos that Google does not take as they are: what it takes is made of them first, as of the files of posts.

use std::time::Duration;

use fanfare_entities::media_analysis;
use fanfare_tests::{Options, TestApp, User, served::film};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use super::BASE;
use crate::inbox::sender::Sender;

/// A picture made by ffmpeg of so many frames, uploaded; its address.
async fn uploaded(app: &TestApp, user: &User, name: &str, mime: &str, frames: &str) -> Value {
    let picture = film(app.dir(), "size=640x480:rate=2:duration=2", &["-frames:v", frames, name]);
    user.upload(name, mime, &picture).await["url"].clone()
}

async fn add(user: &User, account: i64, url: &Value) -> Value {
    let body = json!({"source_url": url, "category": "INTERIOR", "account_id": account});
    user.post(&format!("{BASE}/media"), body).await.expect(202).body["media"].clone()
}

async fn shown(user: &User, id: &Value) -> Value {
    let page = user.get(&format!("{BASE}/media")).await.expect(200).body;
    page["media"].as_array().unwrap().iter().find(|one| one["id"] == *id).cloned().unwrap()
}

/// Lets time pass until a photo has ended.
async fn ended(app: &TestApp, user: &User, id: &Value) -> Value {
    app.eventually_in_time("the photo has ended", Duration::from_secs(5), || async {
        let shown = shown(user, id).await;
        ["live", "failed"].contains(&shown["status"].as_str().unwrap()).then_some(shown)
    })
    .await
}

/// Returns the number of photos that Google took.
async fn taken(app: &TestApp) -> usize {
    let accounts = app.simulator.accounts("google_business").await;
    let id = accounts[0]["remote_id"].as_str().unwrap();
    let calls = app.simulator.calls("google_business", id).await;
    let added = calls.iter().filter(|call| {
        call["method"] == "POST" && call["path"].as_str().unwrap().ends_with("/media")
    });
    added.filter(|call| call["status"] == 200).count()
}

#[tokio::test]
async fn a_gif_and_a_webp_go_out_as_photos_that_google_takes() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("google_business").await;
    let _sender = Sender::start(&app.domain);
    let mut added = Vec::new();
    for (name, mime) in [("room.gif", "image/gif"), ("room.webp", "image/webp")] {
        let url = uploaded(&app, &user, name, mime, "1").await;
        let row = add(&user, account, &url).await;
        assert_eq!(row["status"], "sending", "{row:#}");
        added.push(row["id"].clone());
    }
    // Nothing goes out before there is something that Google takes.
    assert_eq!(taken(&app).await, 0);
    app.start_workers();
    for id in &added {
        let photo = ended(&app, &user, id).await;
        assert_eq!(photo["status"], "live", "{photo:#}");
        assert!(photo["media_name"].is_string(), "{photo:#}");
    }
    assert_eq!(taken(&app).await, 2);
    // A lost answer is asked about by what was sent: none is there twice.
    let url = uploaded(&app, &user, "garden.webp", "image/webp", "1").await;
    user.faults("google_business", account, json!([{"on": "commit", "kind": "drop_after_change"}]))
        .await;
    let photo = add(&user, account, &url).await;
    let photo = ended(&app, &user, &photo["id"]).await;
    assert_eq!(photo["status"], "live", "{photo:#}");
    let names: std::collections::BTreeSet<_> = {
        let page = user.get(&format!("{BASE}/media")).await.expect(200).body;
        let rows = page["media"].as_array().unwrap().clone();
        rows.iter().map(|one| one["media_name"].to_string()).collect()
    };
    assert_eq!(names.len(), 3, "{names:?}");
}

#[tokio::test]
async fn a_picture_that_moves_is_no_photo() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("google_business").await;
    let url = uploaded(&app, &user, "party.gif", "image/gif", "4").await;
    // Before anybody has looked at it nobody knows.
    let _sender = Sender::start(&app.domain);
    let early = add(&user, account, &url).await;
    app.start_workers();
    let failed = ended(&app, &user, &early["id"]).await;
    assert_eq!(failed["status"], "failed", "{failed:#}");
    assert_eq!(failed["error"]["code"], "media_type_unsupported", "{failed:#}");
    let analysed = media_analysis::Entity::find().all(&app.domain.db.write).await.unwrap();
    assert!(analysed.iter().all(|one| one.facts.is_some()));
    let body = json!({"source_url": url, "category": "INTERIOR", "account_id": account});
    user.post(&format!("{BASE}/media"), body).await.refused(400, "media_type_unsupported");
    assert_eq!(taken(&app).await, 0);
}
