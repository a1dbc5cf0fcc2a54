//! A real Bluesky personal data server.

use std::{collections::BTreeSet, time::Duration};

use fanfare_platforms::VideoService;
use fanfare_tests::{Options, Picture, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::{peer::Peer, worker::Worker};

async fn connected(app: &TestApp, pds: &Peer) -> (User, i64, Value) {
    let user = app.user().await;
    let (id, account) = connect(&user, pds, 0).await;
    (user, id, account)
}

/// Connects an account of the server, by its number.
pub async fn connect(user: &User, pds: &Peer, number: usize) -> (i64, Value) {
    let account = pds.greeting["accounts"][number].clone();
    let credentials = json!({"credentials": {
        "identifier": account["handle"], "app_password": account["app_password"],
        "service": pds.greeting["pds"],
    }});
    let answer = user.post("/api/v1/connect/bluesky/credentials", credentials).await.expect(200);
    assert_eq!(answer.body["account"]["did"], account["did"]);
    assert!(!answer.text.contains(account["app_password"].as_str().unwrap()));
    (answer.body["account"]["id"].as_i64().unwrap(), account)
}

pub async fn records(pds: &Peer, did: &Value) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let url = format!(
            "{}/xrpc/com.atproto.repo.listRecords?repo={}&collection=app.bsky.feed.post&limit=100&cursor={cursor}",
            pds.greeting["pds"].as_str().unwrap(),
            did.as_str().unwrap()
        );
        let page: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        all.extend(page["records"].as_array().unwrap().iter().cloned());
        match page["cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return all,
        }
    }
}

#[tokio::test]
async fn text_links_and_an_image_with_alt_text_are_read_back_as_sent() {
    let pds = Peer::start(&["scripts/node.sh", "tests/peers/pds/start.mjs"]).await;
    let app = TestApp::start().await;
    let (user, id, account) = connected(&app, &pds).await;
    let caption = "Grüße 👋 from #fanfare, see https://example.com/a?b=c";
    let post = user
        .publish(json!({
            "account_id": id, "caption": caption, "media_url": Picture::serve().await.url,
            "settings": {"media_alt_texts": ["Four grey squares"], "languages": ["en", "de"]},
        }))
        .await;
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = records(&pds, &account["did"]).await;
    assert_eq!(held.len(), 1);
    assert_eq!(held[0]["uri"], post["platform_post_id"]);
    let record = &held[0]["value"];
    assert_eq!(record["text"], caption);
    assert_eq!(record["langs"], json!(["en", "de"]));
    assert_eq!(record["embed"]["images"][0]["alt"], "Four grey squares");
    assert_eq!(record["embed"]["images"][0]["aspectRatio"], json!({"width": 2, "height": 2}));
    let facets = record["facets"].as_array().unwrap();
    let covered = |facet: &Value| {
        let at = |end: &str| usize::try_from(facet["index"][end].as_u64().unwrap()).unwrap();
        caption[at("byteStart")..at("byteEnd")].to_owned()
    };
    let covered: Vec<String> = facets.iter().map(covered).collect();
    assert!(covered.contains(&"#fanfare".to_owned()), "{covered:?}");
    assert!(covered.contains(&"https://example.com/a?b=c".to_owned()), "{covered:?}");
}

#[tokio::test]
async fn chains_refer_to_each_other_as_the_server_names_them() {
    let pds = Peer::start(&["scripts/node.sh", "tests/peers/pds/start.mjs"]).await;
    let app = TestApp::start().await;
    let (user, id, account) = connected(&app, &pds).await;
    for length in [2, 25, 50] {
        let texts: Vec<String> = (1..=length)
            .map(|n| format!("{n} of {length} 👩‍👩‍👧 #fanfare https://example.com/{n}"))
            .collect();
        let settings = json!({"disable_quotes": true, "allow_replies_from": ["followers"], "languages": ["en"]});
        let before = records(&pds, &account["did"]).await;
        let post = user
            .publish(json!({
                "account_id": id, "post_type": "bluesky_thread", "settings": settings,
                "metadata": {"bluesky_thread_posts": texts},
            }))
            .await;
        let post = app
            .wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"])
            .await;
        assert_eq!(post["status"], "published", "{post:#}");
        let warned = post["warnings"].to_string();
        assert!(!warned.contains("chain_reference_mismatch"), "{warned}");
        let held = records(&pds, &account["did"]).await;
        // Newest first; the keys of posts that are made within a second are in any order, those of a chain are not.
        let chain: Vec<&Value> = held.iter().filter(|one| !before.contains(one)).rev().collect();
        assert_eq!(chain.len(), length);
        assert_eq!(chain[0]["uri"], post["platform_post_id"]);
        let named = |one: &Value| json!({"uri": one["uri"], "cid": one["cid"]});
        for (n, part) in chain.iter().enumerate() {
            assert_eq!(part["value"]["text"], texts[n]);
            if n > 0 {
                assert_eq!(part["value"]["reply"]["root"], named(chain[0]));
                assert_eq!(part["value"]["reply"]["parent"], named(chain[n - 1]));
            }
        }
    }
}

