//! Every kind of fault, as a client sees it and as the network remembers it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bluesky::{Pds, TIDS, record};
use crate::harness::{Net, send};

/// Sends a post over a connection of its own and gives every byte that came back before it closed.
async fn raw(pds: &Pds<'_>, rkey: &str) -> Vec<u8> {
    let write = json!({"$type": "com.atproto.repo.applyWrites#create", "collection": "app.bsky.feed.post", "rkey": rkey, "value": record("raw")});
    let body = json!({"repo": pds.account.remote_id, "writes": [write]}).to_string();
    let token = pds.session["accessJwt"].as_str().unwrap();
    let head = format!(
        "POST /shared/bluesky/xrpc/com.atproto.repo.applyWrites HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        pds.net.address,
        body.len()
    );
    let mut stream = TcpStream::connect(pds.net.address).await.unwrap();
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut got = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut got)).await;
    // It must be closed in time; a reset is as good a close as any.
    let _closed = read.unwrap();
    got
}

fn body_of(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    &answer[end + 4..]
}

#[tokio::test]
async fn a_reset_leaves_nothing_and_a_drop_leaves_the_change() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "reset"}, {"kind": "drop_after_change"}])).await;
    assert_eq!(raw(&pds, TIDS[0]).await, b"");
    assert!(net.posts(&pds.account).await.is_empty());
    assert_eq!(raw(&pds, TIDS[1]).await, b"");
    assert_eq!(net.posts(&pds.account).await.len(), 1);
    let calls = net.calls(&pds.account).await;
    assert!(calls[1]["status"].is_null() && calls[2]["status"].is_null());
}

#[tokio::test]
async fn an_answer_is_cut_at_its_byte() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    for (n, at_byte) in [1_u64, 7, 100].into_iter().enumerate() {
        net.faults(&pds.account, json!([{"kind": "drop_after_change", "at_byte": at_byte}])).await;
        let answer = raw(&pds, TIDS[n]).await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
        assert_eq!(body_of(&answer).len() as u64, at_byte);
        assert_eq!(net.posts(&pds.account).await.len(), n + 1);
    }
    net.faults(&pds.account, json!([{"kind": "reset", "at_byte": 5}])).await;
    assert_eq!(body_of(&raw(&pds, TIDS[3]).await).len(), 5);
    assert_eq!(net.posts(&pds.account).await.len(), 3, "a reset makes no change");
}

#[tokio::test]
async fn a_client_library_sees_a_cut_answer_as_an_error() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "drop_after_change", "at_byte": 20}])).await;
    let write = json!({"$type": "com.atproto.repo.applyWrites#create", "collection": "app.bsky.feed.post", "rkey": TIDS[0], "value": record("x")});
    let body = json!({"repo": pds.account.remote_id, "writes": [write]});
    let response = pds.post("com.atproto.repo.applyWrites").json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.text().await.is_err());
    assert_eq!(net.posts(&pds.account).await.len(), 1);
}

#[tokio::test]
async fn a_status_comes_in_the_networks_words() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(
        &pds.account,
        json!([{"kind": "status", "status": 429, "ms": 30_000}, {"kind": "status", "status": 503},
            {"kind": "status", "status": 403, "body": "<h1>blocked</h1>"}, {"on": "read", "kind": "status", "status": 500}]),
    )
    .await;
    let limited = pds.write(TIDS[0], record("x")).await;
    assert_eq!(limited.headers["retry-after"], "30");
    assert!(limited.headers.contains_key("ratelimit-reset"));
    assert_eq!(limited.is(429)["error"], "RateLimitExceeded");
    assert_eq!(pds.write(TIDS[0], record("x")).await.is(503)["error"], "NotEnoughResources");
    let blocked = pds.write(TIDS[0], record("x")).await;
    assert_eq!((blocked.status, blocked.text.as_str()), (403, "<h1>blocked</h1>"));
    assert!(blocked.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    assert!(net.posts(&pds.account).await.is_empty(), "a status acts before the change");
    pds.write(TIDS[0], record("x")).await.is(200);
    let query = format!("com.atproto.repo.describeRepo?repo={}", pds.account.remote_id);
    send(pds.get(&query)).await.is(500);
    send(pds.get(&query)).await.is(200);
}

#[tokio::test]
async fn the_change_is_made_and_the_answer_is_wrong() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "error_after_change"}, {"kind": "nonsense"}, {"kind": "nonsense", "body": "{]"}])).await;
    assert_eq!(pds.write(TIDS[0], record("one")).await.is(500)["error"], "InternalServerError");
    let page = pds.write(TIDS[1], record("two")).await;
    assert_eq!(page.status, 200);
    assert!(page.body.is_null() && page.text.starts_with('<'));
    assert_eq!(pds.write(TIDS[2], record("three")).await.text, "{]");
    assert_eq!(net.posts(&pds.account).await.len(), 3);
}

#[tokio::test]
async fn a_huge_answer_is_endless_but_valid() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "huge"}])).await;
    let got = pds.write(TIDS[0], record("one")).await;
    assert_eq!(got.status, 200);
    assert!(got.text.len() > 64 << 20 && got.body["padding"].is_string());
    assert_eq!(net.posts(&pds.account).await.len(), 1);
}

#[tokio::test]
async fn a_delay_holds_the_answer_not_the_change() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "delay", "ms": 400}])).await;
    let start = Instant::now();
    let (got, early) = tokio::join!(pds.write(TIDS[0], record("slow")), async {
        loop {
            let posts = net.posts(&pds.account).await;
            if !posts.is_empty() {
                return start.elapsed();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    got.is(200);
    assert!(start.elapsed() >= Duration::from_millis(400));
    assert!(early < start.elapsed());
}

#[tokio::test]
async fn a_hang_says_nothing_and_changes_nothing() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "hang", "ms": 300}, {"kind": "hang"}])).await;
    let start = Instant::now();
    assert_eq!(raw(&pds, TIDS[0]).await, b"");
    assert!(start.elapsed() >= Duration::from_millis(300));
    let silent =
        tokio::time::timeout(Duration::from_millis(300), pds.write(TIDS[0], record("x"))).await;
    assert!(silent.is_err());
    assert!(net.posts(&pds.account).await.is_empty());
    net.stop().await;
}

#[tokio::test]
async fn an_expired_token_stays_expired_until_it_is_refreshed() {
    let net = Net::new().await;
    let mut pds = Pds::new(&net).await;
    net.faults(&pds.account, json!([{"kind": "token_expired"}])).await;
    for _ in 0..2 {
        assert_eq!(pds.write(TIDS[0], record("x")).await.is(400)["error"], "ExpiredToken");
    }
    let refresh = pds.session["refreshJwt"].as_str().unwrap();
    let url = format!("{}/xrpc/com.atproto.server.refreshSession", pds.account.base);
    pds.session = send(net.client.post(url).bearer_auth(refresh)).await.is(200);
    pds.write(TIDS[0], record("x")).await.is(200);
}

#[tokio::test]
async fn a_fault_meets_only_its_account() {
    let net = Net::new().await;
    let (one, two) = (Pds::new(&net).await, Pds::new(&net).await);
    net.faults(&one.account, json!([{"kind": "status", "status": 500, "times": 2}])).await;
    two.write(TIDS[0], record("mine")).await.is(200);
    one.write(TIDS[0], record("x")).await.is(500);
    net.faults(&one.account, Value::Array(vec![])).await;
    one.write(TIDS[0], record("x")).await.is(200);
}
