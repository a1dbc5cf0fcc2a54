//! Lemmy: an instance with communities, posts and images.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, assert_promised, png, send};

/// What the vendor says of its API.
const FACTS: &str = include_str!("../../facts/lemmy.json");

struct LoggedIn<'a> {
    net: &'a Net,
    base: &'a str,
    jwt: String,
}

impl LoggedIn<'_> {
    async fn get(&self, path: &str) -> Got {
        send(self.net.client.get(format!("{}/api/v3/{path}", self.base)).bearer_auth(&self.jwt))
            .await
    }

    async fn post(&self, body: Value) -> Got {
        let url = format!("{}/api/v3/post", self.base);
        send(self.net.client.post(url).bearer_auth(&self.jwt).json(&body)).await
    }
}

async fn log_in<'a>(net: &'a Net, account: &'a Account) -> LoggedIn<'a> {
    let body = json!({"username_or_email": account.credential("username"), "password": account.credential("password")});
    let url = format!("{}/api/v3/user/login", account.base);
    let jwt =
        send(net.client.post(url).json(&body)).await.is(200)["jwt"].as_str().unwrap().to_owned();
    LoggedIn { net, base: &account.base, jwt }
}

#[tokio::test]
async fn a_post_is_made_in_a_community_and_read_back() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    let site = user.get("site").await.is(200);
    let person = &site["my_user"]["local_user_view"]["person"];
    assert_eq!(person["name"], account.username.as_str());
    let found = user.get("community?name=fanfare@lemmy.example").await.is(200);
    let id = found["community_view"]["community"]["id"].clone();
    assert_eq!(
        user.get("community?name=fanfare").await.is(200)["community_view"]["community"]["id"],
        id
    );
    let made = user
        .post(json!({"name": "Hello", "community_id": id, "body": "Text", "nsfw": true}))
        .await
        .is(200);
    let view = &made["post_view"];
    assert_promised(FACTS, "PostView", view);
    for (kind, part) in [
        ("Post", "post"),
        ("Person", "creator"),
        ("Community", "community"),
        ("PostAggregates", "counts"),
    ] {
        assert_promised(FACTS, kind, &view[part]);
    }
    assert_promised(FACTS, "CommunityView", &found["community_view"]);
    let post = &view["post"];
    assert!(post["published"].as_str().unwrap().ends_with('Z'));
    let listed =
        user.get(&format!("user?username={}&sort=New&limit=10", account.username)).await.is(200);
    assert_eq!(
        (&listed["posts"][0]["post"]["id"], &listed["posts"][0]["post"]["body"]),
        (&post["id"], &json!("Text"))
    );
    let posts = net.posts(&account).await;
    assert_eq!(
        (&posts[0]["title"], &posts[0]["community"]),
        (&json!("Hello"), &json!("fanfare@lemmy.example"))
    );
    assert_eq!(send(net.client.get(posts[0]["url"].as_str().unwrap())).await.status, 200);
}

#[tokio::test]
async fn communities_elsewhere_are_looked_up_first() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    let name = "rust@programming.example";
    assert_eq!(
        user.get(&format!("community?name={name}")).await.is(404)["error"],
        "couldnt_find_community"
    );
    let anonymous =
        send(net.client.get(format!("{}/api/v3/resolve_object?q=!{name}", account.base))).await;
    assert_eq!(anonymous.is(401)["error"], "not_logged_in");
    let found = user.get(&format!("resolve_object?q=!{name}")).await.is(200);
    let id = &found["community"]["community"]["id"];
    assert_eq!(
        user.get(&format!("community?name={name}")).await.is(200)["community_view"]["community"]["id"],
        *id
    );
    assert_eq!(
        user.get("resolve_object?q=!nothing@nowhere.example").await.is(404)["error"],
        "couldnt_find_object"
    );
}

#[tokio::test]
async fn images_are_uploaded_to_the_store() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    let upload = |bytes: Vec<u8>| {
        let form = Form::new().part("images[]", Part::bytes(bytes).file_name("a.png"));
        net.client
            .post(format!("{}/pictrs/image", account.base))
            .bearer_auth(&user.jwt)
            .multipart(form)
    };
    let file =
        send(upload(png(4, 4, 9))).await.is(201)["files"][0]["file"].as_str().unwrap().to_owned();
    let url = format!("{}/pictrs/image/{file}", account.base);
    user.post(json!({"name": "Picture", "community_id": 3, "url": url, "alt_text": "A cat"}))
        .await
        .is(200);
    let posts = net.posts(&account).await;
    assert_eq!(
        (&posts[0]["media"][0]["alt"], &posts[0]["media"][0]["mime"]),
        (&json!("A cat"), &json!("image/png"))
    );
    assert_eq!(send(upload(vec![1; 100])).await.status, 400);
    assert_eq!(send(upload(png(4, 4, 10 << 20))).await.status, 413);
}

#[tokio::test]
async fn limits_and_refusals() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    let post = async |more: Value| {
        let mut body = json!({"name": "Hello", "community_id": 1});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let got = user.post(body).await;
        (got.status, got.body["error"].as_str().unwrap_or_default().to_owned())
    };
    let is = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(post(json!({"name": "n".repeat(200), "body": "n".repeat(50_000), "alt_text": "n".repeat(1_500)})).await, is(200, ""));
    for name in ["n".repeat(201), "no".into(), "two\nlines".into()] {
        assert_eq!(post(json!({"name": name})).await, is(400, "invalid_post_title"));
    }
    assert_eq!(post(json!({"body": "n".repeat(50_001)})).await, is(400, "invalid_body_field"));
    assert_eq!(
        post(json!({"alt_text": "n".repeat(1_501)})).await,
        is(400, "alt_text_length_overflow")
    );
    assert_eq!(post(json!({"url": "ftp://a.example"})).await, is(400, "invalid_url"));
    assert_eq!(post(json!({"community_id": 4})).await, is(400, "only_mods_can_post_in_community"));
    assert_eq!(post(json!({"community_id": 99})).await, is(404, "couldnt_find_community"));
    assert_eq!(post(json!({"honeypot": "x"})).await, is(400, "honeypot_failed"));
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..6 {
        assert_eq!(post(json!({})).await.0, 200);
    }
    assert_eq!(post(json!({})).await, is(400, "rate_limit_error"));
}

#[tokio::test]
async fn a_token_may_end_and_a_log_in_gives_another() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    let body = json!({"name": "Hello", "community_id": 1});
    assert_eq!(user.post(body.clone()).await.is(401)["error"], "not_logged_in");
    log_in(&net, &account).await.post(body).await.is(200);
    let wrong = json!({"username_or_email": account.username, "password": "wrong"});
    let refused =
        send(net.client.post(format!("{}/api/v3/user/login", account.base)).json(&wrong)).await;
    assert_eq!(refused.is(401)["error"], "incorrect_login");
}

#[tokio::test]
async fn a_users_posts_come_in_pages() {
    let net = Net::new().await;
    let account = net.account("lemmy").await;
    let user = log_in(&net, &account).await;
    for name in ["One", "Two", "Three"] {
        user.post(json!({"name": name, "community_id": 1})).await.is(200);
    }
    for (page, names) in [(1, vec!["Three", "Two"]), (2, vec!["One"]), (3, vec![])] {
        let path = format!("user?username={}&sort=New&limit=2&page={page}", account.username);
        let listed = user.get(&path).await.is(200)["posts"].clone();
        let listed = listed.as_array().unwrap().iter();
        let found: Vec<_> =
            listed.map(|view| view["post"]["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found, names);
    }
}