#[tokio::test]
async fn a_video_with_captions_is_read_back_as_sent() {
    let pds = Peer::start(&["scripts/node.sh", "tests/peers/pds/start.mjs"]).await;
    let off = Options { bluesky_video: VideoService::Off, ..Options::default() };
    let app = TestApp::with(off).await;
    let (user, id, account) = connected(&app, &pds).await;
    let captions = "WEBVTT\n\n00:00.000 --> 00:02.000\nGrüße 👋\n";
    let file = user.upload("captions.vtt", "text/vtt", captions.as_bytes()).await;
    let captions_of = |lang: &str| json!({"lang": lang, "url": file["public_url"]});
    let post = user
        .publish(json!({
            "account_id": id, "caption": "It moves", "media_url": Picture::lasting().file("video/mp4", 0),
            "settings": {"media_alt_texts": ["Grey"], "captions": [captions_of("en"), captions_of("pt-BR")]},
        }))
        .await;
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(post["warnings"][0]["code"], "video_processed_after_publishing", "{post:#}");
    let held = records(&pds, &account["did"]).await;
    let embed = &held[0]["value"]["embed"];
    assert_eq!((&embed["$type"], &embed["alt"]), (&json!("app.bsky.embed.video"), &json!("Grey")));
    assert_eq!(embed["aspectRatio"], json!({"width": 540, "height": 960}));
    assert_eq!(embed["video"]["mimeType"], "video/mp4");
    let languages: Vec<_> =
        embed["captions"].as_array().unwrap().iter().map(|one| one["lang"].clone()).collect();
    assert_eq!(languages, ["en", "pt-BR"]);
    // The server has the very bytes.
    let blob = |blob: &Value| {
        let cid = blob["ref"]["$link"].as_str().unwrap();
        let (pds, did) = (pds.greeting["pds"].as_str().unwrap(), account["did"].as_str().unwrap());
        let url = format!("{pds}/xrpc/com.atproto.sync.getBlob?did={did}&cid={cid}");
        async {
            reqwest::get(url).await.unwrap().error_for_status().unwrap().bytes().await.unwrap()
        }
    };
    let stored = &embed["captions"][0]["file"];
    assert_eq!(
        (&stored["mimeType"], blob(stored).await.as_ref()),
        (&json!("text/vtt"), captions.as_bytes())
    );
    assert!(blob(&embed["video"]).await[4..].starts_with(b"ftyp"));
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_nothing_is_stored() {
    let pds = Peer::start(&["scripts/node.sh", "tests/peers/pds/start.mjs"]).await;
    let app = TestApp::start().await;
    let user = app.user().await;
    let credentials = json!({"credentials": {
        "identifier": pds.greeting["accounts"][0]["handle"], "app_password": "wrong-wrong-wrong",
        "service": pds.greeting["pds"],
    }});
    user.post("/api/v1/connect/bluesky/credentials", credentials)
        .await
        .refused(400, "invalid_credentials");
    assert_eq!(user.get("/api/v1/accounts").await.body["accounts"], json!([]));
}

#[tokio::test]
async fn two_hundred_posts_are_two_hundred_records_however_often_workers_are_killed() {
    let pds = Peer::start(&["scripts/node.sh", "tests/peers/pds/start.mjs"]).await;
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (user, id, account) = connected(&app, &pds).await;
    for batch in 0..8 {
        let posts: Vec<Value> = (0..25)
            .map(|n| json!({"account_id": id, "caption": format!("Post {}", batch * 25 + n)}))
            .collect();
        let made = user.post("/api/v1/posts/batch", json!({ "posts": posts })).await.expect(200);
        assert_eq!(made.body["errors"], json!([]));
    }
    let mut kills = 0;
    loop {
        let worker = Worker::start(&app, None);
        // Each worker lives longer than the previous one, so that the test ends even if starting takes a second.
        let life = 400 + 37 * (kills % 20) + 200 * (kills / 20);
        tokio::time::sleep(Duration::from_millis(life)).await;
        drop(worker);
        kills += 1;
        // The dead worker's leases expire, as they would after a minute.
        let lapse = "UPDATE posts SET due_at = 1, lease_expirations = 0, \
             sending_until = sending_until - 600000 WHERE due_at IS NOT NULL";
        app.domain.db.write.execute_unprepared(lapse).await.unwrap();
        let open = user.get("/api/v1/posts?status=scheduled&limit=1").await.body["posts"].clone();
        let busy = user.get("/api/v1/posts?status=publishing&limit=1").await.body["posts"].clone();
        if open == json!([]) && busy == json!([]) {
            break;
        }
        assert!(kills < 300, "it never ends: {open:#} {busy:#}");
    }
    println!("{kills} workers were killed");
    let failed = user.get("/api/v1/posts?status=failed").await.expect(200);
    assert_eq!(failed.body["posts"], json!([]), "after {kills} kills");
    let held = records(&pds, &account["did"]).await;
    let texts: BTreeSet<&str> =
        held.iter().map(|one| one["value"]["text"].as_str().unwrap()).collect();
    assert_eq!((held.len(), texts.len()), (200, 200), "after {kills} kills");
}
