//! The owner of files, and their visibility.

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_core::access::{Role, Scope};
use fanfare_tests::files;
use serde_json::{Value, json};

use super::app;

#[tokio::test]
async fn files_belong_to_their_workspace() {
    let app = app().await;
    let (user, other) = (app.user().await, app.user().await);
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let path = format!("/api/v1/media/{}", file["id"].as_str().unwrap());
    assert_eq!(other.get("/api/v1/media").await.expect(200).body["media"], json!([]));
    other.delete(&path).await.refused(404, "media_not_found");
    other.delete("/api/v1/media/nonsense").await.refused(404, "media_not_found");
    let account = other.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "x", "media_url": file["public_url"]});
    other.post("/api/v1/posts", post).await.refused(400, "invalid_field");
    let workspace = user.get("/api/v1/whoami").await.body["default_workspace"]["id"].clone();
    for (path, mut body) in [
        (
            "upload",
            json!({"filename": "a.gif", "content_type": "image/gif", "data": STANDARD.encode(files::gif())}),
        ),
        ("signed-upload", json!({"filename": "a.gif", "content_type": "image/gif", "size": 9})),
        (
            "signed-upload/upload",
            json!({"filename": "a.gif", "content_type": "image/gif", "data": ""}),
        ),
        ("upload-from-url", json!({"url": "https://example.com/a.png"})),
        ("drop-sessions", json!({})),
    ] {
        body["workspace_id"] = workspace.clone();
        let path = format!("/api/v1/media/{path}");
        other.post(&path, body.clone()).await.refused(404, "workspace_not_found");
        app.without_key().post(&path, body).await.refused(401, "missing_api_key");
    }
    other
        .get(&format!("/api/v1/media?workspace_id={}", workspace.as_str().unwrap()))
        .await
        .refused(404, "workspace_not_found");
}

#[tokio::test]
async fn files_need_their_scope_and_a_role() {
    let app = app().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, viewer) = app.member(team, Role::Viewer).await;
    let file = json!({"filename": "a.gif", "content_type": "image/gif", "data": STANDARD.encode(files::gif())});
    viewer
        .post("/api/v1/media/upload", file.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    viewer.get("/api/v1/media").await.expect(200);
    let (_, editor) = app.member(team, Role::Editor).await;
    editor.post("/api/v1/media/upload", file.clone()).await.expect(201);
    let scopes: Vec<_> =
        Scope::ALL.into_iter().filter(|scope| *scope != Scope::MediaWrite).collect();
    let without = app.key(owner, Some(team), &scopes).await;
    without.post("/api/v1/media/upload", file).await.refused(403, "insufficient_scope");
    without.get("/api/v1/media").await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn a_seat_locked_to_brands_sees_the_files_it_brought() {
    let app = app().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (locked, editor) = app.member(team, Role::Editor).await;
    app.brand(team, &[locked]).await;
    let boss = app.key(owner, Some(team), &Scope::ALL).await;
    let theirs = boss.upload("theirs.png", "image/png", &files::png()).await;
    let own = editor.upload("own.gif", "image/gif", &files::gif()).await;
    let seen = editor.get("/api/v1/media").await.expect(200).body;
    assert_eq!(seen["media"], json!([own]));
    assert_eq!(boss.get("/api/v1/media").await.expect(200).body["media"], json!([own, theirs]));
    let path = format!("/api/v1/media/{}", theirs["id"].as_str().unwrap());
    editor.delete(&path).await.refused(404, "media_not_found");
    boss.delete(&path).await.expect(200);
}

#[tokio::test]
async fn the_list_is_read_page_by_page() {
    let app = app().await;
    let user = app.user().await;
    let mut made = Vec::new();
    for number in 0..12 {
        made.push(user.upload(&format!("{number}.gif"), "image/gif", &files::gif()).await);
    }
    made.reverse();
    let first = user.get("/api/v1/media").await.expect(200).body;
    assert_eq!(first["media"], json!(made[..10]));
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = user.get(&format!("/api/v1/media?limit=50&cursor={cursor}")).await.expect(200).body;
    assert_eq!((&rest["media"], &rest["next_cursor"]), (&json!(made[10..]), &Value::Null));
    for query in ["limit=0", "limit=51", "limit=x", "cursor=x", "drop_session_id=x"] {
        user.get(&format!("/api/v1/media?{query}")).await.refused(400, "invalid_field");
    }
    user.get("/api/v1/media?limt=5").await.refused(400, "unknown_field");
    let nobody = "/api/v1/media?drop_session_id=01890000-0000-7000-8000-000000000000";
    assert_eq!(user.get(nobody).await.expect(200).body["media"], json!([]));
}
