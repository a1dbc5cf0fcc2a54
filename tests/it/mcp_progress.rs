//! Calls that take long tell a client of their progress, if it asks for that: the reply is then a stream of events.

use fanfare_tests::{Options, TestApp, User};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::oneshot,
};

use crate::signup::text;

/// A reply that comes in events.
struct Events {
    response: Response,
    unread: String,
}

impl Events {
    async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.unread.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let message = data.and_then(|data| serde_json::from_str(data.trim()).ok());
                self.unread = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.unread += &String::from_utf8(chunk.to_vec()).unwrap().replace("\r\n", "\n");
        }
    }

    /// Returns the next notice, which must come before the result.
    async fn notice(&mut self) -> Value {
        let message = self.next().await.expect("a notice");
        assert_eq!(message["method"], "notifications/progress", "{message}");
        message["params"].clone()
    }

    /// Returns the notices that are left, and the result, after which nothing comes.
    async fn rest(mut self) -> (Vec<Value>, Value) {
        let mut notices = Vec::new();
        loop {
            let message = self.next().await.expect("a result");
            if message["method"].is_null() {
                assert_eq!(message["id"], 7, "{message}");
                assert!(self.next().await.is_none());
                return (notices, message["result"].clone());
            }
            notices.push(message["params"].clone());
        }
    }
}

async fn call(user: &User, tool: &str, arguments: Value, token: Option<Value>) -> Response {
    let mut params = json!({"name": tool, "arguments": arguments});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let request = user.http.post(format!("{}/mcp", user.origin)).bearer_auth(&user.key);
    let request = request.header("Accept", "application/json, text/event-stream");
    request.json(&message).send().await.unwrap()
}

fn kind(response: &Response) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

fn events(response: Response) -> Events {
    assert_eq!((response.status().as_u16(), kind(&response)), (200, "text/event-stream"));
    Events { response, unread: String::new() }
}

async fn scheduled(app: &TestApp, user: &User) -> Value {
    let account = user.connect("bluesky").await;
    let new = json!({"account_id": account, "caption": "Soon", "scheduled_at": app.at(600)});
    user.post("/api/v1/posts", new).await.expect(201).body["post"]["id"].clone()
}

#[tokio::test]
async fn a_wait_for_a_post_tells_its_status_until_it_changes() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let id = scheduled(&app, &user).await;
    let wait = json!({"id": id, "wait": 25});
    let mut stream = events(call(&user, "get_post", wait, Some(json!("p-1"))).await);
    let first = stream.notice().await;
    assert_eq!((&first["progressToken"], &first["total"]), (&json!("p-1"), &json!(25.0)));
    assert_eq!(text(&first, "message"), "post: scheduled", "{first}");
    let second = stream.notice().await;
    let pause = json!({"status": "paused"});
    let _ = user.put(&format!("/api/v1/posts/{id}/status"), pause).await.expect(200);
    let (mut notices, result) = stream.rest().await;
    assert_eq!(result["structuredContent"]["post"]["status"], "paused", "{result}");
    notices.splice(0..0, [first, second]);
    let counted: Vec<_> = notices.iter().map(|told| told["progress"].as_f64().unwrap()).collect();
    assert!(counted.is_sorted_by(|one, next| one < next), "{counted:?}");
    assert!(notices.iter().all(|told| told["progressToken"] == "p-1"), "{notices:?}");
}

#[tokio::test]
async fn who_does_not_ask_has_an_ordinary_reply_and_refusals_stay_refusals() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let id = scheduled(&app, &user).await;
    let quiet = call(&user, "get_post", json!({"id": id, "wait": 1}), None).await;
    assert_eq!(kind(&quiet), "application/json");
    let told: Value = quiet.json().await.unwrap();
    assert_eq!(told["result"]["structuredContent"]["post"]["status"], "scheduled", "{told}");
    let stranger = User::new(&user.origin, "fk_live_nonsense".to_owned());
    let refused = call(&stranger, "get_post", json!({"id": id, "wait": 25}), Some(json!(1))).await;
    assert_eq!((refused.status().as_u16(), kind(&refused)), (401, "application/json"));
    // A call that is refused before it begins reports no progress.
    let late = call(&user, "get_post", json!({"id": id, "wait": 26}), Some(json!(1))).await;
    let late: Value = late.json().await.unwrap();
    assert_eq!(late["result"]["structuredContent"]["code"], "invalid_field", "{late}");
}

/// Serves a picture that comes when it is told to.
async fn slow_picture() -> (String, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/slow.png", listener.local_addr().unwrap());
    let (open, gate) = oneshot::channel();
    tokio::spawn(async move {
        let bytes = fanfare_tests::files::png();
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let _ = stream.read_buf(&mut request).await.unwrap();
        }
        let _ = gate.await;
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        let _ = stream.shutdown().await;
    });
    (url, open)
}

#[tokio::test]
async fn a_file_that_is_fetched_from_afar_is_told_of_too() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (url, open) = slow_picture().await;
    let arguments = json!({"url": url, "idempotency_key": "one"});
    let mut stream = events(call(&user, "upload_media_from_url", arguments, Some(json!(42))).await);
    let (first, second) = (stream.notice().await, stream.notice().await);
    assert_eq!((&first["progressToken"], &first["total"]), (&json!(42), &Value::Null));
    assert!(first["progress"].as_f64() < second["progress"].as_f64(), "{first} {second}");
    open.send(()).unwrap();
    let (_, result) = stream.rest().await;
    assert_ne!(result["isError"], true, "{result}");
    assert!(result["structuredContent"].to_string().contains("image/png"), "{result}");
}
