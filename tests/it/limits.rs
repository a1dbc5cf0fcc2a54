//! The number of times callers may do what, over all services.

use std::{collections::BTreeSet, time::Duration};

use fanfare_tests::{ApiReply, Options, Redis, TestApp, User};
use futures_util::future;
use reqwest::Method;
use serde_json::json;

async fn limited(factor: f64) -> TestApp {
    TestApp::with(Options { workers: false, limits_factor: factor, ..Options::default() }).await
}

fn number(answer: &ApiReply, header: &str) -> u64 {
    answer.header(header).parse().unwrap_or_else(|_| panic!("{header}: {:?}", answer.headers))
}

fn assert_refused(answer: &ApiReply, limit: u64) {
    let answer = answer.clone().refused(429, "rate_limited");
    let said = |name: &str| answer.body[name].as_u64().unwrap();
    assert_eq!(said("limit"), limit, "{}", answer.text);
    assert_eq!(said("retry_after").to_string(), answer.header("retry-after"));
    assert_eq!(answer.body["retryable"], true);
    for (name, header) in [
        ("limit", "x-ratelimit-limit"),
        ("remaining", "x-ratelimit-remaining"),
        ("reset", "x-ratelimit-reset"),
    ] {
        assert_eq!(said(name), number(&answer, header), "{}", answer.text);
    }
}

#[tokio::test]
async fn two_services_together_let_exactly_the_limit_through() {
    let app = limited(1.0).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let second = User::new(&app.second_instance().await, user.key.clone());
    let body = json!({"account_id": account, "caption": "x", "status": "draft"});
    let sent = (0..160).map(|n| {
        let (user, body) = (if n % 2 == 0 { &user } else { &second }, body.clone());
        user.post("/api/v1/posts", body)
    });
    let answers = future::join_all(sent).await;
    let (through, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|one| one.status == 201);
    assert_eq!((through.len(), refused.len()), (100, 60));
    let left: BTreeSet<u64> =
        through.iter().map(|one| number(one, "x-ratelimit-remaining")).collect();
    assert_eq!(left, (0..100).collect());
    refused.iter().for_each(|one| assert_refused(one, 100));
    app.advance(Duration::from_secs(3_600));
    second.post("/api/v1/posts", body).await.expect(201);
}

#[tokio::test]
async fn every_reply_says_where_its_limits_stand() {
    let app = limited(1.0).await;
    let (user, nobody) = (app.user().await, app.without_key());
    let now = u64::try_from(app.clock.now()).unwrap() / 1_000;
    let cases = [
        (user.get("/api/v1/whoami").await.expect(200), 2_000, 3_600),
        (user.get("/api/v1/posts").await.expect(200), 300, 3_600),
        (user.get("/api/v1/posts?limit=x").await.expect(400), 300, 3_600),
        (user.get("/api/v1/posts/1").await.expect(404), 300, 3_600),
        (user.get("/api/v1/nowhere").await.expect(404), 600, 60),
        (user.delete("/api/v1/whoami").await.expect(405), 600, 60),
        (nobody.get("/api/v1/posts").await.refused(401, "missing_api_key"), 600, 60),
    ];
    for (answer, limit, span) in cases {
        assert_eq!(number(&answer, "x-ratelimit-limit"), limit, "{}", answer.text);
        assert!(number(&answer, "x-ratelimit-remaining") < limit);
        assert!((now + 1..=now + span + 1).contains(&number(&answer, "x-ratelimit-reset")));
    }
    assert_eq!(user.get("/healthz").await.expect(200).header("x-ratelimit-limit"), "");
}

