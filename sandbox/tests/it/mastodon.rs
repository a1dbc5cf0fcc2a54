//! Mastodon: statuses, media, polls and the key that is remembered for an hour.

use reqwest::RequestBuilder;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, assert_promised, film_of, mp4, png, send};

/// What the vendor says of its API.
const FACTS: &str = include_str!("../../facts/mastodon.json");

fn by(account: &Account, request: RequestBuilder) -> RequestBuilder {
    request.bearer_auth(account.credential("access_token"))
}

async fn get(net: &Net, account: &Account, path: &str) -> Got {
    send(by(account, net.client.get(format!("{}/api/{path}", account.base)))).await
}

async fn say(net: &Net, account: &Account, status: Value) -> Got {
    let url = format!("{}/api/v1/statuses", account.base);
    send(by(account, net.client.post(url)).json(&status)).await
}

async fn upload(net: &Net, account: &Account, bytes: Vec<u8>, description: &str) -> Got {
    let form = Form::new().part("file", Part::bytes(bytes).file_name("file"));
    let form = form.text("description", description.to_owned());
    let url = format!("{}/api/v2/media", account.base);
    send(by(account, net.client.post(url)).multipart(form)).await
}

#[tokio::test]
async fn a_status_is_said_read_and_deleted() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let me = get(&net, &account, "v1/accounts/verify_credentials").await;
    assert_eq!(me.headers["x-ratelimit-limit"], "300");
    assert!(
        me.headers["x-ratelimit-reset"].to_str().unwrap().ends_with('Z'),
        "a time, not a number"
    );
    assert_eq!(me.is(200)["id"], account.remote_id.as_str());
    let status = json!({"status": " Hello\n\nyou & me ", "visibility": "unlisted", "spoiler_text": "cw", "language": "en"});
    let said = say(&net, &account, status).await.is(200);
    assert_promised(FACTS, "Status", &said);
    assert_promised(FACTS, "Account", &said["account"]);
    assert_eq!(said["content"], "<p>Hello</p><p>you &amp; me</p>");
    assert_eq!((&said["sensitive"], &said["visibility"]), (&json!(true), &json!("unlisted")));
    let id = said["id"].as_str().unwrap();
    assert_eq!(
        get(&net, &account, &format!("v1/statuses/{id}/source")).await.is(200)["text"],
        "Hello\n\nyou & me"
    );
    let listed =
        get(&net, &account, &format!("v1/accounts/{}/statuses?limit=20", account.remote_id))
            .await
            .is(200);
    assert_eq!(listed[0]["id"], id);
    let quote = say(&net, &account, json!({"status": "See", "quoted_status_id": id})).await.is(200);
    assert_eq!(quote["quote"]["quoted_status"]["id"], id);
    say(&net, &account, json!({"status": "See", "quoted_status_id": "1"})).await.is(404);
    assert_eq!(send(net.client.get(said["url"].as_str().unwrap())).await.status, 200);
    send(by(&account, net.client.delete(format!("{}/api/v1/statuses/{id}", account.base))))
        .await
        .is(200);
    get(&net, &account, &format!("v1/statuses/{id}")).await.is(404);
}

#[tokio::test]
async fn a_key_makes_one_status_within_an_hour() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let say = async |text: &str, key: &str| {
        let request = by(&account, net.client.post(format!("{}/api/v1/statuses", account.base)));
        let got = send(request.header("idempotency-key", key).json(&json!({"status": text})))
            .await
            .is(200);
        (got["id"].as_str().unwrap().to_owned(), got["content"].as_str().unwrap().to_owned())
    };
    let first = say("first", "k1").await;
    assert_eq!(
        say("something else", "k1").await,
        first,
        "the old status comes back without a word"
    );
    assert_ne!(say("second", "k2").await.0, first.0);
    net.settings(json!({"clock_offset_ms": 3_601_000})).await;
    assert_ne!(say("first", "k1").await.0, first.0);
    assert_eq!(net.posts(&account).await.len(), 3);
}

