//! How networks behave besides their faults.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, send};

/// An account of X with a behaviour.
async fn x(net: &Net, behaviour: Value) -> Account {
    let account = net.account("x").await;
    net.behave("x", &account, behaviour).await;
    account
}

async fn post(net: &Net, account: &Account, text: &str) -> Got {
    let url = format!("{}/2/tweets", account.base);
    let token = account.credential("access_token");
    send(net.client.post(url).bearer_auth(token).json(&json!({"text": text}))).await
}

async fn listed(net: &Net, account: &Account, query: &str) -> Got {
    let url = format!("{}/2/users/{}/tweets?{query}", account.base, account.remote_id);
    send(net.client.get(url).bearer_auth(account.credential("access_token"))).await
}

fn ids(list: &Value) -> usize {
    list["data"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn a_cached_answer_is_old_until_the_request_differs() {
    let net = Net::new().await;
    let account = x(&net, json!({"reads": {"cache_ms": 60_000}})).await;
    assert_eq!(ids(&listed(&net, &account, "max_results=5").await.is(200)), 0);
    post(&net, &account, "one").await.is(201);
    let old = listed(&net, &account, "max_results=5").await;
    assert!(old.headers.contains_key("age"));
    assert_eq!(ids(&old.is(200)), 0);
    assert_eq!(ids(&listed(&net, &account, "max_results=6").await.is(200)), 1);
    net.settings(json!({"clock_offset_ms": 61_000})).await;
    assert_eq!(ids(&listed(&net, &account, "max_results=5").await.is(200)), 1);
}

#[tokio::test]
async fn pages_are_short_and_reads_are_limited() {
    let net = Net::new().await;
    let account = x(&net, json!({"reads": {"page_max": 5, "per_minute": 1}})).await;
    for n in 0..7 {
        post(&net, &account, &format!("post {n}")).await.is(201);
    }
    assert_eq!(ids(&listed(&net, &account, "max_results=100").await.is(200)), 5);
    listed(&net, &account, "max_results=100").await.is(429);
    net.settings(json!({"clock_offset_ms": 61_000})).await;
    listed(&net, &account, "max_results=100").await.is(200);
}

#[tokio::test]
async fn somebody_else_posts_and_a_post_is_removed() {
    let net = Net::new().await;
    let others = json!([{"after_ms": 1_000, "text": "by hand"}]);
    let later = json!([{"after_ms": 5_000, "set": "gone"}]);
    let account = x(&net, json!({"others": others, "later": later})).await;
    post(&net, &account, "ours").await.is(201);
    let texts = |list: Value| -> Vec<String> {
        let list = list["data"].as_array().cloned().unwrap_or_default();
        list.iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
    };
    net.settings(json!({"clock_offset_ms": 2_000})).await;
    assert_eq!(texts(listed(&net, &account, "").await.is(200)), ["by hand", "ours"]);
    net.settings(json!({"clock_offset_ms": 6_000})).await;
    assert_eq!(texts(listed(&net, &account, "").await.is(200)), ["by hand"]);
}

#[tokio::test]
async fn an_answer_may_be_another_with_or_without_effect() {
    let net = Net::new().await;
    let refusal = json!({"title": "Forbidden", "status": 403});
    let account = x(
        &net,
        json!({"answers": [
            {"on": "create post", "match": "lost", "times": 1, "effect": "done", "status": 503, "body": refusal},
            {"on": "commit", "times": 1, "status": 403, "body": refusal},
        ]}),
    )
    .await;
    post(&net, &account, "this one is lost").await.is(503);
    post(&net, &account, "this one is refused").await.is(403);
    post(&net, &account, "this one is made").await.is(201);
    let held = net.posts(&account).await;
    let texts: Vec<_> = held.iter().map(|post| post["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["this one is lost", "this one is made"]);
}

#[tokio::test]
async fn a_key_without_effect_makes_two() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let send_it = async || {
        let url = format!("{}/api/v1/statuses", account.base);
        let request = net.client.post(url).bearer_auth(account.credential("access_token"));
        send(request.header("idempotency-key", "k").json(&json!({"status": "once"}))).await.is(200)
    };
    assert_eq!(send_it().await["id"], send_it().await["id"]);
    net.behave("mastodon", &account, json!({"ignores": ["idempotency-key"]})).await;
    assert_ne!(send_it().await["id"], send_it().await["id"]);
}

#[tokio::test]
async fn a_container_is_forgotten() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    net.behave("threads", &account, json!({"handles": {"vanish_ms": 1_000}})).await;
    let token = account.credential("access_token");
    let form = [("media_type", "TEXT"), ("text", "soon gone")];
    let url = format!("{}/v1.0/{}/threads", account.base, account.remote_id);
    let made = send(net.client.post(url).bearer_auth(token).form(&form)).await.is(200);
    let id = made["id"].as_str().unwrap();
    let shown = async || {
        let url = format!("{}/v1.0/{id}?fields=status", account.base);
        send(net.client.get(url).bearer_auth(token)).await.status
    };
    assert_eq!(shown().await, 200);
    net.settings(json!({"clock_offset_ms": 1_000})).await;
    assert_ne!(shown().await, 200);
}

#[tokio::test]
async fn a_network_is_as_it_really_is_and_a_misspelt_control_is_refused() {
    let net = Net::new().await;
    let platforms = net.control(Method::GET, "platforms", Value::Null).await.is(200);
    for platform in platforms["platforms"].as_array().unwrap() {
        let platform = platform.as_str().unwrap();
        let account = net.account(platform).await;
        net.behave(platform, &account, json!({"as": "real"})).await;
    }
    let account = net.account("x").await;
    let body = json!({"remote_id": account.remote_id, "behaviour": {"list_lag": 1}});
    net.control(Method::PUT, "x/behaviour", body).await.is(400);
}
