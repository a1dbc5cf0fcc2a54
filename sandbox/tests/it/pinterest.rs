//! Pinterest's protocol: boards, pins of each kind, uploads of videos, tokens, limits.

use reqwest::{
    Client, Method,
    multipart::{Form, Part},
    redirect,
};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, files, mp4, png, send, until};

const BOARD: &str = "549755885175";
const DAY: u64 = 86_400_000;

async fn ask(net: &Net, account: &Account, method: Method, path: &str, body: &Value) -> Got {
    let url = format!("{}/v5/{path}", account.base);
    let request = net.client.request(method, url).bearer_auth(account.credential("access_token"));
    send(if body.is_null() { request } else { request.json(body) }).await
}

async fn pin(net: &Net, account: &Account, body: &Value) -> Got {
    ask(net, account, Method::POST, "pins", body).await
}

fn image(url: &str) -> Value {
    json!({"board_id": BOARD, "description": "About it", "media_source": {"source_type": "image_url", "url": url}})
}

#[tokio::test]
async fn a_picture_is_fetched_and_listed() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let web = files(vec![
        ("/a.png", "image/png", png(20, 30, 0)),
        ("/b.txt", "text/plain", b"no".to_vec()),
    ])
    .await;
    let mut body = image(&format!("{web}/a.png"));
    (body["title"], body["alt_text"]) = (json!("A crane"), json!("Red paper"));
    let made = pin(&net, &account, &body).await.is(201);
    let held = net.posts(&account).await;
    assert_eq!(
        (held[0]["id"].clone(), held[0]["media"][0]["alt"].as_str()),
        (made["id"].clone(), Some("Red paper"))
    );
    let path = format!("boards/{BOARD}/pins?page_size=25");
    let listed = ask(&net, &account, Method::GET, &path, &Value::Null).await.is(200);
    assert_eq!(listed["items"][0]["title"], "A crane");
    let page =
        send(net.client.get(format!("{}/pin/{}", account.base, made["id"].as_str().unwrap())))
            .await;
    assert!(page.status == 200 && page.text.contains("About it"));

    let unreachable = pin(&net, &account, &image(&format!("{web}/none.png"))).await.is(400);
    assert!(unreachable["message"].as_str().unwrap().contains("Unable to reach the URL"));
    pin(&net, &account, &image(&format!("{web}/b.txt"))).await.is(400);
    let path = format!("pins/{}", made["id"].as_str().unwrap());
    ask(&net, &account, Method::DELETE, &path, &Value::Null).await.is(204);
    ask(&net, &account, Method::DELETE, &path, &Value::Null).await.is(404);
}

#[tokio::test]
async fn limits_hold_at_their_edges() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let web = files(vec![
        ("/a.png", "image/png", png(20, 30, 0)),
        ("/b.png", "image/png", png(30, 20, 0)),
    ])
    .await;
    let good = image(&format!("{web}/a.png"));
    for (name, max) in [("title", 100), ("description", 800), ("alt_text", 500)] {
        let mut body = good.clone();
        body[name] = json!("n".repeat(max));
        pin(&net, &account, &body).await.is(201);
        body[name] = json!("n".repeat(max + 1));
        pin(&net, &account, &body).await.is(400);
    }
    let several = |urls: &[&str]| {
        let items: Vec<Value> =
            urls.iter().map(|name| json!({"url": format!("{web}/{name}")})).collect();
        json!({"board_id": BOARD, "media_source": {"source_type": "multiple_image_urls", "items": items}})
    };
    pin(&net, &account, &several(&["a.png", "a.png"])).await.is(201);
    pin(&net, &account, &several(&["a.png"; 5])).await.is(201);
    for refused in [&["a.png"][..], &["a.png"; 6], &["a.png", "b.png"]] {
        pin(&net, &account, &several(refused)).await.is(400);
    }
    for (name, value, status) in [
        ("board_id", json!("1"), 404),
        ("product_tags", json!([{"pin_id": "1"}]), 400),
        ("link", json!("ftp://a"), 400),
    ] {
        let mut body = good.clone();
        body[name] = value;
        pin(&net, &account, &body).await.is(status);
    }
}

