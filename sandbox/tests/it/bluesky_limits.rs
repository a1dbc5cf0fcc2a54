//! Bluesky's limits: each at its edge and one past it.

use serde_json::{Value, json};

use crate::bluesky::{Pds, TIDS, login, record};
use crate::harness::{Net, png, send};

/// Writes a record and says whether it was taken; what was taken is deleted again.
async fn taken(pds: &Pds<'_>, record: Value) -> bool {
    let got = pds.write(TIDS[0], record).await;
    if got.status != 200 {
        got.is(400);
        return false;
    }
    let body =
        json!({"repo": pds.account.remote_id, "collection": "app.bsky.feed.post", "rkey": TIDS[0]});
    send(pds.post("com.atproto.repo.deleteRecord").json(&body)).await.is(200);
    true
}

fn with(field: &str, value: Value) -> Value {
    let mut record = record("twelve bytes");
    record[field] = value;
    record
}

#[tokio::test]
async fn text_is_counted_in_graphemes_and_in_bytes() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let family = "👨‍👩‍👧";
    assert!(taken(&pds, record(&"a".repeat(300))).await);
    assert!(!taken(&pds, record(&"a".repeat(301))).await);
    assert!(taken(&pds, record(&family.repeat(166))).await, "2,988 bytes, 166 graphemes");
    assert!(!taken(&pds, record(&family.repeat(167))).await, "3,006 bytes, 167 graphemes");
    let long = pds.write(TIDS[0], record(&"a".repeat(301))).await.is(400);
    assert_eq!(long["error"], "InvalidRequest");
    assert_eq!(
        long["message"],
        "Invalid app.bsky.feed.post record: Record/text must not be longer than 300 graphemes"
    );
}

#[tokio::test]
async fn facets_stay_inside_the_text() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let facet = |start: u64, end: u64| json!({"index": {"byteStart": start, "byteEnd": end}, "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": "x"}]});
    assert!(taken(&pds, with("facets", json!([facet(0, 12)]))).await);
    assert!(!taken(&pds, with("facets", json!([facet(0, 13)]))).await);
    assert!(!taken(&pds, with("facets", json!([facet(3, 3)]))).await);
    assert!(taken(&pds, with("facets", json!([facet(0, 6), facet(6, 12)]))).await);
    assert!(!taken(&pds, with("facets", json!([facet(0, 7), facet(6, 12)]))).await);
    let mut inside = record("é");
    inside["facets"] = json!([facet(0, 1)]);
    assert!(!taken(&pds, inside).await, "half of a character");
}

#[tokio::test]
async fn lists_have_their_lengths() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let tags = |n: usize, length: usize| with("tags", json!(vec!["t".repeat(length); n]));
    assert!(taken(&pds, tags(8, 64)).await);
    assert!(!taken(&pds, tags(9, 64)).await);
    assert!(!taken(&pds, tags(1, 65)).await);
    assert!(taken(&pds, with("langs", json!(["en", "de", "pt-BR"]))).await);
    assert!(!taken(&pds, with("langs", json!(["en", "de", "fr", "it"]))).await);
    assert!(!taken(&pds, with("createdAt", json!("2026-11-21 10:00"))).await);
    assert!(!taken(&pds, with("n", json!(1.5))).await, "no fractions in the data model");
    let labels = |kind: &str| with("labels", json!({"$type": kind, "values": [{"val": "nudity"}]}));
    assert!(taken(&pds, labels("com.atproto.label.defs#selfLabels")).await);
    assert!(!taken(&pds, labels("selfLabels")).await);
}

