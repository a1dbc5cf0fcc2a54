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

fn recurring(info: Value) -> Value {
    let mut event = event("Evening");
    event["recurrenceInfo"] = info;
    event
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
        json!({"topicType": "EVENT", "event": recurring(json!({"weeklyPattern": {"daysOfWeek": ["FRIDAY"]}}))}),
        json!({"topicType": "ALERT", "alertType": "COVID_19", "summary": "We are open"}),
        json!({"topicType": "OFFER", "summary": "Less", "event": event("Spring"), "offer": {"couponCode": "C"}}),
    ] {
        post(&net, &account, &path, &body).await.is(200);
    }
    let newest = get(&net, &account, &format!("{path}?pageSize=2")).await.is(200);
    assert_eq!(newest["localPosts"][0]["offer"]["couponCode"], "C");
    let path_on = format!("{path}?pageToken={}", newest["nextPageToken"].as_str().unwrap());
    assert_eq!(
        get(&net, &account, &path_on).await.is(200)["localPosts"].as_array().unwrap().len(),
        3
    );
    for (field, body) in [
        ("topic_type", json!({"topicType": "NEWS", "summary": "n"})),
        ("alert_type", json!({"topicType": "ALERT", "summary": "n"})),
        ("alert_type", json!({"alertType": "COVID_19", "summary": "n"})),
        ("scheduled_time", json!({"scheduledTime": "tomorrow", "summary": "n"})),
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
        ("event.recurrence_info", json!({"topicType": "EVENT", "event": recurring(json!({}))})),
        (
            "event.recurrence_info",
            json!({"topicType": "EVENT", "event": recurring(json!({"weeklyPattern": {"daysOfWeek": ["PAYDAY"]}}))}),
        ),
    ] {
        let refused = post(&net, &account, &path, &body).await.is(400);
        assert_eq!(refused["error"]["status"], "INVALID_ARGUMENT", "{body}");
        let named = &refused["error"]["details"][0]["errorDetails"][0]["field"];
        assert!(named.as_str().unwrap().starts_with(field), "{body}: {named}");
    }
}

/// Google names the object that does not have the field.
#[tokio::test]
async fn a_name_in_the_wrong_place_is_unknown() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let weekly = json!({"weeklyPattern": {"daysOfWeek": ["FRIDAY"]}});
    let with = |place: &str, name: &str| {
        let mut body = json!({"topicType": "EVENT", "event": event("Evening"), "media": [{"mediaFormat": "PHOTO"}]});
        body.pointer_mut(place).unwrap()[name] = weekly.clone();
        body
    };
    for (place, name, path) in [
        ("", "recurrenceInfo", "local_post"),
        ("", "caption", "local_post"),
        ("/event", "recurrence", "local_post.event"),
        ("/event/schedule", "start", "local_post.event.schedule"),
        ("/media/0", "url", "local_post.media[0]"),
    ] {
        let refused = post(&net, &account, &posts_of(&account), &with(place, name)).await.is(400);
        let said = format!(
            "Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field."
        );
        let error = &refused["error"];
        assert_eq!(
            (&error["status"], &error["message"]),
            (&json!("INVALID_ARGUMENT"), &json!(said))
        );
        assert_eq!(
            error["details"][0]["fieldViolations"][0],
            json!({"field": path, "description": said})
        );
    }
}

#[tokio::test]
async fn a_post_waits_for_its_time() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let body = json!({"summary": "Later", "scheduledTime": "2999-01-01T00:00:00Z"});
    let made = post(&net, &account, &posts_of(&account), &body).await.is(200);
    let name = made["name"].as_str().unwrap();
    assert_eq!(settled(&net, &account, name).await["state"], "SCHEDULED");
    send(net.client.get(made["searchUrl"].as_str().unwrap())).await.is(404);
}

/// Names of Google's discovery document of the performance API, revision 20261026.
#[tokio::test]
async fn daily_metrics_have_googles_names_and_deprecated_ones_are_empty() {
    let net = Net::new().await;
    let account = net.account("google_business").await;
    let metrics = json!({"remote_id": account.remote_id, "date": "2026-11-10", "metrics": {"calls": 3, "messaging_clicks": 4}});
    net.control(reqwest::Method::PUT, "google_business/metrics", metrics).await.is(200);
    let location = account.credential("location").rsplit('/').next().unwrap().to_owned();
    let ask = async |metrics: &[&str], start: &str| {
        let named: String = metrics.iter().map(|name| format!("dailyMetrics={name}&")).collect();
        let day = |name: &str| {
            format!(
                "dailyRange.{name}.year=2026&dailyRange.{name}.month=11&dailyRange.{name}.day=10"
            )
        };
        let path = format!(
            "v1/locations/{location}:fetchMultiDailyMetricsTimeSeries?{named}{}&{}",
            day(start),
            day("endDate"),
        );
        get(&net, &account, &path).await
    };
    let told = ask(&["CALL_CLICKS", "MESSAGING_CLICKS", "BUSINESS_FOOD_ORDERS"], "startDate")
        .await
        .is(200);
    let series = &told["multiDailyMetricTimeSeries"][0]["dailyMetricTimeSeries"];
    let values = |n: usize| series[n]["timeSeries"]["datedValues"].clone();
    assert_eq!((&values(0)[0]["value"], &values(1)[0]["value"]), (&json!("3"), &json!("4")));
    assert_eq!(
        (&series[2]["dailyMetric"], values(2)),
        (&json!("BUSINESS_FOOD_ORDERS"), Value::Null)
    );
    for (metrics, start) in [
        (&["CALL_CLICKS", "PHONE_CALLS"][..], "startDate"),
        (&["CALL_CLICKS"][..], "start_date"),
        (&[][..], "startDate"),
    ] {
        let refused = ask(metrics, start).await.is(400);
        assert_eq!(refused["error"]["status"], "INVALID_ARGUMENT", "{metrics:?}");
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
