//! X: posts, files in one and in many pieces, chains, limits.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, mp4, png, send, until};

pub async fn call(net: &Net, account: &Account, method: Method, path: &str, body: Value) -> Got {
    let request = net.client.request(method, format!("{}/2/{path}", account.base));
    let request = if body.is_null() { request } else { request.json(&body) };
    send(request.bearer_auth(account.credential("access_token"))).await
}

async fn tweet(net: &Net, account: &Account, body: Value) -> Got {
    call(net, account, Method::POST, "tweets", body).await
}

async fn form(net: &Net, account: &Account, path: &str, form: Form) -> Got {
    let request = net.client.post(format!("{}/2/media/upload{path}", account.base));
    send(request.multipart(form).bearer_auth(account.credential("access_token"))).await
}

fn id(body: &Value) -> String {
    body["data"]["id"].as_str().unwrap().to_owned()
}

async fn image(net: &Net, account: &Account) -> String {
    let file = Part::bytes(png(640, 480, 0)).file_name("a.png");
    let image = Form::new().text("media_category", "tweet_image").part("media", file);
    id(&form(net, account, "", image).await.is(200))
}

/// Uploads a file in pieces of so many bytes; gives its id and what was said at the end.
async fn in_pieces(net: &Net, account: &Account, file: &[u8], most: usize) -> (String, Got) {
    let kind = json!({"media_type": "video/mp4", "total_bytes": file.len(), "media_category": "tweet_video"});
    let begun = call(net, account, Method::POST, "media/upload/initialize", kind).await.is(200);
    let id = id(&begun);
    for (index, piece) in file.chunks(most).enumerate() {
        let part = Part::bytes(piece.to_vec()).file_name("piece");
        let append = Form::new().text("segment_index", index.to_string()).part("media", part);
        form(net, account, &format!("/{id}/append"), append).await.is(200);
    }
    let path = format!("media/upload/{id}/finalize");
    let said = call(net, account, Method::POST, &path, Value::Null).await;
    (id, said)
}

#[tokio::test]
async fn a_text_is_public_at_once_and_not_twice() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let made = tweet(&net, &account, json!({"text": "R&D https://example.org/a"})).await;
    for name in ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"] {
        assert!(made.headers.contains_key(name), "{name}");
    }
    let made = id(&made.is(201));
    let again = tweet(&net, &account, json!({"text": "R&D https://example.org/a"})).await.is(403);
    assert!(again["detail"].as_str().unwrap().contains("duplicate content"));
    let path = format!(
        "users/{}/tweets?max_results=10&tweet.fields=created_at,entities",
        account.remote_id
    );
    let list = call(&net, &account, Method::GET, &path, Value::Null).await.is(200);
    let first = &list["data"][0];
    assert!(first["text"].as_str().unwrap().starts_with("R&amp;D https://t.co/"), "{first}");
    assert_eq!(first["entities"]["urls"][0]["expanded_url"], "https://example.org/a");
    assert!(first["created_at"].is_string());
    let url = net.posts(&account).await[0]["url"].as_str().unwrap().to_owned();
    assert!(url.ends_with(&format!("/{}/status/{made}", account.username)));
    assert!(send(net.client.get(&url)).await.text.contains("R&amp;D"));
    call(&net, &account, Method::DELETE, &format!("tweets/{made}"), Value::Null).await.is(200);
    assert!(net.posts(&account).await.is_empty());
}

#[tokio::test]
async fn texts_polls_and_settings_have_their_limits() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let status = async |body: Value| tweet(&net, &account, body).await.status;
    let text = async |text: &str| status(json!({ "text": text })).await;
    assert_eq!((text(&"a".repeat(280)).await, text(&"b".repeat(281)).await), (201, 403));
    assert_eq!((text(&"日".repeat(140)).await, text(&"本".repeat(141)).await), (201, 403));
    let link = format!("{} https://example.org/{}", "c".repeat(256), "d".repeat(400));
    assert_eq!((text(&link).await, text(&format!("e{link}")).await), (201, 403));
    assert_eq!((text(" ").await, text("$ABC $DEF").await, text("$ABC 1").await), (400, 403, 201));
    let poll = |options: Value, minutes: u32| json!({"text": format!("poll {minutes} {options}"), "poll": {"options": options, "duration_minutes": minutes}});
    let long = "o".repeat(25);
    assert_eq!(status(poll(json!(["a", long]), 5)).await, 201);
    assert_eq!(status(poll(json!(["a", format!("{long}o")]), 5)).await, 400);
    assert_eq!(status(poll(json!(["a"]), 10_080)).await, 400);
    assert_eq!(status(poll(json!(["a", "b"]), 10_081)).await, 400);
    assert_eq!(status(poll(json!(["a", "b"]), 4)).await, 400);
    assert_eq!(status(json!({"text": "who", "reply_settings": "verified"})).await, 201);
    assert_eq!(status(json!({"text": "who?", "reply_settings": "everyone"})).await, 400);
    let unknown = tweet(&net, &account, json!({"text": "x", "txt": 1})).await.is(400);
    assert!(unknown["errors"][0]["message"].as_str().unwrap().contains("$.txt"));
}

