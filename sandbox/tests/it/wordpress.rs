//! WordPress: articles, media, terms, with and without pretty permalinks.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, png, send};

fn login(request: RequestBuilder, account: &Account) -> RequestBuilder {
    request.basic_auth(
        account.credential("username"),
        Some(account.credential("application_password")),
    )
}

fn url(account: &Account, path: &str) -> String {
    format!("{}/wp-json/wp/v2/{path}", account.credential("site_url"))
}

async fn get(net: &Net, account: &Account, path: &str) -> Got {
    send(login(net.client.get(url(account, path)), account)).await
}

async fn post(net: &Net, account: &Account, path: &str, body: Value) -> Got {
    send(login(net.client.post(url(account, path)), account).json(&body)).await
}

#[tokio::test]
async fn an_article_with_an_image_is_published() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let me = get(&net, &account, "users/me?context=edit").await.is(200);
    assert_eq!(
        (me["id"].to_string(), me["capabilities"]["publish_posts"].as_bool()),
        (account.remote_id.clone(), Some(true))
    );

    let upload = login(net.client.post(url(&account, "media")), &account)
        .header("content-type", "image/png")
        .header("content-disposition", "attachment; filename=\"My Cat.png\"")
        .body(png(30, 20, 5));
    let media = send(upload).await.is(201);
    assert_eq!(
        (media["mime_type"].as_str(), media["media_details"]["width"].as_u64()),
        (Some("image/png"), Some(30))
    );
    assert!(media["source_url"].as_str().unwrap().ends_with("/my-cat.png"));
    let described =
        post(&net, &account, &format!("media/{}", media["id"]), json!({"alt_text": "a cat"}))
            .await
            .is(200);
    assert_eq!(described["alt_text"], "a cat");
    let category =
        post(&net, &account, "categories", json!({"name": "News & Views"})).await.is(201);
    let tag = post(&net, &account, "tags", json!({"name": "cats"})).await.is(201);

    let article = json!({"title": "Ünder <b>the</b> sun", "content": "One\n\nTwo", "excerpt": "short", "status": "publish",
        "featured_media": media["id"], "categories": [category["id"]], "tags": [tag["id"], 999]});
    let made = post(&net, &account, "posts", article).await;
    assert!(made.headers["location"].to_str().unwrap().ends_with(&made.body["id"].to_string()));
    let made = made.is(201);
    assert_eq!(
        (made["slug"].as_str(), made["content"]["rendered"].as_str()),
        (Some("under-the-sun"), Some("<p>One</p>\n<p>Two</p>\n"))
    );
    assert_eq!(
        (made["categories"].clone(), made["tags"].clone()),
        (json!([category["id"]]), json!([tag["id"]]))
    );
    let posts = net.posts(&account).await;
    assert_eq!(
        (posts[0]["title"].as_str(), posts[0]["media"][0]["alt"].as_str()),
        (Some("Ünder <b>the</b> sun"), Some("a cat"))
    );
    assert_eq!(
        (posts[0]["categories"].clone(), posts[0]["status"].as_str()),
        (json!(["News & Views"]), Some("publish"))
    );
    assert_eq!(posts[0]["url"], made["link"]);
    assert_eq!(send(net.client.get(made["link"].as_str().unwrap())).await.status, 200);
}

#[tokio::test]
async fn a_taken_slug_gets_a_number() {
    let net = Net::new().await;
    let (account, other) = (net.account("wordpress").await, net.account("wordpress").await);
    let article =
        json!({"title": "Same", "content": "x", "status": "publish", "slug": "same-1a2b"});
    let mut slugs = Vec::new();
    for author in [&account, &other, &account] {
        let made = post(&net, author, "posts", article.clone()).await.is(201);
        slugs.push(made["slug"].as_str().unwrap().to_owned());
    }
    assert_eq!(slugs, ["same-1a2b", "same-1a2b-2", "same-1a2b-3"]);
    let found = get(&net, &account, "posts?slug=same-1a2b-2&status=any&context=edit").await;
    assert_eq!(found.headers["x-wp-total"], "1");
    assert_eq!(found.is(200)[0]["author"].to_string(), other.remote_id);
    assert_eq!(get(&net, &account, "posts?slug=none&status=any").await.is(200), json!([]));
    assert_eq!(net.posts(&account).await.len(), 2);
    let id = net.posts(&account).await[0]["id"].as_str().unwrap().to_owned();
    let same = post(&net, &account, &format!("posts/{id}"), json!({"title": "Same, edited"}))
        .await
        .is(200);
    assert_eq!(
        (same["slug"].as_str(), same["title"]["raw"].as_str()),
        (Some("same-1a2b"), Some("Same, edited"))
    );
}

