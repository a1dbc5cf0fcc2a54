//! Each limit of photos and videos holds whether a file was analysed before it is added or not.

use std::time::Duration;

use fanfare_entities::media_analysis;
use fanfare_tests::{Options, TestApp, User, files::plain_png, served::film};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::{Value, json};

use super::{BASE, profile, read};
use crate::inbox::sender::Sender;

/// Files by Google's description of photos and videos (10 KB to 25 MB and 250 pixels; 30 s and 720 lines): name, what
/// ffmpeg makes it of, and the code of the limit that it breaks.
const FILMS: [(&str, &str, &str); 3] = [
    ("long.mp4", "size=1280x720:rate=1:duration=31", "video_too_long"),
    ("coarse.mp4", "size=320x240:rate=1:duration=5", "media_dimensions_unsupported"),
    ("fine.mp4", "size=1920x1080:rate=1:duration=2", ""),
];

/// Uploads all files; the format, the address and the broken limit of each.
async fn uploaded(app: &TestApp, user: &User) -> Vec<(&'static str, Value, &'static str)> {
    let mut files = Vec::new();
    for (name, picture, code) in FILMS {
        let bytes = film(app.dir(), picture, &["-pix_fmt", "yuv420p", name]);
        files.push(("VIDEO", user.upload(name, "video/mp4", &bytes).await["url"].clone(), code));
    }
    for (name, (width, height), code) in [
        ("narrow.png", (249, 400), "media_dimensions_unsupported"),
        ("low.png", (400, 249), "media_dimensions_unsupported"),
        ("good.png", (300, 280), ""),
    ] {
        let bytes = plain_png(width, height);
        files.push(("PHOTO", user.upload(name, "image/png", &bytes).await["url"].clone(), code));
    }
    let broken =
        film(app.dir(), "size=1280x720:rate=1:duration=3", &["-pix_fmt", "yuv420p", "cut.mp4"]);
    let cut = user.upload("cut.mp4", "video/mp4", &broken[..broken.len() / 3]).await["url"].clone();
    files.push(("VIDEO", cut, "media_unreadable"));
    files
}

async fn listed(user: &User, id: &Value) -> Value {
    let page = user.get(&format!("{BASE}/media")).await.expect(200).body;
    let found = page["media"].as_array().unwrap().iter().find(|one| one["id"] == *id).cloned();
    found.unwrap_or_else(|| panic!("{id} is not in {page:#}"))
}

#[tokio::test]
async fn a_limit_holds_for_a_file_that_was_analysed_and_for_one_that_was_not() {
    for analysed in [true, false] {
        let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
        let user = app.user().await;
        let account = user.connect("google_business").await;
        let files = uploaded(&app, &user).await;
        if analysed {
            app.start_workers();
            app.eventually("the files are analysed", || async {
                let rows = media_analysis::Entity::find().all(&app.domain.db.write).await.unwrap();
                rows.iter().all(|one| one.facts.is_some() || one.error.is_some()).then_some(())
            })
            .await;
            assert_eq!(
                media_analysis::Entity::find().count(&app.domain.db.write).await.unwrap(),
                files.len() as u64
            );
        }
        let _sender = Sender::start(&app.domain);
        let mut added = Vec::new();
        for (format, url, code) in &files {
            let body = json!({
                "source_url": url, "category": "INTERIOR", "account_id": account, "media_format": format,
            });
            let answer = user.post(&format!("{BASE}/media"), body).await;
            if answer.status == 400 {
                let told = &answer.body["validation_errors"][0]["code"];
                assert_eq!(told, code, "{format} {url}: {}", answer.text);
                continue;
            }
            // What was analysed before is refused at once.
            assert!(!analysed || code.is_empty(), "{format} {url}: {}", answer.text);
            let row = answer.expect(202).body["media"].clone();
            assert!(analysed || row["status"] == "sending", "{row:#}");
            added.push((row["id"].clone(), *format, *code));
        }
        if !analysed {
            app.start_workers();
        }
        for (id, format, code) in &added {
            let wanted = match (*code, *format) {
                ("", "PHOTO") => "live",
                ("", _) => "in_review",
                _ => "failed",
            };
            let ended = app
                .eventually_in_time("it was sent or failed", Duration::from_secs(2), || async {
                    let shown = listed(&user, id).await;
                    (shown["status"] != "sending").then_some(shown)
                })
                .await;
            assert_eq!(ended["status"], wanted, "{format}: {ended:#}");
            if wanted == "failed" {
                assert_eq!(ended["error"]["code"], *code, "{ended:#}");
                assert!(ended["error"]["remedy"].is_string(), "{ended:#}");
            }
        }
    }
}

#[tokio::test]
async fn a_video_is_shown_with_its_own_size() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let bytes =
        film(app.dir(), "size=1920x1080:rate=1:duration=2", &["-pix_fmt", "yuv420p", "fine.mp4"]);
    let file = user.upload("fine.mp4", "video/mp4", &bytes).await;
    let body = json!({
        "source_url": file["url"], "category": "INTERIOR", "account_id": account, "media_format": "VIDEO",
    });
    let id =
        user.post(&format!("{BASE}/media"), body).await.expect(202).body["media"]["id"].clone();
    app.eventually_in_time("it is in review", Duration::from_secs(2), || async {
        (listed(&user, &id).await["status"] == "in_review").then_some(())
    })
    .await;
    read(&app, &user).await;
    app.eventually_in_time("it is live", Duration::from_secs(300), || async {
        let shown = listed(&user, &id).await;
        (shown["status"] == "live").then_some(())
    })
    .await;
    let shown = listed(&user, &id).await;
    assert_eq!((&shown["width"], &shown["height"]), (&json!(1_920), &json!(1_080)), "{shown:#}");
}