#[tokio::test]
async fn images_are_uploaded_described_and_posted() {
    let net = Net::new().await;
    let account = net.account("x").await;
    let (one, two) = (image(&net, &account).await, image(&net, &account).await);
    let describe = async |text: &str| {
        let body = json!({"id": one, "metadata": {"alt_text": {"text": text}}});
        call(&net, &account, Method::POST, "media/metadata", body).await.status
    };
    assert_eq!(
        (describe(&"a".repeat(1_000)).await, describe(&"a".repeat(1_001)).await),
        (200, 400)
    );
    assert_eq!(describe("A cat").await, 200);
    let with = |ids: Value| json!({"text": "pictures", "media": {"media_ids": ids}});
    tweet(&net, &account, with(json!([]))).await.is(400);
    tweet(&net, &account, with(json!(["1"]))).await.is(400);
    tweet(&net, &account, with(json!([one, one, one, one, one]))).await.is(400);
    let mut polled = with(json!([one]));
    polled["poll"] = json!({"options": ["a", "b"], "duration_minutes": 5});
    tweet(&net, &account, polled).await.is(400);
    tweet(&net, &account, with(json!([one, two]))).await.is(201);
    let media = net.posts(&account).await[0]["media"].clone();
    assert_eq!((media.as_array().unwrap().len(), &media[0]["alt"]), (2, &json!("A cat")));
    let text = Form::new()
        .text("media_category", "tweet_image")
        .part("media", Part::bytes(b"no picture".to_vec()).file_name("a.png"));
    form(&net, &account, "", text).await.is(400);
    let big = Part::bytes(png(9, 9, 5 << 20)).file_name("a.png");
    let big = Form::new().text("media_category", "tweet_image").part("media", big);
    form(&net, &account, "", big).await.is(413);
}

#[tokio::test]
async fn a_video_comes_in_pieces_and_is_processed() {
    let net = Net::new().await;
    net.settings(json!({"processing_ms": 60_000})).await;
    let account = net.account("x").await;
    let (video, said) = in_pieces(&net, &account, &mp4(100), 64).await;
    assert_eq!(said.is(200)["data"]["processing_info"]["state"], "pending");
    let with = |id: &str| json!({"text": "film", "media": {"media_ids": [id]}});
    tweet(&net, &account, with(&video)).await.is(400);
    net.settings(json!({"clock_offset_ms": 60_000})).await;
    let state = async |id: &str| {
        let path = format!("media/upload?command=STATUS&media_id={id}");
        let got = call(&net, &account, Method::GET, &path, Value::Null).await.is(200);
        got["data"]["processing_info"]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&video).await, "succeeded");
    tweet(&net, &account, with(&video)).await.is(201);
    assert_eq!(net.posts(&account).await[0]["media"][0]["mime"], "video/mp4");
    net.settings(json!({"processing_ms": 0})).await;
    let (bad, _) = in_pieces(&net, &account, b"this is no film", 64).await;
    until(async || (state(&bad).await == "failed").then_some(())).await;
    tweet(&net, &account, with(&bad)).await.is(400);
    let kind =
        json!({"media_type": "video/mp4", "total_bytes": 10, "media_category": "tweet_video"});
    let begun = call(&net, &account, Method::POST, "media/upload/initialize", kind).await.is(200);
    let path = format!("media/upload/{}/finalize", id(&begun));
    call(&net, &account, Method::POST, &path, Value::Null).await.is(400);
    let kind = json!({"media_type": "video/mp4", "total_bytes": 512_u64 << 20, "media_category": "tweet_video"});
    call(&net, &account, Method::POST, "media/upload/initialize", kind).await.is(200);
    let kind = json!({"media_type": "video/mp4", "total_bytes": (512_u64 << 20) + 1, "media_category": "tweet_video"});
    call(&net, &account, Method::POST, "media/upload/initialize", kind).await.is(400);
}

