//! Drop sessions, as a program and a browser without scripts see them.

use std::time::Duration;

use fanfare_tests::{ApiReply, Options, TestApp, User, files};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

async fn app() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

async fn drop_page(user: &User, body: Value) -> Value {
    user.post("/api/v1/media/drop-sessions", body).await.expect(201).body
}

/// Sends one file as the page's script does.
async fn send(user: &User, page: &Value, name: &str, bytes: Vec<u8>) -> ApiReply {
    let url = json!(format!("{}/file?name={name}", page["drop_url"].as_str().unwrap()));
    user.put_bytes(&url, &[], bytes).await
}

/// Sends a form as a browser without scripts does: status and page.
async fn send_form(page: &Value, files: Vec<(&str, Vec<u8>)>) -> (u16, String) {
    let (http, url) = (fanfare_tests::local_client(), page["drop_url"].as_str().unwrap());
    let shown = http.get(url).send().await.unwrap();
    let cookie =
        shown.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let html = shown.text().await.unwrap();
    let csrf = html.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let mut form = Form::new().text("csrf", csrf.to_owned());
    for (name, bytes) in files {
        form = form.part("files", Part::bytes(bytes).file_name(name.to_owned()));
    }
    let request = http.post(url).header("Cookie", cookie);
    let reply = request.multipart(form).send().await.unwrap();
    (reply.status().as_u16(), reply.text().await.unwrap())
}

async fn dropped(user: &User, page: &Value) -> Vec<Value> {
    let path = format!("/api/v1/media?drop_session_id={}", page["session_id"].as_str().unwrap());
    user.get(&path).await.expect(200).body["media"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_page_takes_files_from_somebody_without_a_key() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({"filename": "the <b>team</b> photo", "max_files": 2})).await;
    assert_eq!((&page["max_files"], &page["max_bytes"]), (&json!(2), &json!(4_000_000_000_u64)));
    assert!(page["instructions"].as_str().unwrap().contains("drop_session_id="));
    let (status, headers, html) = user.fetch(&page["drop_url"], &[]).await;
    let html = String::from_utf8(html).unwrap();
    assert_eq!(status, 200);
    assert!(
        html.contains("the &lt;b&gt;team&lt;/b&gt; photo") && html.contains("Up to 2 files"),
        "{html}"
    );
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(headers["referrer-policy"], "no-referrer");
    assert_eq!(headers["cache-control"], "no-store");
    let sent = send(&app.without_key(), &page, "team.png", files::png()).await.expect(201).body;
    assert_eq!(
        (&sent["filename"], sent["bytes"].as_u64()),
        (&json!("team.png"), Some(files::png().len() as u64))
    );
    let found = dropped(&user, &page).await;
    assert_eq!((found.len(), &found[0]["id"]), (1, &sent["asset_id"]));
    assert_eq!(found[0]["drop_session_id"], page["session_id"]);
    let again = String::from_utf8(user.fetch(&page["drop_url"], &[]).await.2).unwrap();
    assert!(again.contains("One more file") && again.contains("team.png"), "{again}");
}

#[tokio::test]
async fn a_page_ends_with_its_last_file_and_with_its_day() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({"max_files": 1})).await;
    send(&user, &page, "a.gif", files::gif()).await.expect(201);
    send(&user, &page, "b.gif", files::gif()).await.refused(404, "not_found");
    let (status, _, html) = user.fetch(&page["drop_url"], &[]).await;
    assert_eq!(status, 404);
    assert!(String::from_utf8(html).unwrap().contains("All files of this page are in"));
    let page = drop_page(&user, json!({})).await;
    app.advance(Duration::from_secs(24 * 3_600));
    send(&user, &page, "c.gif", files::gif()).await.refused(404, "not_found");
    assert_eq!(user.fetch(&page["drop_url"], &[]).await.0, 404);
    assert_eq!(dropped(&user, &page).await.len(), 0);
}

#[tokio::test]
async fn of_many_files_at_once_as_many_are_kept_as_the_page_takes() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({"max_files": 3})).await;
    let all = (0..8).map(|size| send(&user, &page, "a.mp4", files::mp4(100_000 + size)));
    let mut statuses: Vec<_> =
        futures_util::future::join_all(all).await.iter().map(|a| a.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 404, 404, 404, 404, 404]);
    assert_eq!(dropped(&user, &page).await.len(), 3);
}

