//! Google Business Profile's protocol: locations, posts of each kind, their files, how they are looked over, limits.

use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, files, film_of, mp4, png, send, until};

async fn get(net: &Net, account: &Account, path: &str) -> Got {
    let token = account.credential("access_token");
    send(net.client.get(format!("{}/{path}", account.base)).bearer_auth(token)).await
}

fn posts_of(account: &Account) -> String {
    format!("v4/{}/localPosts", account.credential("location"))
}

async fn post(net: &Net, account: &Account, path: &str, body: &Value) -> Got {
    let token = account.credential("access_token");
    let request = net.client.post(format!("{}/{path}", account.base)).bearer_auth(token);
    send(request.json(body)).await
}

fn event(title: &str) -> Value {
    let day = |day: u32| json!({"year": 2031, "month": 3, "day": day});
    json!({"title": title, "schedule": {"startDate": day(7), "startTime": {"hours": 19}, "endDate": day(8)}})
}

/// The post once Google has looked it over.
async fn settled(net: &Net, account: &Account, name: &str) -> Value {
    until(async || {
        let shown = get(net, account, &format!("v4/{name}")).await.is(200);
        (shown["state"] != "PROCESSING").then_some(shown)
    })
    .await
}

#[tokio::test]
async fn a_person_has_locations_and_posts_on_each() {
    let net = Net::new().await;
    let (account, other) =
        (net.account("google_business").await, net.account("google_business").await);
    let accounts = get(&net, &account, "v1/accounts").await.is(200);
    let name = accounts["accounts"][0]["name"].as_str().unwrap().to_owned();
    assert!(account.credential("location").starts_with(&format!("{name}/locations/")));
    let path = format!("v1/{name}/locations");
    get(&net, &account, &path).await.is(400);
    let first =
        get(&net, &account, &format!("{path}?readMask=name,metadata&pageSize=1")).await.is(200);
    assert_eq!(first["locations"][0]["metadata"]["canOperateLocalPost"], true);
    assert!(first["locations"][0].get("title").is_none());
    let token = first["nextPageToken"].as_str().unwrap();
    let path = format!("{path}?readMask=name,title&pageToken={token}");
    let second = get(&net, &account, &path).await.is(200);
    let harbour = second["locations"][0]["name"].as_str().unwrap().to_owned();
    assert!(second["nextPageToken"].is_null());
    get(&net, &other, &path).await.is(403);

    let made = post(
        &net,
        &account,
        &format!("v4/{name}/{harbour}/localPosts"),
        &json!({"summary": "There"}),
    )
    .await
    .is(200);
    assert_eq!(
        (made["state"].as_str(), made["topicType"].as_str()),
        (Some("PROCESSING"), Some("STANDARD"))
    );
    let live = settled(&net, &account, made["name"].as_str().unwrap()).await;
    assert_eq!(live["state"], "LIVE");
    let page = send(net.client.get(live["searchUrl"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("There"), "{}", page.text);
    assert_eq!(get(&net, &account, &posts_of(&account)).await.is(200), json!({}));
    let of = async |key: &str| {
        let path = format!("google_business/posts?remote_id={key}");
        net.control(reqwest::Method::GET, &path, Value::Null).await.is(200)["posts"]
            .as_array()
            .unwrap()
            .len()
    };
    let main = account.credential("location").rsplit('/').next().unwrap();
    assert_eq!(of(main).await, 0);
    assert_eq!(of(harbour.trim_start_matches("locations/")).await, 1);
    assert_eq!(of(&account.remote_id).await, 1);
    post(&net, &other, &posts_of(&account), &json!({"summary": "Not mine"})).await.is(403);
    post(
        &net,
        &other,
        &format!("v4/{name}/locations/1/localPosts"),
        &json!({"summary": "Nowhere"}),
    )
    .await
    .is(404);
}

#[tokio::test]
async fn each_kind_of_post_has_its_parts() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let path = posts_of(&account);
    let button = |kind: &str| json!({"actionType": kind, "url": "https://example.org"});
    for body in [
        json!({"topicType": "STANDARD", "summary": "News", "callToAction": button("BOOK")}),
        json!({"topicType": "STANDARD", "summary": "News", "callToAction": {"actionType": "CALL"}}),
        json!({"topicType": "EVENT", "event": event("Evening"), "recurrenceInfo": {"any": "thing"}}),
        json!({"topicType": "OFFER", "summary": "Less", "event": event("Spring"), "offer": {"couponCode": "C"}}),
    ] {
        post(&net, &account, &path, &body).await.is(200);
    }
    let newest = get(&net, &account, &format!("{path}?pageSize=2")).await.is(200);
    assert_eq!(newest["localPosts"][0]["offer"]["couponCode"], "C");
    let path_on = format!("{path}?pageToken={}", newest["nextPageToken"].as_str().unwrap());
    assert_eq!(
        get(&net, &account, &path_on).await.is(200)["localPosts"].as_array().unwrap().len(),
        2
    );
    for (field, body) in [
        ("topic_type", json!({"topicType": "ALERT", "summary": "n"})),
        ("summary", json!({"summary": "n".repeat(1_501)})),
        ("summary", json!({"summary": ""})),
        ("event", json!({"topicType": "EVENT", "summary": "n"})),
        ("event", json!({"summary": "n", "event": event("n")})),
        ("event.title", json!({"topicType": "EVENT", "event": event(&"n".repeat(59))})),
        ("event.schedule", json!({"topicType": "EVENT", "event": {"title": "n"}})),
        ("call_to_action", json!({"summary": "n", "callToAction": button("CALL")})),
        ("call_to_action", json!({"summary": "n", "callToAction": {"actionType": "SHOP"}})),
        (
            "call_to_action",
            json!({"topicType": "OFFER", "event": event("n"), "callToAction": button("SHOP")}),
        ),
        ("offer", json!({"summary": "n", "offer": {}})),
        ("recurrence_info", json!({"summary": "n", "recurrenceInfo": {}})),
        ("", json!({"summary": "n", "caption": "n"})),
    ] {
        let refused = post(&net, &account, &path, &body).await.is(400);
        assert_eq!(refused["error"]["status"], "INVALID_ARGUMENT", "{body}");
        assert_eq!(refused["error"]["details"][0]["errorDetails"][0]["field"], field, "{body}");
    }
}

#[tokio::test]
async fn files_are_fetched_and_looked_at() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let base = files(vec![
        ("/fits.png", "image/png", png(400, 300, 100)),
        ("/small.png", "image/png", png(399, 300, 100)),
        ("/film.mp4", "video/mp4", mp4(100)),
        ("/plain.mp4", "video/mp4", film_of(b"avc1", 30)),
        ("/hevc.mp4", "video/mp4", film_of(b"hvc1", 30)),
    ])
    .await;
    let with = async |format: &str, name: &str| {
        let item = json!({"mediaFormat": format, "sourceUrl": format!("{base}/{name}")});
        post(&net, &account, &posts_of(&account), &json!({"summary": "n", "media": [item]})).await
    };
    with("PHOTO", "fits.png").await.is(200);
    with("VIDEO", "film.mp4").await.is(200);
    with("VIDEO", "plain.mp4").await.is(200);
    for (format, name) in [
        ("PHOTO", "small.png"),
        ("PHOTO", "film.mp4"),
        ("VIDEO", "fits.png"),
        ("VIDEO", "hevc.mp4"),
        ("PHOTO", "none.png"),
        ("PAPER", "fits.png"),
    ] {
        with(format, name).await.is(400);
    }
    let held = net.posts(&account).await;
    assert_eq!((held.len(), held[0]["media"][0]["mime"].as_str()), (3, Some("image/png")));
}

