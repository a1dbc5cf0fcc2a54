//! The cost of the worst request of the permitted size: processor time and memory of the service's process, both of
//! which grow with the request and not with its square.

use std::{fs, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_tests::User;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Dir, Service};

/// The largest body of most routes, in bytes, with room for the rest of a post.
const LARGEST: usize = (1 << 20) - 4_096;

/// Processor time of a request. Without optimisation our own code and its libraries take some ten times as long.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_500 } else { 250 });

/// Memory of a request, as a multiple of its size.
const TIMES: usize = 20;

/// Runs of which the cheapest counts: other work of the process falls into some of them.
const RUNS: usize = 10;

/// A number of bytes in a file of the process.
fn memory(pid: u32, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

/// Processor time of all threads that the process has.
fn processor(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let time = |thread: fs::DirEntry| {
        let said = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        said.split_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(time).sum())
}

/// Returns the cost of a request: processor time, and memory at its peak.
async fn cost(user: &User, pid: u32, path: &str, body: &[u8]) -> (Duration, usize) {
    // Makes the peak what is in use now.
    fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
    let (before, used) = (memory(pid, "VmRSS"), processor(pid));
    let sent = user.send_raw(Method::POST, path, "application/json", body.to_vec()).await;
    assert!(sent.status < 500, "{}", sent.text);
    assert!(sent.text.len() <= 2 << 20, "{}", sent.text.len());
    (processor(pid).saturating_sub(used), memory(pid, "VmHWM").saturating_sub(before))
}

fn repeated(piece: &str) -> String {
    piece.repeat(LARGEST / piece.len())
}

/// Texts that are worst for somebody: markup, graphemes, addresses.
fn texts() -> Vec<String> {
    [
        "&",
        "[",
        "@[",
        "<b>",
        "👨‍👩‍👧‍👦",
        "a\u{301}\u{302}",
        "\u{301}",
        "http://",
        "https://a.b ",
        "a.b.c.",
        "#a",
        "\n",
    ]
    .map(repeated)
    .to_vec()
}

/// Values that are worst for whoever reads them.
fn values() -> Vec<Value> {
    let keys: serde_json::Map<String, Value> =
        (0..19_900).map(|n| (format!("key-{n:06}"), json!(n))).collect();
    let nested = (0..60).fold(json!("x"), |inner, _| json!([inner]));
    let addresses: Vec<_> =
        (0..19_000).map(|n| format!("https://example.com/picture/{n}")).collect();
    vec![
        json!({"settings": keys.clone()}),
        json!({"metadata": keys.clone()}),
        Value::Object(keys),
        json!({"settings": {"a": vec![nested; 300]}}),
        json!({ "media_urls": addresses }),
        json!({"settings": {"a": vec!["\0"; 19_000]}}),
    ]
}

fn post(account: i64, more: &Value) -> Vec<u8> {
    let mut body = json!({"account_id": account, "caption": "x", "dry_run": true});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.to_string().into_bytes()
}

#[tokio::test]
async fn no_request_costs_more_than_its_size() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[("FANFARE_LIMITS_FACTOR", "1000")]);
    let (user, pid) = (service.user(), service.pid());
    let mut requests = Vec::new();
    for platform in ["x", "bluesky", "mastodon", "linkedin", "telegram", "threads", "wordpress"] {
        let account = user.connect(platform).await;
        for text in texts() {
            let start: String = text.chars().take(4).collect();
            let body = post(account, &json!({ "caption": text }));
            requests.push((format!("{platform} {start:?}"), "/api/v1/posts", body));
        }
        if platform == "x" {
            for (place, value) in values().iter().enumerate() {
                requests.push((format!("value {place}"), "/api/v1/posts", post(account, value)));
            }
        }
    }
    let file = json!({"filename": "a.png", "content_type": "image/png",
        "data": STANDARD.encode(vec![7_u8; 4_400_000])});
    requests.push(("a file".into(), "/api/v1/media/upload", file.to_string().into_bytes()));
    let (mut slow, mut large) = (Vec::new(), Vec::new());
    for (what, path, body) in requests {
        let (mut time, mut bytes) = cost(&user, pid, path, &body).await;
        for _ in 1..RUNS {
            if time <= TIME && bytes <= TIMES * body.len() {
                break;
            }
            let again = cost(&user, pid, path, &body).await;
            (time, bytes) = (time.min(again.0), bytes.min(again.1));
        }
        if time > TIME {
            slow.push(format!("{what}: {time:?}"));
        }
        if bytes > TIMES * body.len() {
            large.push(format!("{what}: {bytes} bytes for {}", body.len()));
        }
    }
    assert!(slow.is_empty() && large.is_empty(), "{slow:#?} {large:#?}");
}
