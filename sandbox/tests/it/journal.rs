//! State that outlives a restart.

use std::io::Write;

use fanfare_sandbox::{Error, Sandbox};
use serde_json::json;

use crate::bluesky::{Pds, TIDS, record};
use crate::harness::{Dir, Net, png, send, setup};

#[tokio::test]
async fn accounts_posts_sessions_and_blobs_come_back() {
    let dir = Dir::new();
    let net = Net::at(&dir).await;
    let pds = Pds::new(&net).await;
    let gone = net.account("bluesky").await;
    let blob = pds.upload("image/png", png(2, 2, 0)).await;
    pds.write(TIDS[0], record("kept")).await.is(200);
    net.control(
        reqwest::Method::DELETE,
        &format!("bluesky/accounts/{}", gone.remote_id),
        json!(null),
    )
    .await
    .is(200);
    let ahead = json!({"ahead_seconds": 3_600});
    net.control(reqwest::Method::PUT, "clock?realm=early", ahead).await.is(200);
    let before = net.posts(&pds.account).await;
    let (account, session) = (pds.account, pds.session);
    net.stop().await;

    let net = Net::at(&dir).await;
    let listed = net.control(reqwest::Method::GET, "bluesky/accounts", json!(null)).await.is(200);
    assert_eq!(listed["accounts"].as_array().unwrap().len(), 1);
    let clock = net.control(reqwest::Method::GET, "clock?realm=early", json!(null)).await.is(200);
    assert_eq!(clock["ahead_seconds"], 3_600);
    let mut after = net.posts(&account).await;
    // Links follow the port.
    after[0]["url"] = before[0]["url"].clone();
    assert_eq!(before, after);
    let base = net.url("shared/bluesky");
    let pds = Pds { net: &net, account: crate::harness::Account { base, ..account }, session };
    let mut second = record("after the restart");
    second["embed"] =
        json!({"$type": "app.bsky.embed.images", "images": [{"image": blob, "alt": ""}]});
    pds.write(TIDS[1], second).await.is(200);
    pds.write(TIDS[0], record("again")).await.is(500);
    let refresh = pds.session["refreshJwt"].as_str().unwrap();
    let url = format!("{}/xrpc/com.atproto.server.refreshSession", pds.account.base);
    send(net.client.post(url).bearer_auth(refresh)).await.is(200);
}

#[tokio::test]
async fn a_torn_last_line_is_cut_off() {
    let dir = Dir::new();
    let net = Net::at(&dir).await;
    let account = net.account("bluesky").await;
    net.stop().await;
    let whole = std::fs::metadata(dir.journal()).unwrap().len();
    let mut file = std::fs::OpenOptions::new().append(true).open(dir.journal()).unwrap();
    file.write_all(br#"{"r":"shared","n":"bluesky","a":"did"#).unwrap();
    drop(file);
    let net = Net::at(&dir).await;
    assert!(net.posts(&account).await.is_empty());
    assert_eq!(std::fs::metadata(dir.journal()).unwrap().len(), whole);
    net.stop().await;
}

#[tokio::test]
async fn a_spoiled_line_stops_the_start_with_its_number() {
    let dir = Dir::new();
    let net = Net::at(&dir).await;
    net.account("bluesky").await;
    net.stop().await;
    let mut file = std::fs::OpenOptions::new().append(true).open(dir.journal()).unwrap();
    file.write_all(b"nonsense\n").unwrap();
    drop(file);
    let error = Sandbox::open(setup(Some(&dir))).await.unwrap_err();
    assert!(matches!(error, Error::Journal { line: 3, .. }), "{error}");
}

#[tokio::test]
async fn a_directory_serves_one_sandbox_at_a_time() {
    let dir = Dir::new();
    let first = Sandbox::open(setup(Some(&dir))).await.unwrap();
    let error = Sandbox::open(setup(Some(&dir))).await.unwrap_err();
    assert!(matches!(error, Error::InUse(_)), "{error}");
    drop(first);
    Sandbox::open(setup(Some(&dir))).await.unwrap();
}

/// A killed process keeps what the system was given; this looks at the file while the process runs, as a kill would
/// leave it.
#[tokio::test]
async fn what_was_answered_is_in_the_file_already() {
    let dir = Dir::new();
    let net = Net::at(&dir).await;
    let pds = Pds::new(&net).await;
    for round in 0..200 {
        let journal = || std::fs::read_to_string(dir.journal()).unwrap();
        let account = net.account("devto").await;
        assert!(journal().contains(&format!("\"a\":\"{}\"", account.remote_id)), "{round}");
        let text = format!("post number {round}");
        let rkey = format!("3k{round:0>11}").replace(['0', '1', '8', '9'], "a");
        pds.write(&rkey, record(&text)).await;
        assert_eq!(
            journal().contains(&text),
            net.posts(&pds.account).await.iter().any(|post| post["text"] == json!(text)),
            "{round}"
        );
    }
}