#[tokio::test]
async fn media_are_processed_described_and_attached_once() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let image = upload(&net, &account, png(40, 30, 5), "A cat").await.is(200);
    assert_eq!((&image["type"], &image["description"]), (&json!("image"), &json!("A cat")));
    net.settings(json!({"processing_ms": 60_000})).await;
    let film = upload(&net, &account, mp4(10), "").await.is(202);
    let id = film["id"].as_str().unwrap();
    assert_eq!(get(&net, &account, &format!("v1/media/{id}")).await.status, 206);
    let early = say(&net, &account, json!({"status": "x", "media_ids": [id]})).await.is(422);
    assert!(early["error"].as_str().unwrap().contains("finished processing"));
    net.settings(json!({"clock_offset_ms": 61_000})).await;
    assert!(get(&net, &account, &format!("v1/media/{id}")).await.is(200)["url"].is_string());
    say(&net, &account, json!({"status": "x", "media_ids": [id, image["id"]]})).await.is(422);
    say(&net, &account, json!({"media_ids": [id]})).await.is(200);
    assert_eq!(get(&net, &account, &format!("v1/media/{id}")).await.status, 404, "it is attached");
    say(&net, &account, json!({"status": "x", "media_ids": [id]})).await.is(422);
    say(&net, &account, json!({"status": "x", "media_ids": ["1", "2", "3", "4", "5"]}))
        .await
        .is(422);
    upload(&net, &account, vec![1; 50], "").await.is(422);
    for (codec, rate, status) in
        [(b"avc1", 120, 202), (b"avc1", 121, 422), (b"vp09", 30, 202), (b"apcn", 30, 422)]
    {
        let got = upload(&net, &account, film_of(codec, rate), "").await;
        assert_eq!(got.status, status, "{codec:?} {rate}");
    }
    upload(&net, &account, png(1, 1, 0), &"n".repeat(1_500)).await.is(200);
    upload(&net, &account, png(1, 1, 0), &"n".repeat(1_501)).await.is(422);
    upload(&net, &account, png(1, 1, 16_777_216), "").await.is(422);
}

#[tokio::test]
async fn limits_of_the_instance_hold() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let limits = send(net.client.get(format!("{}/api/v2/instance", account.base))).await.is(200);
    assert_eq!(limits["configuration"]["statuses"]["max_characters"], 500);
    assert_eq!(limits["api_versions"]["mastodon"], 7);
    say(&net, &account, json!({"status": "é".repeat(500)})).await.is(200);
    let long = say(&net, &account, json!({"status": "é".repeat(501)})).await.is(422);
    assert_eq!(long["error"], "Validation failed: Text character limit of 500 exceeded");
    let address = format!("https://example.org/{}", "a".repeat(600));
    say(&net, &account, json!({"status": format!("{} {address}", "n".repeat(476))})).await.is(200);
    say(&net, &account, json!({"status": format!("{} {address}", "n".repeat(477))})).await.is(422);
    say(&net, &account, json!({"status": "n".repeat(499), "spoiler_text": "nn"})).await.is(422);
    say(&net, &account, json!({"status": " "})).await.is(422);
    say(&net, &account, json!({"status": "x", "visibility": "secret"})).await.is(422);
    let poll = |options: Value, expires: u64| json!({"status": "?", "poll": {"options": options, "expires_in": expires}});
    say(&net, &account, poll(json!(["a", "b", "c", "n".repeat(50)]), 300)).await.is(200);
    for broken in [
        poll(json!(["a"]), 300),
        poll(json!(["a", "b", "c", "d", "e"]), 300),
        poll(json!(["a", "n".repeat(51)]), 300),
        poll(json!(["a", "a"]), 300),
        poll(json!(["a", "b"]), 299),
        poll(json!(["a", "b"]), 2_629_747),
    ] {
        say(&net, &account, broken).await.is(422);
    }
    let form = [
        ("status", "as a form"),
        ("poll[options][]", "a"),
        ("poll[options][]", "b"),
        ("poll[expires_in]", "300"),
    ];
    let url = format!("{}/api/v1/statuses", account.base);
    let formed = send(by(&account, net.client.post(url)).form(&form)).await.is(200);
    assert_eq!(formed["poll"]["options"][1]["title"], "b");
}

#[tokio::test]
async fn tokens_and_rates() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let stranger = net.client.get(format!("{}/api/v1/accounts/verify_credentials", account.base));
    assert_eq!(
        send(stranger.bearer_auth("wrong")).await.is(401)["error"],
        "The access token is invalid"
    );
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..30 {
        upload(&net, &account, png(1, 1, 0), "").await.is(200);
    }
    let full = upload(&net, &account, png(1, 1, 0), "").await;
    assert_eq!(full.headers["x-ratelimit-remaining"], "0");
    full.is(429);
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    assert_eq!(
        say(&net, &account, json!({"status": "x"})).await.is(401)["error"],
        "The access token was revoked"
    );
    net.faults(&account, json!([])).await;
    say(&net, &account, json!({"status": "x"})).await.is(200);
    let form = [("token", account.credential("access_token"))];
    send(net.client.post(format!("{}/oauth/revoke", account.base)).form(&form)).await.is(200);
    say(&net, &account, json!({"status": "y"})).await.is(401);
}

#[tokio::test]
async fn the_last_id_of_a_page_leads_to_the_next() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        let said = say(&net, &account, json!({ "status": text })).await.is(200);
        ids.push(said["id"].as_str().unwrap().to_owned());
    }
    let page = async |more: String| {
        let path = format!("v1/accounts/{}/statuses?limit=2{more}", account.remote_id);
        let listed = get(&net, &account, &path).await.is(200);
        let listed = listed.as_array().unwrap().iter();
        listed.map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(page(String::new()).await, [ids[2].clone(), ids[1].clone()]);
    assert_eq!(page(format!("&max_id={}", ids[1])).await, [ids[0].clone()]);
    assert!(page(format!("&max_id={}", ids[0])).await.is_empty());
}