#[tokio::test]
async fn drafts_are_seen_by_editors_only() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let draft = post(&net, &account, "posts", json!({"title": "Later"})).await.is(201);
    assert_eq!(
        (draft["status"].as_str(), draft["slug"].as_str(), draft["generated_slug"].as_str()),
        (Some("draft"), Some(""), Some("later"))
    );
    let anonymous = |path: &str| send(net.client.get(url(&account, path)));
    assert_eq!(anonymous("posts").await.is(200), json!([]));
    assert_eq!(anonymous("posts?status=draft").await.is(400)["code"], "rest_invalid_param");
    assert_eq!(anonymous("posts?context=edit").await.is(401)["code"], "rest_forbidden_context");
    assert_eq!(
        anonymous(&format!("posts/{}", draft["id"])).await.is(401)["code"],
        "rest_forbidden"
    );
    assert_eq!(get(&net, &account, "posts?status=draft").await.is(200)[0]["id"], draft["id"]);
    let future = post(
        &net,
        &account,
        "posts",
        json!({"title": "Future", "status": "publish", "date_gmt": "2099-01-01T00:00:00"}),
    )
    .await
    .is(201);
    assert_eq!(future["status"], "future");
    let path = format!("posts/{}", draft["id"]);
    let trashed = send(login(net.client.delete(url(&account, &path)), &account)).await.is(200);
    assert_eq!(trashed["status"], "trash");
    let gone =
        send(login(net.client.delete(url(&account, &format!("{path}?force=true"))), &account))
            .await
            .is(200);
    assert_eq!(gone["deleted"], true);
    assert_eq!(get(&net, &account, &path).await.is(404)["code"], "rest_post_invalid_id");
}

#[tokio::test]
async fn without_pretty_permalinks() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let plain =
        |path: &str| format!("{}/?rest_route=/wp/v2/{path}", account.credential("site_url"));
    let me = send(login(net.client.get(format!("{}&context=edit", plain("users/me"))), &account))
        .await
        .is(200);
    assert_eq!(me["username"], account.username.as_str());
    let body = json!({"title": "Plain", "content": "x", "status": "publish"});
    let made = send(login(net.client.post(plain("posts")), &account).json(&body)).await.is(201);
    let index = format!(
        "{}/index.php?rest_route=/wp/v2/posts/{}",
        account.credential("site_url"),
        made["id"]
    );
    assert_eq!(send(net.client.get(index)).await.is(200)["slug"], "plain");
    assert_eq!(
        send(net.client.get(format!("{}/wp-json/", account.credential("site_url")))).await.is(200)
            ["namespaces"][1],
        "wp/v2"
    );
    let phases: Vec<_> = net
        .calls(&account)
        .await
        .iter()
        .map(|call| call["phase"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(phases, ["read", "commit"]);
}

#[tokio::test]
async fn bad_passwords_and_requests_are_refused() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let me = |user: &str, password: &str| {
        send(net.client.get(url(&account, "users/me")).basic_auth(user, Some(password)))
    };
    let password = account.credential("application_password");
    me(&account.username, &password.replace(' ', "")).await.is(200);
    assert_eq!(me(&account.username, "wrong").await.is(401)["code"], "incorrect_password");
    assert_eq!(me("nobody", password).await.is(401)["code"], "invalid_username");
    assert_eq!(
        send(net.client.get(url(&account, "users/me"))).await.is(401)["code"],
        "rest_not_logged_in"
    );
    let anonymous = net.client.post(url(&account, "posts")).json(&json!({"title": "x"}));
    assert_eq!(send(anonymous).await.is(401)["code"], "rest_cannot_create");

    let refused = async |path: &str, body: Value| post(&net, &account, path, body).await.is(400);
    assert_eq!(refused("posts", json!({"status": "publish"})).await["code"], "empty_content");
    let status = refused("posts", json!({"title": "x", "status": "live"})).await;
    assert!(
        status["data"]["params"]["status"].as_str().unwrap().contains("publish, future, draft")
    );
    assert_eq!(
        refused("posts", json!({"title": "x", "featured_media": 99})).await["code"],
        "rest_invalid_featured_media"
    );
    assert_eq!(refused("categories", json!({})).await["code"], "rest_missing_callback_param");
    let existing = refused("categories", json!({"name": "uncategorized"})).await;
    assert_eq!(
        (existing["code"].as_str(), existing["data"]["term_id"].as_u64()),
        (Some("term_exists"), Some(1))
    );
    assert_eq!(
        get(&net, &account, "posts?per_page=101").await.is(400)["code"],
        "rest_invalid_param"
    );
    get(&net, &account, "posts?per_page=100").await.is(200);
    assert_eq!(get(&net, &account, "nothing").await.is(404)["code"], "rest_no_route");
}