#[tokio::test]
async fn only_created_posts_count_and_over_all_keys_of_a_person() {
    let app = limited(0.03).await;
    let id = app.person("ada@example.com").await;
    let scopes = fanfare_core::access::Scope::ALL;
    let (first, second) = (app.key(id, None, &scopes).await, app.key(id, None, &scopes).await);
    let account = first.connect("bluesky").await;
    let good = json!({"account_id": account, "caption": "x", "scheduled_at": app.at(3_600)});
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    let batch = |good_ones, bad_ones| {
        let posts = vec![good.clone(); good_ones].into_iter().chain(vec![bad.clone(); bad_ones]);
        json!({"posts": posts.collect::<Vec<_>>()})
    };
    let made = first.post("/api/v1/posts/batch", batch(20, 5)).await.expect(200);
    assert_eq!(made.body["posts"].as_array().unwrap().len(), 20);
    let made = second.post("/api/v1/posts/batch", batch(15, 0)).await.expect(200);
    assert_eq!(made.body["posts"].as_array().unwrap().len(), 10, "{}", made.text);
    for error in made.body["errors"].as_array().unwrap() {
        assert_eq!((error["status"].as_u64(), error["limit"].as_u64()), (Some(429), Some(30)));
        assert_eq!(error["code"], "rate_limited");
    }
    assert_eq!(
        (number(&made, "x-ratelimit-limit"), number(&made, "x-ratelimit-remaining")),
        (30, 0)
    );
    assert_refused(&first.post("/api/v1/posts", good.clone()).await, 30);
    let dry = json!({"account_id": account, "caption": "x", "dry_run": true});
    first.post("/api/v1/posts", dry).await.expect(200);
    app.advance(Duration::from_secs(3_600));
    second.post("/api/v1/posts", good).await.expect(201);
}

#[tokio::test]
async fn tries_to_connect_count_whatever_comes_of_them() {
    let app = limited(0.1).await;
    let id = app.person("ada@example.com").await;
    let scopes = fanfare_core::access::Scope::ALL;
    let (first, second) = (app.key(id, None, &scopes).await, app.key(id, None, &scopes).await);
    let path = "/api/v1/connect/bluesky/credentials";
    first.post(path, json!({"credentials": {}})).await.expect(400);
    second.post(path, json!({"nonsense": 1})).await.expect(400);
    assert_refused(&first.post(path, json!({"credentials": {}})).await, 2);
    app.user().await.post(path, json!({"credentials": {}})).await.expect(400);
}

#[tokio::test]
async fn a_replay_costs_a_read() {
    let app = limited(0.02).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "x", "scheduled_at": app.at(60_000)});
    let batch = json!({"posts": [post, post]});
    let (single, several) = ("/api/v1/posts", "/api/v1/posts/batch");
    user.post_keyed(single, "one", &post).await.expect(201);
    user.post_keyed(several, "some", &batch).await.expect(200);
    assert_refused(&user.post_keyed(single, "two", &post).await, 2);
    assert_refused(&user.post_keyed(several, "more", &batch).await, 2);
    // Known keys are answered all the same, as often as something may be read.
    app.advance(Duration::from_secs(60));
    for left in (0..6).rev() {
        let again = match left % 2 {
            0 => user.post_keyed(single, "one", &post).await.expect(201),
            _ => user.post_keyed(several, "some", &batch).await.expect(200),
        };
        assert_eq!(again.header("idempotent-replayed"), "true");
    }
    assert_refused(&user.post_keyed(single, "one", &post).await, 6);
    assert_refused(&user.get("/api/v1/posts").await, 6);
    app.advance(Duration::from_secs(3_600));
    user.post_keyed(single, "two", &post).await.expect(201);
}

#[tokio::test]
async fn checks_and_refusals_of_new_posts_count_apart() {
    let app = limited(0.02).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let good = json!({"account_id": account, "caption": "x", "scheduled_at": app.at(60_000)});
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    let dry = json!({"account_id": account, "caption": "x", "dry_run": true});
    let (single, several) = ("/api/v1/posts", "/api/v1/posts/batch");
    for _ in 0..4 {
        // The limit of the address is not what this is about.
        app.advance(Duration::from_secs(60));
        user.post(single, dry.clone()).await.expect(200);
        user.post(single, bad.clone()).await.refused(400, "caption_too_long");
        user.post(several, json!({"posts": [dry, dry]})).await.expect(200);
        user.post(several, json!({"posts": [good], "dry_run": true})).await.expect(200);
        let refused = user.post(several, json!({"posts": [bad, bad]})).await.expect(200);
        assert_eq!(refused.body["failed"], 2, "{}", refused.text);
    }
    // 20 of them, ten times as many as posts may be made.
    assert_refused(&user.post(single, dry.clone()).await, 20);
    user.post(single, good.clone()).await.expect(201);
    // From here on a refusal costs what a post costs.
    user.post(single, bad).await.refused(400, "caption_too_long");
    assert_refused(&user.post(single, good).await, 2);
}