#[tokio::test]
async fn images_have_their_number_and_size() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let head = png(1, 1, 0).len();
    let edge = pds.upload("image/png", png(1, 1, 2_000_000 - head)).await;
    let past = pds.upload("image/png", png(1, 1, 2_000_001 - head)).await;
    let images = |blob: &Value, n: usize| {
        with(
            "embed",
            json!({"$type": "app.bsky.embed.images", "images": vec![json!({"image": blob, "alt": ""}); n]}),
        )
    };
    assert!(taken(&pds, images(&edge, 4)).await);
    assert!(!taken(&pds, images(&edge, 5)).await);
    assert_eq!(pds.write(TIDS[0], images(&past, 1)).await.is(400)["error"], "BlobTooLarge");
    let card = |thumb: &Value| {
        with(
            "embed",
            json!({"$type": "app.bsky.embed.external", "external": {"uri": "https://example.com", "title": "t", "description": "", "thumb": thumb}}),
        )
    };
    assert_eq!(pds.write(TIDS[0], card(&edge)).await.is(400)["error"], "BlobTooLarge");
    let thumb = pds.upload("image/png", png(1, 1, 1_000_000 - head)).await;
    assert!(taken(&pds, card(&thumb)).await);

    let mut never = edge.clone();
    never["ref"]["$link"] = json!("bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
    assert_eq!(pds.write(TIDS[0], images(&never, 1)).await.is(400)["error"], "BlobNotFound");
    let mut lied = edge.clone();
    lied["mimeType"] = json!("image/jpeg");
    assert_eq!(pds.write(TIDS[0], images(&lied, 1)).await.is(400)["error"], "InvalidMimeType");
    let text = pds.upload("text/plain", b"hello".to_vec()).await;
    assert_eq!(pds.write(TIDS[0], images(&text, 1)).await.is(400)["error"], "InvalidMimeType");
}

#[tokio::test]
async fn record_keys_of_posts_are_tids() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    for key in ["self", "3jzfcijpj2z2", "3jzfcijpj2z2aa", "zjzfcijpj2z2a", "3JZFCIJPJ2Z2A"] {
        assert_eq!(pds.write(key, record("x")).await.is(400)["error"], "InvalidRequest", "{key}");
    }
    let body = json!({"repo": pds.account.remote_id, "collection": "app.bsky.feed.post", "record": record("no key")});
    let made = send(pds.post("com.atproto.repo.createRecord").json(&body)).await.is(200);
    assert_eq!(made["uri"].as_str().unwrap().rsplit('/').next().unwrap().len(), 13);
    let body =
        json!({"repo": "nobody.test", "collection": "app.bsky.feed.post", "record": record("x")});
    send(pds.post("com.atproto.repo.createRecord").json(&body)).await.is(400);
    let other = Pds::new(&net).await;
    let body = json!({"repo": other.account.remote_id, "collection": "app.bsky.feed.post", "record": record("x")});
    send(pds.post("com.atproto.repo.createRecord").json(&body)).await.is(401);
}

#[tokio::test]
async fn thirty_logins_in_five_minutes() {
    let net = Net::new().await;
    let account = net.account("bluesky").await;
    for n in 0..30 {
        assert_eq!(login(&net, &account).await.status, 200, "log-in {n}");
    }
    let refused = login(&net, &account).await;
    let reset: i64 = refused.headers["ratelimit-reset"].to_str().unwrap().parse().unwrap();
    assert!(reset > 1_700_000_000, "in seconds since 1970");
    assert_eq!(refused.is(429)["error"], "RateLimitExceeded");
    net.settings(json!({"clock_offset_ms": 301_000})).await;
    login(&net, &account).await.is(200);
}

#[tokio::test]
async fn a_wrong_password_is_a_401() {
    let net = Net::new().await;
    let mut account = net.account("bluesky").await;
    account.credentials["app_password"] = json!("aaaa-aaaa-aaaa-aaaa");
    assert_eq!(login(&net, &account).await.is(401)["error"], "AuthenticationRequired");
}

#[tokio::test]
async fn write_points_run_out_when_limits_are_on() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let create = |n: usize| {
        let value = json!({"$type": "app.example.thing", "n": n});
        json!({"$type": "com.atproto.repo.applyWrites#create", "collection": "app.example.thing", "value": value})
    };
    let batch = async |n: usize| {
        let writes: Vec<_> = (0..n).map(create).collect();
        send(
            pds.post("com.atproto.repo.applyWrites")
                .json(&json!({"repo": pds.account.remote_id, "writes": writes})),
        )
        .await
    };
    batch(201).await.is(400);
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..8 {
        batch(200).await.is(200);
    }
    batch(66).await.is(200);
    // 8 × 600 + 198 = 4,998 of 5,000 points.
    assert_eq!(batch(1).await.is(429)["error"], "RateLimitExceeded");
}
