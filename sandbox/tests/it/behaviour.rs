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
async fn a_cache_marks_its_answers_in_its_own_way() {
    let net = Net::new().await;
    for (mark, header) in [("x_cache", "x-cache"), ("cloudflare", "cf-cache-status")] {
        let account = x(&net, json!({"reads": {"cache_ms": 60_000, "cache_mark": mark}})).await;
        let first = listed(&net, &account, "max_results=5").await;
        assert!(!first.headers.contains_key(header), "{mark}");
        let old = listed(&net, &account, "max_results=5").await;
        assert_eq!(old.headers[header], "HIT", "{mark}");
        assert!(!old.headers.contains_key("age"), "{mark}");
    }
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

/// Posts on Mastodon.
async fn toot(net: &Net, account: &Account, text: &str) -> Value {
    let url = format!("{}/api/v1/statuses", account.base);
    let request = net.client.post(url).bearer_auth(account.credential("access_token"));
    send(request.json(&json!({"status": text, "visibility": "public"}))).await.is(200)
}

/// Reads a status of Mastodon.
async fn toot_shown(net: &Net, account: &Account, id: &Value) -> Got {
    let url = format!("{}/api/v1/statuses/{}", account.base, id.as_str().unwrap());
    send(net.client.get(url).bearer_auth(account.credential("access_token"))).await
}

/// Opens the page of the account's first post as a stranger.
async fn page_of_first(net: &Net, account: &Account) -> u16 {
    let posts = net.posts(account).await;
    send(net.client.get(posts[0]["url"].as_str().unwrap())).await.status
}

#[tokio::test]
async fn a_post_that_only_its_author_sees_is_said_to_be_one() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    net.behave("mastodon", &account, json!({"visibility": "author"})).await;
    let made = toot(&net, &account, "for few").await;
    assert_eq!(made["visibility"], "private");
    assert_eq!(toot_shown(&net, &account, &made["id"]).await.is(200)["visibility"], "private");
    assert_eq!(page_of_first(&net, &account).await, 404);
    assert_eq!(net.posts(&account).await.len(), 1);
}

#[tokio::test]
async fn a_post_is_hidden_shown_again_and_removed_for_a_while() {
    let net = Net::new().await;
    let account = net.account("mastodon").await;
    let later = json!([
        {"after_ms": 1_000, "set": {"visibility": "author"}},
        {"after_ms": 3_000, "set": {"visibility": "all"}},
        {"after_ms": 5_000, "set": "gone"},
        {"after_ms": 7_000, "set": "restored"},
    ]);
    net.behave("mastodon", &account, json!({ "later": later })).await;
    let made = toot(&net, &account, "here and there").await;
    assert_eq!(made["visibility"], "public");
    for (offset, status, page) in
        [(0, 200, 200), (2_000, 200, 404), (4_000, 200, 200), (6_000, 404, 404), (8_000, 200, 200)]
    {
        net.settings(json!({"clock_offset_ms": offset})).await;
        let shown = toot_shown(&net, &account, &made["id"]).await;
        assert_eq!((shown.status, page_of_first(&net, &account).await), (status, page), "{offset}");
    }
}

#[tokio::test]
async fn an_edit_gives_a_post_another_id_and_its_numbers_change() {
    let net = Net::new().await;
    let later = json!([
        {"after_ms": 1_000, "set": {"numbers": {"likes": 7}}},
        {"after_ms": 1_000, "set": "another_id"},
    ]);
    let account = x(&net, json!({ "later": later })).await;
    let old = post(&net, &account, "first words").await.is(201)["data"]["id"].clone();
    net.settings(json!({"clock_offset_ms": 2_000})).await;
    let list = listed(&net, &account, "max_results=5").await.is(200);
    let new = list["data"][0]["id"].clone();
    assert_eq!((ids(&list), new != old), (1, true));
    let url = format!(
        "{}/2/tweets?ids={}&tweet.fields=public_metrics",
        account.base,
        old.as_str().unwrap()
    );
    let shown =
        send(net.client.get(url).bearer_auth(account.credential("access_token"))).await.is(200);
    assert_eq!(shown["data"][0]["edit_history_tweet_ids"], json!([old, new]));
    assert_eq!(shown["data"][0]["public_metrics"]["like_count"], 7);
}

#[tokio::test]
async fn an_article_gets_another_state() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let later = json!([{"after_ms": 1_000, "set": {"state": "draft"}}]);
    net.behave("wordpress", &account, json!({ "later": later })).await;
    let posts = format!("{}/wp-json/wp/v2/posts", account.base);
    let (name, password) =
        (account.credential("username"), account.credential("application_password"));
    let new = json!({"title": "An article", "content": "Words", "status": "publish"});
    let made =
        send(net.client.post(&posts).basic_auth(name, Some(password)).json(&new)).await.is(201);
    assert_eq!(made["status"], "publish");
    net.settings(json!({"clock_offset_ms": 2_000})).await;
    let one = format!("{posts}/{}?context=edit", made["id"]);
    let shown = send(net.client.get(one).basic_auth(name, Some(password))).await.is(200);
    assert_eq!(shown["status"], "draft");
}

#[tokio::test]
async fn a_video_has_a_second_name_which_comes_late() {
    let net = Net::new().await;
    let account = net.account("facebook").await;
    net.behave("facebook", &account, json!({"ids": {"late_ms": 5_000}})).await;
    let token = account.credential("access_token");
    let url = format!("{}/v25.0/{}/videos", account.base, account.remote_id);
    let form = [("file_url", "https://files.example/a.mp4"), ("published", "true")];
    let made = send(net.client.post(url).bearer_auth(token).form(&form)).await.is(200);
    let video = made["id"].as_str().unwrap();
    let second_name = async || {
        let url = format!("{}/v25.0/{video}?fields=post_id", account.base);
        send(net.client.get(url).bearer_auth(token)).await.is(200)["post_id"].clone()
    };
    assert_eq!(second_name().await, Value::Null);
    net.settings(json!({"clock_offset_ms": 6_000})).await;
    let name = second_name().await;
    assert!(name.as_str().unwrap().starts_with(&format!("{}_", account.remote_id)), "{name}");
}
