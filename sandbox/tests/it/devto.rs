//! DEV: articles, front matter, and what is refused.

use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, assert_promised, send};

/// What the vendor says of its API.
const FACTS: &str = include_str!("../../facts/devto.json");

async fn write(net: &Net, account: &Account, article: Value) -> Got {
    let request = net.client.post(format!("{}/api/articles", account.base));
    let request = request.header("api-key", account.credential("api_key"));
    send(request.json(&json!({ "article": article }))).await
}

async fn read(net: &Net, account: &Account, path: &str) -> Got {
    let request = net.client.get(format!("{}/api/{path}", account.base));
    send(request.header("api-key", account.credential("api_key"))).await
}

#[tokio::test]
async fn an_article_is_written_read_and_taken_back() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let me = read(&net, &account, "users/me").await.is(200);
    assert_eq!(me["username"], account.username.as_str());
    let article = json!({"title": "Hello, DEV", "body_markdown": "Text", "published": true, "tags": ["rust", "web"],
        "canonical_url": "https://example.org/a", "main_image": "https://example.org/a.png", "series": "News"});
    let made = write(&net, &account, article).await.is(201);
    assert!(made["slug"].as_str().unwrap().starts_with("hello-dev-"));
    assert_promised(FACTS, "Article", &made);
    assert_eq!(
        (&made["tag_list"], &made["canonical_url"]),
        (&json!(["rust", "web"]), &json!("https://example.org/a"))
    );
    let listed = read(&net, &account, "articles/me/all?per_page=30").await.is(200);
    assert_eq!(listed[0]["id"], made["id"]);
    assert!(listed[0]["published_at"].is_string() && listed[0]["body_markdown"] == "Text");
    let posts = net.posts(&account).await;
    assert_eq!(
        (&posts[0]["series"], &posts[0]["media"][0]["url"]),
        (&json!("News"), &json!("https://example.org/a.png"))
    );
    let page = send(net.client.get(made["url"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("Text"));
    let path = format!("{}/api/articles/{}", account.base, made["id"]);
    let request = net.client.put(path).header("api-key", account.credential("api_key"));
    let gone = send(request.json(&json!({"article": {"published": false}}))).await.is(200);
    assert_eq!(gone["published"], false);
    assert_eq!(read(&net, &account, "articles/me").await.is(200), json!([]));
}

#[tokio::test]
async fn what_is_said_of_ai_is_one_of_three_levels() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let with = async |title: &str, level: Value| {
        let article = json!({"title": title, "body_markdown": "x", "ai_disclosure_level": level});
        write(&net, &account, article).await
    };
    for level in ["no_ai", "some_ai", "fully_autonomous"] {
        let made = with(level, json!(level)).await.is(201);
        assert_eq!(made["ai_disclosure_level"], level);
    }
    assert_eq!(with("a", Value::Null).await.is(201)["ai_disclosure_level"], "not_disclosed");
    let refused = with("b", json!("a_little")).await.is(422);
    assert!(refused["error"].as_str().unwrap().contains("'a_little'"), "{refused}");
}

#[tokio::test]
async fn front_matter_counts_more_than_the_fields() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let body = "---\ntitle: From the text\npublished: false\ntags: one, two\n---\nText";
    let made = write(
        &net,
        &account,
        json!({"title": "Beside it", "body_markdown": body, "published": true}),
    )
    .await
    .is(201);
    assert_eq!((&made["title"], &made["published"]), (&json!("From the text"), &json!(false)));
    assert_eq!(made["tag_list"], json!(["one", "two"]));
}

#[tokio::test]
async fn what_is_refused() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let refused = async |article: Value, why: &str| {
        let body = write(&net, &account, article).await.is(422);
        assert!(body["error"].as_str().unwrap().contains(why), "{body}");
        assert_eq!(body["status"], 422);
    };
    write(&net, &account, json!({"title": "n".repeat(128), "body_markdown": "x"})).await.is(201);
    refused(json!({"title": "n".repeat(129)}), "too long (maximum is 128").await;
    refused(json!({"title": " "}), "can't be blank").await;
    refused(json!({"title": "Tags", "tags": ["a", "b", "c", "d", "e"]}), "maximum of 4 tags").await;
    refused(json!({"title": "Tags", "tags": ["a-b"]}), "non-alphanumeric").await;
    write(&net, &account, json!({"title": "Same", "canonical_url": "https://example.org/1"}))
        .await
        .is(201);
    refused(json!({"title": "Same"}), "last five minutes").await;
    refused(
        json!({"title": "Other", "canonical_url": "https://example.org/1"}),
        "already been taken",
    )
    .await;
    net.settings(json!({"clock_offset_ms": 301_000})).await;
    write(&net, &account, json!({"title": "Same"})).await.is(201);
    assert_eq!(write(&net, &account, Value::Null).await.status, 400);
}

#[tokio::test]
async fn keys_and_limits() {
    let net = Net::new().await;
    let account = net.account("devto").await;
    let nobody =
        net.client.get(format!("{}/api/users/me", account.base)).header("api-key", "wrong");
    assert_eq!(send(nobody).await.is(401), json!({"error": "unauthorized", "status": 401}));
    net.settings(json!({"rate_limits": true})).await;
    for number in 0..10 {
        write(&net, &account, json!({"title": format!("Title {number}")})).await.is(201);
    }
    let full = write(&net, &account, json!({"title": "One more"})).await;
    assert!(full.headers["retry-after"].to_str().unwrap().parse::<u32>().unwrap() <= 30);
    full.is(429);
    net.settings(json!({"rate_limits": false})).await;
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    write(&net, &account, json!({"title": "Two more"})).await.is(401);
    read(&net, &account, "users/me").await.is(401);
    net.faults(&account, json!([])).await;
    read(&net, &account, "users/me").await.is(200);
}
