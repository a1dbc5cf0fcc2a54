//! `fanfare media upload`, as somebody at a shell uses it.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use fanfare_tests::{Options, TestApp, User, files};
use serde_json::{Value, json};

async fn fanfare(user: &User, args: &[&str], paths: &[PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.args(["media", "upload"]).args(args).args(paths);
    command.env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
    tokio::task::spawn_blocking(move || command.output().expect("the binary runs")).await.unwrap()
}

fn write(app: &TestApp, name: &str, bytes: &[u8]) -> PathBuf {
    let path = app.dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[tokio::test]
async fn files_of_every_size_are_sent_and_their_addresses_printed() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let (small, large) = (files::png(), files::mp4(3_000_000));
    let paths = [write(&app, "small.png", &small), write(&app, "large one.mp4", &large)];
    let sent = fanfare(&user, &[], &paths).await;
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let urls: Vec<_> = std::str::from_utf8(&sent.stdout).unwrap().lines().collect();
    assert_eq!(urls.len(), 2, "{urls:?}");
    for (url, bytes) in urls.iter().zip([small, large]) {
        assert_eq!(user.fetch(&json!(url), &[]).await.2, bytes);
    }
    let list = user.get("/api/v1/media").await.body;
    let names: Vec<_> =
        list["media"].as_array().unwrap().iter().map(|file| &file["filename"]).collect();
    assert_eq!(names, ["large one.mp4", "small.png"]);
    let uploads = <fanfare_entities::upload::Entity as sea_orm::EntityTrait>::find();
    let uploads = sea_orm::PaginatorTrait::count(uploads, &app.domain.db.read).await.unwrap();
    assert_eq!(uploads, 1, "the small one needed no address of its own");
}

#[tokio::test]
async fn what_cannot_be_sent_is_named_and_the_rest_is_sent() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let paths = [
        app.dir().join("nowhere.png"),
        write(&app, "note.txt", b"plain text"),
        write(&app, "photo.heic", &files::heic()),
        write(&app, "empty.png", b""),
        write(&app, "fine.gif", &files::gif()),
    ];
    let sent = fanfare(&user, &["--json"], &paths).await;
    assert_eq!(sent.status.code(), Some(1));
    let said = String::from_utf8_lossy(&sent.stderr).into_owned();
    for word in ["nowhere.png", "no picture and no video", "photo.heic", "is empty", "4 of 5 files"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    let file: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(file["filename"], "fine.gif");
    let stranger = User::new(&app.origin, "fan_nobody".to_owned());
    let refused = fanfare(&stranger, &[], &paths[4..]).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("401"), "{said}");
    assert!(!said.contains("fan_nobody"), "{said}");
}