#[tokio::test]
async fn a_video_is_registered_sent_and_processed() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let media =
        ask(&net, &account, Method::POST, "media", &json!({"media_type": "video"})).await.is(201);
    let url = media["upload_url"].as_str().unwrap();
    let parameters = media["upload_parameters"].as_object().unwrap();
    let form = || {
        parameters.iter().fold(Form::new(), |form, (name, value)| {
            form.text(name.clone(), value.as_str().unwrap().to_owned())
        })
    };
    let file = || Part::bytes(mp4(100)).file_name("film.mp4");
    send(net.client.post(url).multipart(Form::new().part("file", file()))).await.is(403);
    send(net.client.post(url).multipart(form())).await.is(400);
    let id = media["media_id"].as_str().unwrap();
    let path = format!("media/{id}");
    let video =
        |source: Value| json!({"board_id": BOARD, "description": "film", "media_source": source});
    let with_frame =
        video(json!({"source_type": "video_id", "media_id": id, "cover_image_key_frame_time": 0}));
    pin(&net, &account, &with_frame).await.is(400);
    send(net.client.post(url).multipart(form().part("file", file()))).await.is(204);
    until(async || {
        let shown = ask(&net, &account, Method::GET, &path, &Value::Null).await.is(200);
        (shown["status"] == "succeeded").then_some(())
    })
    .await;
    pin(&net, &account, &video(json!({"source_type": "video_id", "media_id": id}))).await.is(400);
    pin(&net, &account, &with_frame).await.is(201);
    assert_eq!(net.posts(&account).await[0]["media"][0]["mime"], "video/mp4");

    let other =
        ask(&net, &account, Method::POST, "media", &json!({"media_type": "video"})).await.is(201);
    let parameters = other["upload_parameters"].as_object().unwrap();
    let form = parameters.iter().fold(Form::new(), |form, (name, value)| {
        form.text(name.clone(), value.as_str().unwrap().to_owned())
    });
    let broken = form.part("file", Part::bytes(b"no film".to_vec()).file_name("film.mp4"));
    send(net.client.post(other["upload_url"].as_str().unwrap()).multipart(broken)).await.is(204);
    let path = format!("media/{}", other["media_id"].as_str().unwrap());
    until(async || {
        let shown = ask(&net, &account, Method::GET, &path, &Value::Null).await.is(200);
        (shown["status"] == "failed").then_some(())
    })
    .await;
}

#[tokio::test]
async fn boards_come_in_pages() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let first = ask(&net, &account, Method::GET, "boards?page_size=1", &Value::Null).await.is(200);
    assert_eq!(first["items"][0]["id"], BOARD);
    let path = format!("boards?page_size=1&bookmark={}", first["bookmark"].as_str().unwrap());
    let second = ask(&net, &account, Method::GET, &path, &Value::Null).await.is(200);
    assert_eq!(
        (second["items"][0]["privacy"].as_str(), &second["bookmark"]),
        (Some("SECRET"), &Value::Null)
    );
    ask(&net, &account, Method::GET, "boards?page_size=251", &Value::Null).await.is(400);
}

async fn token(net: &Net, account: &Account, fields: &[(&str, &str)]) -> Got {
    let url = format!("{}/v5/oauth/token", account.base);
    send(net.client.post(url).basic_auth("1", Some("s")).form(fields)).await
}

async fn user(net: &Net, account: &Account, token: &Value) -> Got {
    let url = format!("{}/v5/user_account", account.base);
    send(net.client.get(url).bearer_auth(token.as_str().unwrap())).await
}

#[tokio::test]
async fn a_person_consents_and_refresh_tokens_are_good_once() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let back = "http://127.0.0.1/back";
    let query = [
        ("client_id", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "user_accounts:read,pins:read"),
        ("state", "s"),
    ];
    let page = client.get(format!("{}/oauth/", account.base)).query(&query);
    assert!(send(page.try_clone().unwrap()).await.text.contains(&account.username));
    let refused = send(page.try_clone().unwrap().query(&[("account", "none")])).await;
    assert!(refused.headers["location"].to_str().unwrap().contains("error=access_denied"));
    let given = send(page.query(&[("account", account.remote_id.as_str())])).await;
    let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", back),
        ("continuous_refresh", "true"),
    ];
    let url = format!("{}/v5/oauth/token", account.base);
    send(net.client.post(url).form(&fields)).await.is(401);
    let tokens = token(&net, &account, &fields).await.is(200);
    token(&net, &account, &fields).await.is(400);
    assert_eq!(
        (tokens["expires_in"].as_u64(), tokens["refresh_token_expires_in"].as_u64()),
        (Some(2_592_000), Some(5_184_000))
    );
    assert_eq!(
        user(&net, &account, &tokens["access_token"]).await.is(200)["id"],
        account.remote_id.as_str()
    );
    let boards = net.client.get(format!("{}/v5/boards", account.base));
    send(boards.bearer_auth(tokens["access_token"].as_str().unwrap())).await.is(403);

    net.settings(json!({"clock_offset_ms": 30 * DAY + 1_000})).await;
    assert_eq!(user(&net, &account, &tokens["access_token"]).await.is(401)["code"], 2);
    let refresh = tokens["refresh_token"].as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    let fresh = token(&net, &account, &fields).await.is(200);
    user(&net, &account, &fresh["access_token"]).await.is(200);
    assert_ne!(fresh["refresh_token"], tokens["refresh_token"]);
    token(&net, &account, &fields).await.is(400);
}