#[tokio::test]
async fn what_no_network_takes_is_refused_with_what_to_do() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({})).await;
    for (name, bytes, what) in [
        ("photo.heic", files::heic(), "Save it as JPEG"),
        ("photo.jpg", files::heic(), "Save it as JPEG"),
        ("paper.pdf", files::pdf(), "JPEG or PNG pictures"),
        ("page.png", b"<!doctype html><script>alert(1)</script>".to_vec(), "JPEG"),
        ("note.txt", b"plain text".to_vec(), "JPEG"),
    ] {
        let refused = send(&user, &page, name, bytes).await.refused(400, "media_type_unsupported");
        assert!(refused.text.contains(what), "{}", refused.text);
    }
    send(&user, &page, "nothing.png", Vec::new()).await.refused(400, "invalid_field");
    assert_eq!(dropped(&user, &page).await.len(), 0);
}

#[tokio::test]
async fn a_form_without_scripts_does_the_same() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({"max_files": 4})).await;
    let (status, html) =
        send_form(&page, vec![("one.png", files::png()), ("two.mp4", files::mp4(900_000))]).await;
    assert_eq!(status, 200, "{html}");
    assert!(html.contains("one.png was sent.") && html.contains("two.mp4 was sent."), "{html}");
    let mixed = vec![("paper.pdf", files::pdf()), ("three.gif", files::gif())];
    let (status, html) = send_form(&page, mixed).await;
    assert_eq!(status, 400);
    assert!(
        html.contains("paper.pdf</strong> was not taken.") && html.contains("three.gif was sent."),
        "{html}"
    );
    let (status, html) = send_form(&page, vec![("", Vec::new())]).await;
    assert_eq!(status, 400);
    assert!(html.contains("No file was chosen"), "{html}");
    let (status, html) =
        send_form(&page, vec![("four.gif", files::gif()), ("five.gif", files::gif())]).await;
    assert_eq!(status, 400);
    assert!(
        html.contains("four.gif was sent.") && html.contains("five.gif</strong> was not taken."),
        "{html}"
    );
    let names: Vec<_> =
        dropped(&user, &page).await.iter().map(|file| file["filename"].clone()).collect();
    assert_eq!(names, ["four.gif", "three.gif", "two.mp4", "one.png"]);
    let plain = fanfare_tests::local_client()
        .post(page["drop_url"].as_str().unwrap())
        .body("x")
        .send()
        .await;
    assert_eq!(plain.unwrap().status(), 404, "a page that has all its files takes no more");
}

#[tokio::test]
async fn the_token_of_a_page_is_good_for_nothing_else() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({})).await;
    let token = page["drop_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let announced = user.announce("a.gif", "image/gif", files::gif().len()).await;
    let own = announced["upload_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let elsewhere = json!(format!("{}/upload/{token}", app.origin));
    let kind = [("Content-Type", "image/gif")];
    user.put_bytes(&elsewhere, &kind, files::gif()).await.refused(404, "not_found");
    let elsewhere = json!(format!("{}/drop/{own}", app.origin));
    assert_eq!(user.fetch(&elsewhere, &[]).await.0, 404);
    let bearer = User::new(&app.origin, token);
    bearer.get("/api/v1/media").await.refused(401, "invalid_api_key");
}

#[tokio::test]
async fn what_is_wrong_with_a_page_is_said() {
    let app = app().await;
    let user = app.user().await;
    for (body, code) in [
        (json!({"max_files": 0}), "invalid_field"),
        (json!({"max_files": 11}), "invalid_field"),
        (json!({"max_files": "many"}), "invalid_field"),
        (json!({"filename": "x".repeat(121)}), "invalid_field"),
        (json!({"max_file": 1}), "unknown_field"),
    ] {
        user.post("/api/v1/media/drop-sessions", body).await.refused(400, code);
    }
    for address in ["", "/x", "/x/file"] {
        let url = json!(format!("{}/drop{address}", app.origin));
        assert!([404, 405].contains(&user.fetch(&url, &[]).await.0), "{address}");
    }
}
