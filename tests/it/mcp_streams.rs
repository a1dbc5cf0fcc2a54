//! A thousand agents at once: what their open streams cost, and what they leave when they go away in the middle.

use std::fs;

use fanfare_tests::{RawConnection, User};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Dir, Service, eventually};

/// The number of streams that are open at once.
const STREAMS: usize = 1_000;

/// The memory that an open stream may cost, in bytes.
const EACH: usize = 128 << 10;

/// Rounds of the opening; streams that are open already send a space in each, so that none is silent for long.
const ROUNDS: usize = 10;

fn memory(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

fn message(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// The head of a call whose body has so many bytes.
fn head(user: &User, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n",
        user.origin.trim_start_matches("http://"),
        user.key
    )
}

async fn answers(user: &User) {
    let list: Value = serde_json::from_str(&message("tools/list", &json!({}))).unwrap();
    let accept = ("Accept", "application/json, text/event-stream");
    let listed = user.send(Method::POST, "/mcp", &[accept], Some(&list)).await.expect(200);
    assert!(listed.body["result"]["tools"].is_array(), "{}", listed.text);
}

/// Opens the streams: each has sent its head and half of a call.
async fn open(user: &User, call: &str) -> Vec<RawConnection> {
    let half = &call[..call.len() / 2];
    let mut streams = Vec::new();
    for _ in 0..ROUNDS {
        for _ in 0..STREAMS / ROUNDS {
            let mut stream = RawConnection::to(&user.origin).await;
            stream.send(head(user, call.len() + ROUNDS).as_bytes()).await;
            streams.push(stream);
        }
        for stream in &mut streams {
            stream.send(b" ").await;
        }
    }
    // Streams of later rounds have said less: each says what it has left, but for the second half of the call.
    let said = |place: usize| ROUNDS - place / (STREAMS / ROUNDS);
    for (place, stream) in streams.iter_mut().enumerate() {
        let half = format!("{}{half}", " ".repeat(ROUNDS - said(place)));
        stream.send(half.as_bytes()).await;
    }
    streams
}

/// Both ends of the streams need a descriptor each; the service asks for its own.
fn allow_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = Some(STREAMS as u64 * 4);
    limit.current =
        limit.maximum.map_or(wanted, |most| Some(most.min(STREAMS as u64 * 4))).max(limit.current);
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[tokio::test]
async fn a_thousand_open_streams_cost_little_and_leave_nothing() {
    let dir = Dir::new();
    allow_descriptors();
    let service = Service::start(&dir, true, &[("FANFARE_LIMITS_FACTOR", "100000")]);
    let (user, pid) = (service.user(), service.pid());
    let account = user.connect("bluesky").await;
    answers(&user).await;
    let (before, open_before) = (memory(pid), descriptors(pid));
    let call = message("tools/call", &json!({"name": "whoami", "arguments": {}}));
    let mut streams = open(&user, &call).await;
    eventually("all streams are open", || async {
        (descriptors(pid) >= open_before + STREAMS).then_some(())
    })
    .await;
    let cost = memory(pid).saturating_sub(before);
    eprintln!("{STREAMS} open streams cost {} KiB each", (cost / STREAMS) >> 10);
    assert!(cost < STREAMS * EACH, "{STREAMS} open streams cost {cost} bytes");
    answers(&user).await;
    // Half of them go on, and each is answered.
    let rest = &call[call.len() / 2..];
    for stream in streams.drain(..STREAMS / 2) {
        finish(stream, rest).await;
    }
    // The others go away in the middle; and as many again in the middle of a call that is carried out.
    drop(streams);
    go_away_in_a_call(&user, account).await;
    eventually("nothing is left open", || async {
        (descriptors(pid) < open_before + STREAMS / 10).then_some(())
    })
    .await;
    let posts = user.get("/api/v1/posts").await.expect(200).body;
    assert_eq!(posts["posts"].as_array().unwrap().len(), 1, "one key, one post: {posts}");
    answers(&user).await;
    let left = memory(pid).saturating_sub(before);
    assert!(left < STREAMS * EACH, "{left} bytes stay");
}

async fn finish(mut stream: RawConnection, rest: &str) {
    stream.send(rest.as_bytes()).await;
    let answer = stream.answer().await.expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.head);
    assert!(answer.body["result"]["structuredContent"]["user"].is_object(), "{}", answer.body);
}

/// Clients that send the same call whole and never read what comes of it.
async fn go_away_in_a_call(user: &User, account: i64) {
    let arguments = json!({
        "account_id": account, "caption": "Once", "scheduled_at": "2099-01-01T00:00:00Z", "idempotency_key": "gone",
    });
    let call = message("tools/call", &json!({"name": "create_post", "arguments": arguments}));
    for _ in 0..STREAMS / 2 {
        let mut gone = RawConnection::to(&user.origin).await;
        gone.send(format!("{}{call}", head(user, call.len())).as_bytes()).await;
    }
    // Any of them may have been carried out; this one certainly is.
    let accept = ("Accept", "application/json, text/event-stream");
    let call: Value = serde_json::from_str(&call).unwrap();
    eventually("the call is carried out", || async {
        let made = user.send(Method::POST, "/mcp", &[accept], Some(&call)).await;
        made.body["result"]["structuredContent"]["post"]["id"].as_i64()
    })
    .await;
}