#[tokio::test]
async fn an_address_is_limited_before_its_key_is_looked_at() {
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let options = Options { workers: false, limits_factor: 0.01, ..Options::default() };
    let app = TestApp::with(Options { trusted_proxies: proxies, ..options }).await;
    let nobody = User::new(&app.origin, "fan_nonsense".to_owned());
    let from = |address: &'static str| {
        let nobody = nobody.clone();
        async move {
            let headers = [("X-Forwarded-For", address)];
            nobody.send(Method::GET, "/api/v1/posts", &headers, None).await
        }
    };
    for left in (0..6).rev() {
        let answer = from("203.0.113.9").await.refused(401, "invalid_api_key");
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left);
    }
    assert_refused(&from("203.0.113.9").await, 6);
    assert_refused(&from("198.51.100.1, 203.0.113.9").await, 6);
    from("203.0.113.10").await.refused(401, "invalid_api_key");
    app.advance(Duration::from_secs(60));
    from("203.0.113.9").await.refused(401, "invalid_api_key");
}

#[tokio::test]
async fn without_redis_each_service_counts_for_itself() {
    let mut redis = Redis::start();
    let options = Options { workers: false, limits_factor: 1.0, ..Options::default() };
    let app = TestApp::with(Options { redis_url: Some(redis.url()), ..options }).await;
    let user = app.user().await;
    let read = |count: usize| {
        let user = user.clone();
        async move {
            let sent = (0..count).map(|_| user.get("/api/v1/accounts"));
            let answers = future::join_all(sent).await;
            let refused: Vec<_> = answers.iter().filter(|one| one.status != 200).collect();
            refused.iter().for_each(|one| assert_refused(one, 300));
            answers.len() - refused.len()
        }
    };
    assert_eq!(read(100).await, 100);
    redis.stop();
    let through = read(200).await + read(200).await;
    // A request that found the connection dead may have been counted in neither.
    assert!((300..=302).contains(&through), "{through}");
    redis.restart();
    app.eventually("Redis is used again, from nothing", || async {
        user.get("/api/v1/accounts").await.status.eq(&200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn every_way_of_bringing_media_counts_against_one_limit_of_its_key() {
    let app = limited(0.05).await;
    let id = app.person("ada@example.com").await;
    let scopes = fanfare_core::access::Scope::ALL;
    let (first, second) = (app.key(id, None, &scopes).await, app.key(id, None, &scopes).await);
    let film = fanfare_tests::files::mp4(5_000);
    let announced = json!({"filename": "a.mp4", "content_type": "video/mp4", "size": film.len()});
    let ways = [
        ("upload", json!({})),
        ("signed-upload", announced.clone()),
        ("signed-upload/upload", json!({})),
        ("upload-from-url", json!({"url": "no address"})),
        ("drop-sessions", json!({})),
        ("drop-sessions", json!({})),
    ];
    let mut made = Vec::new();
    for (place, (way, body)) in ways.iter().enumerate() {
        let answer = first.post(&format!("/api/v1/media/{way}"), body.clone()).await;
        let left = 5 - u64::try_from(place).unwrap();
        assert_eq!(number(&answer, "x-ratelimit-limit"), 6, "{way}: {}", answer.text);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), left, "{way}: {}", answer.text);
        made.push(answer.body);
    }
    for (way, body) in ways {
        assert_refused(&first.post(&format!("/api/v1/media/{way}"), body).await, 6);
    }
    // The bytes themselves come under no key, and looking at files is no way of bringing them.
    let kind = [("Content-Type", "video/mp4")];
    first.put_bytes(&made[1]["upload_url"], &kind, film.clone()).await.expect(201);
    let page = json!(format!("{}/file?name=a.mp4", made[4]["drop_url"].as_str().unwrap()));
    first.put_bytes(&page, &[], film).await.expect(201);
    first.get("/api/v1/media").await.expect(200);
    second.post("/api/v1/media/signed-upload", announced.clone()).await.expect(201);
    app.advance(Duration::from_secs(3_600));
    first.post("/api/v1/media/signed-upload", announced).await.expect(201);
}