#[tokio::test]
async fn one_answers_oneself_and_nobody_else() {
    let net = Net::new().await;
    let (account, other) = (net.account("x").await, net.account("x").await);
    let root = id(&tweet(&net, &account, json!({"text": "1"})).await.is(201));
    let reply = |text: &str| json!({"text": text, "reply": {"in_reply_to_tweet_id": root}});
    tweet(&net, &account, reply("2")).await.is(201);
    tweet(&net, &other, reply("hello")).await.is(403);
    assert_eq!(net.posts(&account).await[1]["reply_to"], root.as_str());
}

#[tokio::test]
async fn a_hundred_posts_in_a_quarter_of_an_hour() {
    let net = Net::new().await;
    net.settings(json!({"rate_limits": true})).await;
    let account = net.account("x").await;
    for number in 0..100 {
        tweet(&net, &account, json!({"text": format!("number {number}")})).await.is(201);
    }
    let refused = tweet(&net, &account, json!({"text": "one more"})).await;
    assert_eq!(refused.headers["x-rate-limit-remaining"], "0");
    assert_eq!(refused.headers["x-rate-limit-limit"], "100");
    assert_eq!(refused.is(429)["title"], "Too Many Requests");
    net.settings(json!({"clock_offset_ms": 15 * 60_000})).await;
    tweet(&net, &account, json!({"text": "one more"})).await.is(201);
}

#[tokio::test]
async fn posts_come_in_pages() {
    let net = Net::new().await;
    let account = net.account("x").await;
    for number in 1..=7 {
        tweet(&net, &account, json!({"text": format!("post {number}")})).await.is(201);
    }
    let path = format!("users/{}/tweets?max_results=5", account.remote_id);
    let first = call(&net, &account, Method::GET, &path, Value::Null).await.is(200);
    assert_eq!(first["data"][4]["text"], "post 3");
    let token = first["meta"]["next_token"].as_str().unwrap();
    let next = format!("{path}&pagination_token={token}");
    let last = call(&net, &account, Method::GET, &next, Value::Null).await.is(200);
    assert_eq!(
        (&last["data"][1]["text"], &last["meta"]["result_count"]),
        (&json!("post 1"), &json!(2))
    );
    assert!(last["meta"]["next_token"].is_null());
}

/// The schema of X's description of August 2026.
#[tokio::test]
async fn names_that_the_schema_has_not_are_refused() {
    let net = Net::new().await;
    let account = net.account("x").await;
    for (body, name) in [
        (json!({"text": "a", "title": "b"}), "$.title"),
        (json!({"text": "a", "media": {"media_ids": ["1"], "ids": ["1"]}}), "$.media.ids"),
        (json!({"text": "a", "reply": {"in_reply_to": "1"}}), "$.reply.in_reply_to"),
    ] {
        let told = tweet(&net, &account, body).await.is(400);
        let message = told["errors"][0]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("{name}: is not defined in the schema")), "{message}");
    }
    let file = || Part::bytes(png(9, 9, 0)).file_name("a.png");
    let plain = || Form::new().text("media_category", "tweet_image").part("media", file());
    form(&net, &account, "", plain().text("media_type", "image/png")).await.is(400);
    form(&net, &account, "", plain()).await.is(200);
    let read = async |query: &str| {
        let path = format!("users/{}/tweets?{query}", account.remote_id);
        call(&net, &account, Method::GET, &path, Value::Null).await
    };
    for (known, unknown) in [
        ("tweet.fields=created_at,note_tweet", "tweet.fields=created_at,note_post"),
        ("post.fields=public_metrics,note_post", "post.fields=like_count"),
        ("start_time=2026-11-01T00:00:00Z", "start_time=yesterday"),
    ] {
        read(known).await.is(200);
        read(unknown).await.is(400);
    }
}

#[tokio::test]
async fn a_list_begins_where_it_is_asked_to() {
    let net = Net::new().await;
    let account = net.account("x").await;
    tweet(&net, &account, json!({"text": "now"})).await.is(201);
    let count = async |since: &str| {
        let path = format!("users/{}/tweets?start_time={since}", account.remote_id);
        let told = call(&net, &account, Method::GET, &path, Value::Null).await.is(200);
        told["meta"]["result_count"].clone()
    };
    assert_eq!(count("2020-01-01T00:00:00Z").await, 1);
    assert_eq!(count("2120-01-01T00:00:00Z").await, 0);
}