#[tokio::test]
async fn writes_are_limited_and_the_headers_say_so() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let web = files(vec![("/a.png", "image/png", png(20, 30, 0))]).await;
    net.settings(json!({"rate_limits": true})).await;
    let body = image(&format!("{web}/a.png"));
    for _ in 0..100 {
        pin(&net, &account, &body).await.is(201);
    }
    let full = pin(&net, &account, &body).await;
    let header = |name: &str| full.headers[name].to_str().unwrap().parse::<i64>().unwrap();
    assert_eq!((full.status, header("x-ratelimit-remaining")), (429, 0));
    assert!((1..=60).contains(&header("x-ratelimit-reset")));
}

/// Names and shapes of Pinterest's own description (<https://github.com/pinterest/api-description>, 5.23.0).
#[tokio::test]
async fn numbers_have_the_names_of_the_description_and_stand_where_it_says() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let web = files(vec![("/a.png", "image/png", png(20, 30, 0))]).await;
    let made = pin(&net, &account, &image(&format!("{web}/a.png"))).await.is(201);
    let id = made["id"].as_str().unwrap();
    let set = async |of: Value, metrics: Value| {
        let mut body = json!({"remote_id": account.remote_id, "metrics": metrics});
        body.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
        net.control(Method::PUT, "pinterest/metrics", body).await.is(200);
    };
    let today = made["created_at"].as_str().unwrap()[..10].to_owned();
    set(json!({"post": id}), json!({"impressions": 240, "saves": 20, "likes": 3, "comments": 2}))
        .await;
    set(json!({"date": today}), json!({"views": 7, "saves": 1})).await;
    let range = format!("start_date={today}&end_date={today}");
    let of_pin = async |metrics: &str| {
        let path = format!("pins/{id}/analytics?{range}&metric_types={metrics}");
        ask(&net, &account, Method::GET, &path, &Value::Null).await
    };
    let all = of_pin("IMPRESSION,SAVE").await.is(200)["all"].clone();
    assert_eq!(all["summary_metrics"], json!({"IMPRESSION": 240, "SAVE": 20}));
    assert_eq!(all["lifetime_metrics"], json!({}));
    let all = of_pin("IMPRESSION,TOTAL_COMMENTS,TOTAL_REACTIONS").await.is(200)["all"].clone();
    assert_eq!(all["lifetime_metrics"], json!({"TOTAL_COMMENTS": 2, "TOTAL_REACTIONS": 3}));
    assert_eq!(of_pin("IMPRESSION,ENGAGEMENT").await.is(400)["code"], 1);
    let path = format!("pins/{id}/analytics?{range}");
    ask(&net, &account, Method::GET, &path, &Value::Null).await.is(400);
    let of_account = async |metrics: &str| {
        let path = format!("user_account/analytics?{range}&metric_types={metrics}");
        ask(&net, &account, Method::GET, &path, &Value::Null).await
    };
    let all = of_account("IMPRESSION,SAVE").await.is(200)["all"].clone();
    assert_eq!(all["daily_metrics"][0]["metrics"], json!({"IMPRESSION": 7, "SAVE": 1}));
    assert_eq!(all["summary_metrics"], json!({"IMPRESSION": 7, "SAVE": 1}));
    for unknown in ["PROFILE_VISIT", "VIDEO_MRC_VIEW", "TOTAL_REACTIONS", "IMPRESSIONS"] {
        let refused = of_account(&format!("IMPRESSION,{unknown}")).await.is(400);
        assert_eq!(refused["code"], 1);
        assert!(
            refused["message"].as_str().unwrap().contains(&format!("'{unknown}'")),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_new_pin_has_the_fields_of_the_description() {
    let net = Net::new().await;
    let account = net.account("pinterest").await;
    let web = files(vec![("/a.png", "image/png", png(20, 30, 0))]).await;
    for (name, value, status) in [("sponsor_id", json!("5"), 201), ("note", json!("mine"), 400)] {
        let mut body = image(&format!("{web}/a.png"));
        body[name] = value;
        pin(&net, &account, &body).await.is(status);
    }
}
