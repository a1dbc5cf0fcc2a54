//! Several posts at once: each on its own.

use std::time::Duration;

use fanfare_tests::{Options, TestApp};
use serde_json::{Value, json};

#[tokio::test]
async fn what_is_right_is_made_and_what_is_wrong_is_named() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let posts = json!([
        {"account_id": account, "caption": "one"},
        {"account_id": account, "caption": "x".repeat(301)},
        {"account_id": account, "captoin": "three"},
        {"account_id": 999_999, "caption": "four"},
        {"account_id": account, "caption": "five"},
    ]);
    let answer = user.post("/api/v1/posts/batch", json!({ "posts": posts })).await.expect(200);
    let places = |name: &str| -> Vec<i64> {
        let list = answer.body[name].as_array().unwrap();
        list.iter().map(|one| one["index"].as_i64().unwrap()).collect()
    };
    assert_eq!((places("posts"), places("errors")), (vec![0, 4], vec![1, 2, 3]));
    let error = |place: usize| answer.body["errors"][place].clone();
    assert_eq!(
        (error(0)["status"].clone(), error(0)["code"].clone()),
        (json!(400), json!("caption_too_long"))
    );
    assert_eq!(error(2)["status"], 404);
    let many: Vec<Value> =
        (0..26).map(|n| json!({"account_id": account, "caption": n.to_string()})).collect();
    user.post("/api/v1/posts/batch", json!({ "posts": many })).await.refused(400, "too_many_items");
    let held = user.get("/api/v1/posts?limit=100").await.body["posts"].as_array().unwrap().len();
    assert_eq!(held, 2);
}

#[tokio::test]
async fn an_item_that_is_no_object_refuses_the_whole_body() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let good = json!({"account_id": account, "caption": "good"});
    for odd in [json!(null), json!([null]), json!([]), json!(7), json!(true), json!("text")] {
        let body = json!({"posts": [good, odd, odd]});
        let refused = user.post_keyed("/api/v1/posts/batch", "odd", &body).await;
        let refused = refused.refused(400, "invalid_field").body;
        let fields: Vec<_> = refused["validation_errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|broken| (broken["field"].clone(), broken["code"].clone()))
            .collect();
        let named = |field: &str| (json!(field), json!("invalid_field"));
        assert_eq!(fields, [named("posts[1]"), named("posts[2]")], "{odd}: {refused}");
    }
    assert_eq!(user.get("/api/v1/posts").await.body["posts"], json!([]));
    // A refusal is not kept under the key.
    let made = user.post_keyed("/api/v1/posts/batch", "odd", &json!({"posts": [good]})).await;
    assert_eq!(made.expect(200).body["created"], 1);
}

