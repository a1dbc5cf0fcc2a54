//! The page of another origin in Chromium: what it may use is each address that is handed out for it, and nothing that a
//! cookie opens.

use fanfare_tests::{Browser, Options, TestApp, files};
use serde_json::{Value, json};

const PAGE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 39\r\nConnection: close\r\n\r\n";

/// Sends a request from the page. Returns `{status, text, limit, range}`, or `{blocked: true}`.
async fn from_page(browser: &mut Browser, method: &str, url: &str, more: &Value) -> Value {
    let script = format!(
        "fetch({}, {{ method: '{method}', ...{more} }}).then(async (reply) => ({{ status: reply.status, \
         text: await reply.text(), limit: reply.headers.get('x-ratelimit-limit'), \
         range: reply.headers.get('content-range'), id: reply.headers.get('x-request-id') }}), \
         () => ({{ blocked: true }}))",
        json!(url)
    );
    browser.eval(&script).await
}

/// Sends bytes as a page with a progress bar does. Returns status, body, and the bytes that were reported at last.
async fn upload(browser: &mut Browser, announced: &Value, bytes: usize) -> Value {
    let script = format!(
        "new Promise((done) => {{ const request = new XMLHttpRequest(); let seen = 0; \
         request.open('PUT', {url}); \
         for (const [name, value] of Object.entries({headers})) request.setRequestHeader(name, value); \
         request.upload.onprogress = (event) => {{ seen = Math.max(seen, event.loaded); }}; \
         request.onload = () => done({{ status: request.status, body: JSON.parse(request.responseText), seen }}); \
         request.onerror = () => done({{ blocked: true }}); \
         const file = new Uint8Array({bytes}); file.set({head}); request.send(file); }})",
        url = announced["upload_url"],
        headers = announced["headers"],
        head = json!(files::mp4(64)),
    );
    browser.eval(&script).await
}

async fn page_elsewhere() -> Browser {
    let site = crate::media::serving(PAGE, b"<!doctype html><title>Elsewhere</title>", false).await;
    let mut browser = Browser::start().await;
    browser.open(&site).await;
    browser
}

#[tokio::test]
async fn a_file_goes_from_the_page_of_another_site_to_the_address_that_it_was_given() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let size = 3_000_000;
    let announced = user.announce("film.mp4", "video/mp4", size).await;
    let mut browser = page_elsewhere().await;
    let url = announced["upload_url"].as_str().unwrap();
    let waiting = from_page(&mut browser, "GET", url, &json!({})).await;
    let waiting: Value = serde_json::from_str(waiting["text"].as_str().unwrap()).unwrap();
    assert_eq!((&waiting["status"], &waiting["attempts_left"]), (&json!("waiting"), &json!(10)));
    let wrong = json!({"headers": {"Content-Type": "video/webm"}, "body": "x"});
    let refused = from_page(&mut browser, "PUT", url, &wrong).await;
    assert_eq!(refused["status"], 400, "the page can read why: {refused}");
    let sent = upload(&mut browser, &announced, size).await;
    assert_eq!((&sent["status"], &sent["seen"]), (&json!(201), &json!(size)), "{sent}");
    assert_eq!(sent["body"]["public_url"], announced["public_url"]);
    let again = upload(&mut browser, &announced, size).await;
    assert_eq!(
        (&again["status"], &again["body"]),
        (&json!(201), &sent["body"]),
        "its reply was lost"
    );
    let part = json!({"headers": {"Range": "bytes=0-99", "If-None-Match": "\"x\""}});
    let public = announced["public_url"].as_str().unwrap();
    let part = from_page(&mut browser, "GET", public, &part).await;
    assert_eq!((&part["status"], &part["range"]), (&json!(206), &json!("bytes 0-99/3000000")));
    let unknown = format!("{}/upload/{}", app.origin, "x".repeat(43));
    assert_eq!(from_page(&mut browser, "GET", &unknown, &json!({})).await["status"], 404);
}

#[tokio::test]
async fn a_page_of_another_site_uses_each_door_for_programs_and_none_for_people() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let keyed = json!({"Authorization": format!("Bearer {}", user.key), "Content-Type": "application/json"});
    let session = user.post("/api/v1/connect/threads/sessions", json!({"sandbox": true})).await;
    let session = session.expect(201).body["connect_session"].clone();
    let drop = user.post("/api/v1/media/drop-sessions", json!({})).await.expect(201).body;
    let mut browser = page_elsewhere().await;
    let poll = session["poll_url"].as_str().unwrap().to_owned();
    let at = |path: &str| format!("{}{path}", app.origin);
    let empty = json!({"headers": keyed, "body": "{}"});
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let mut spoken = keyed.clone();
    spoken["Accept"] = json!("application/json, text/event-stream");
    let open = [
        ("GET", at("/api/v1/whoami"), json!({"headers": keyed}), 200),
        ("GET", at("/api/v1/whoami"), json!({}), 401),
        ("POST", at("/api/v1/posts"), empty.clone(), 400),
        ("DELETE", at("/api/v1/posts/1"), json!({"headers": keyed}), 404),
        ("GET", poll, json!({"headers": keyed}), 200),
        ("POST", at("/mcp"), json!({"headers": spoken, "body": ping}), 200),
        ("GET", at("/openapi.json"), json!({}), 200),
        ("GET", at("/.well-known/oauth-authorization-server"), json!({}), 200),
        ("POST", at("/api/oauth/token"), empty.clone(), 400),
        ("POST", at("/api/oauth/register"), empty.clone(), 400),
        ("POST", at("/api/oauth/revoke"), empty.clone(), 400),
        ("GET", at("/media/0123.png"), json!({}), 404),
    ];
    for (method, url, more, status) in open {
        let answer = from_page(&mut browser, method, &url, &more).await;
        assert_eq!(answer["status"], status, "{method} {url}: {answer}");
        assert!(answer["id"].is_string(), "{method} {url}: {answer}");
        assert_eq!(
            answer["limit"].is_string(),
            url.contains("/api/v1/") || url.ends_with("/mcp"),
            "{url}"
        );
    }
    let (drop, connect) =
        (drop["drop_url"].as_str().unwrap(), session["connect_url"].as_str().unwrap());
    let shut = [
        ("GET", at("/login")),
        ("GET", at("/dashboard")),
        ("GET", connect.to_owned()),
        ("GET", drop.to_owned()),
        ("PUT", format!("{drop}/file?name=x.png")),
        ("GET", at("/api/oauth/authorize")),
    ];
    for (method, url) in shut {
        let answer =
            from_page(&mut browser, method, &url, &json!({"credentials": "include"})).await;
        assert_eq!(answer, json!({"blocked": true}), "{method} {url}");
    }
}