#[tokio::test]
async fn a_phone_number_is_rejected_after_a_while_and_a_post_can_be_taken_back() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let body = json!({"summary": "Call (555) 012-34567 now"});
    let made = post(&net, &account, &posts_of(&account), &body).await.is(200);
    let name = made["name"].as_str().unwrap();
    assert_eq!(settled(&net, &account, name).await["state"], "REJECTED");
    send(net.client.get(made["searchUrl"].as_str().unwrap())).await.is(404);
    let token = account.credential("access_token");
    let gone = || net.client.delete(format!("{}/v4/{name}", account.base)).bearer_auth(token);
    send(gone()).await.is(200);
    send(gone()).await.is(404);
    assert!(net.posts(&account).await.is_empty());
}

#[tokio::test]
async fn a_location_is_changed_ten_times_a_minute() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..10 {
        post(&net, &account, &posts_of(&account), &json!({"summary": "n"})).await.is(200);
    }
    let full = post(&net, &account, &posts_of(&account), &json!({"summary": "n"})).await.is(429);
    assert_eq!(full["error"]["status"], "RESOURCE_EXHAUSTED");
    get(&net, &account, &posts_of(&account)).await.is(200);
}

#[tokio::test]
async fn a_token_is_for_what_was_granted_and_for_an_hour() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let mut stranger = net.account("google_business").await;
    stranger.credentials["access_token"] = json!("ya29.nobody!x");
    let refused = get(&net, &stranger, "v1/accounts").await.is(401);
    assert_eq!(refused["error"]["status"], "UNAUTHENTICATED");
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let query = [
        ("client_id", "1"),
        ("redirect_uri", "http://127.0.0.1/back"),
        ("response_type", "code"),
        ("scope", "https://www.googleapis.com/auth/userinfo.profile"),
        ("account", account.remote_id.as_str()),
    ];
    let url = format!("{}/o/oauth2/v2/auth", account.base);
    let given = send(client.get(url).query(&query)).await;
    let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", "http://127.0.0.1/back"),
        ("client_id", "1"),
        ("client_secret", "s"),
    ];
    let tokens = send(net.client.post(format!("{}/token", account.base)).form(&form)).await.is(200);
    let profile = tokens["access_token"].as_str().unwrap();
    let denied = send(net.client.get(format!("{}/v1/accounts", account.base)).bearer_auth(profile));
    let denied = denied.await.is(403);
    assert_eq!(denied["error"]["details"][0]["reason"], "ACCESS_TOKEN_SCOPE_INSUFFICIENT");
    net.settings(json!({"clock_offset_ms": 3_601_000})).await;
    get(&net, &account, "v1/accounts").await.is(401);
}