#[tokio::test]
async fn a_retry_replays_what_succeeded_and_runs_again_what_failed() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let good = json!({"account_id": account, "caption": "good"});
    let bad = json!({"account_id": account, "caption": "x".repeat(301)});
    let first = json!({"posts": [good, bad]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &first).await.expect(200);
    let id = answer.body["posts"][0]["post"]["id"].clone();
    let mended = json!({"posts": [good, {"account_id": account, "caption": "mended"}]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &mended).await.expect(200);
    assert_eq!(answer.body["posts"][0]["post"]["id"], id);
    assert_eq!(answer.body["posts"].as_array().unwrap().len(), 2);
    let again = user.post_keyed("/api/v1/posts/batch", "batch-1", &mended).await.expect(200);
    assert_eq!(again.header("idempotent-replayed"), "true");
    let changed = json!({"posts": [{"account_id": account, "caption": "another"}]});
    let answer = user.post_keyed("/api/v1/posts/batch", "batch-1", &changed).await.expect(200);
    assert_eq!(answer.body["errors"][0]["code"], "idempotency_mismatch");
    let held = user.get("/api/v1/posts").await.body["posts"].as_array().unwrap().len();
    assert_eq!(held, 2);
}

/// Returns 25 items whose captions count up: some with media, whose preparation takes longer, over two accounts.
fn counted(accounts: [i64; 2], picture: &str, time: Option<&str>) -> Vec<Value> {
    let item = |n: usize| {
        let mut item = json!({"account_id": accounts[n / 13], "caption": format!("{n:02}")});
        if n.is_multiple_of(5) {
            item["media_urls"] = json!([picture]);
        }
        if let Some(time) = time {
            item["scheduled_at"] = json!(time);
        }
        item
    };
    (0..25).map(item).collect()
}

#[tokio::test]
async fn items_take_their_ids_and_times_in_the_order_of_the_body() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let accounts = [user.connect("bluesky").await, user.connect("mastodon").await];
    let file = user.upload("a.png", "image/png", &fanfare_tests::files::plain_png(300, 200)).await;
    let picture = file["public_url"].as_str().unwrap().to_owned();
    let later = app.at(3_600);
    for (round, time) in [None, Some(later.as_str()), None, Some(later.as_str())].iter().enumerate()
    {
        let body = json!({"posts": counted(accounts, &picture, *time)});
        // The clock goes on while the items are looked at.
        let clock = app.clock.clone();
        let ticking = tokio::spawn(async move {
            loop {
                clock.advance(1);
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        });
        let answer = user.post("/api/v1/posts/batch", body).await.expect(200);
        ticking.abort();
        assert_eq!(answer.body["created"], 25, "{}", answer.body);
        let mut made: Vec<&Value> =
            answer.body["posts"].as_array().unwrap().iter().map(|item| &item["post"]).collect();
        // The order in which an account's posts are published.
        made.sort_by_key(|post| {
            (post["scheduled_at"].as_str().unwrap().to_owned(), post["id"].as_i64().unwrap())
        });
        let captions: Vec<&str> =
            made.iter().map(|post| post["caption"].as_str().unwrap()).collect();
        let right: Vec<String> = (0..25).map(|n| format!("{n:02}")).collect();
        assert_eq!(captions, right, "round {round}");
    }
}

#[tokio::test]
async fn items_with_the_same_words_for_one_account_are_warned_of() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let (account, other) = (user.connect("bluesky").await, user.connect("mastodon").await);
    let sale = "Our spring sale begins today!";
    let later = |days: i64| app.at(days * 86_400);
    let item = |account: i64, caption: &str, days: i64| json!({"account_id": account, "caption": caption, "scheduled_at": later(days)});
    let posts = json!([
        item(account, sale, 1),
        item(account, "our SPRING sale begins today", 2),
        item(other, sale, 1),
        item(account, "Something quite different", 1),
        item(account, sale, 12),
        item(account, &"x".repeat(301), 1),
        item(account, sale, 7),
    ]);
    // The places of the items that are warned of, each with the earlier item that its warning names.
    let expected = json!([[1, "Item 0 "], [6, "Item 0 "]]);
    for dry_run in [true, false] {
        let body = json!({"posts": posts, "dry_run": dry_run});
        let made = user.post_keyed("/api/v1/posts/batch", "doubles", &body).await.expect(200).body;
        let mut warned = Vec::new();
        for made in made["posts"].as_array().unwrap() {
            for warning in made["warnings"].as_array().unwrap() {
                assert_eq!(
                    (&warning["code"], &warning["field"]),
                    (&json!("duplicate_content"), &json!("caption"))
                );
                let said = warning["message"].as_str().unwrap();
                warned.push(json!([made["index"], &said[..7]]));
            }
        }
        assert_eq!(json!(warned), expected, "{dry_run}: {made:#}");
    }
    // A replay says the same.
    let body = json!({"posts": posts, "dry_run": false});
    let again = user.post_keyed("/api/v1/posts/batch", "doubles", &body).await.expect(200).body;
    assert_eq!(again["posts"][1]["warnings"][0]["code"], "duplicate_content", "{again:#}");
    assert_eq!(again["posts"][1]["warnings"][0]["parameters"]["items"], json!([0]), "{again:#}");
    assert_eq!(again["replayed"], 6);
}