#[tokio::test]
async fn uploads_are_checked() {
    let net = Net::new().await;
    let account = net.account("wordpress").await;
    let upload = |name: Option<&str>, mime: &str, bytes: Vec<u8>| {
        let mut request = login(net.client.post(url(&account, "media")), &account)
            .header("content-type", mime)
            .body(bytes);
        if let Some(name) = name {
            request =
                request.header("content-disposition", format!("attachment; filename=\"{name}\""));
        }
        send(request)
    };
    assert_eq!(
        upload(None, "image/png", png(1, 1, 0)).await.is(400)["code"],
        "rest_upload_no_content_disposition"
    );
    assert_eq!(
        upload(Some("a.png"), "image/png", vec![]).await.is(400)["code"],
        "rest_upload_no_data"
    );
    assert_eq!(
        upload(Some(""), "image/png", png(1, 1, 0)).await.is(400)["code"],
        "rest_upload_invalid_disposition"
    );
    assert_eq!(
        upload(Some("a.exe"), "image/png", png(1, 1, 0)).await.is(500)["code"],
        "rest_upload_sideload_error"
    );
    assert_eq!(
        upload(Some("a.jpg"), "image/jpeg", png(1, 1, 0)).await.is(500)["code"],
        "rest_upload_sideload_error"
    );
    let first = upload(Some("a.png"), "image/png", png(1, 1, 0)).await.is(201);
    let second = upload(Some("a.png"), "image/png", png(1, 1, 0)).await.is(201);
    assert!(
        first["source_url"].as_str().unwrap().ends_with("/a.png")
            && second["source_url"].as_str().unwrap().ends_with("/a-1.png")
    );
    upload(Some("edge.png"), "image/png", png(1, 1, (32 << 20) - png(0, 0, 0).len())).await.is(201);
    let large = upload(Some("past.png"), "image/png", png(1, 1, 32 << 20)).await;
    assert!(
        large.status == 413 && large.text.contains("nginx"),
        "the web server refuses it before WordPress sees it"
    );
    let form = reqwest::multipart::Form::new()
        .part("file", reqwest::multipart::Part::bytes(png(1, 1, 0)).file_name("f.png"))
        .text("alt_text", "seen");
    let formed = send(login(net.client.post(url(&account, "media")), &account).multipart(form))
        .await
        .is(201);
    assert_eq!(formed["alt_text"], "seen");
}

#[tokio::test]
async fn a_revoked_password_stays_revoked() {
    let net = Net::new().await;
    let (account, other) = (net.account("wordpress").await, net.account("wordpress").await);
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    for _ in 0..2 {
        assert_eq!(
            post(&net, &account, "posts", json!({"title": "x"})).await.is(401)["code"],
            "incorrect_password"
        );
    }
    post(&net, &other, "posts", json!({"title": "x"})).await.is(201);
    net.faults(&account, json!([])).await;
    post(&net, &account, "posts", json!({"title": "x"})).await.is(201);
    // A client may call the account by its host, too.
    let named = net
        .control(
            reqwest::Method::GET,
            &format!("wordpress/posts?remote_id=127.0.0.1:{}", account.remote_id),
            Value::Null,
        )
        .await;
    assert_eq!(named.is(200)["posts"].as_array().unwrap().len(), 1);
}
