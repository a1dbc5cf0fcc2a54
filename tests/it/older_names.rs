//! Requests as clients of services with the same specification send them.

mod replay;

use fanfare_tests::{Options, TestApp, User, files};
use serde_json::{Value, json};

async fn quiet() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    (app, user)
}

async fn username(user: &User, account: i64) -> String {
    let all = user.get("/api/v1/accounts").await.expect(200).body;
    let all = all["accounts"].as_array().unwrap().iter();
    let one = all.clone().find(|one| one["id"] == account).unwrap();
    one["username"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn requests_in_older_names_are_accepted() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let name = username(&user, account).await.to_uppercase();
    let later = app.at(3_600);
    let first = json!({"username": format!("@{name}"), "platform": "bluesky", "caption": "One",
        "scheduled_at": later, "group": "spring"});
    let post = user.publish(first.clone()).await;
    assert_eq!(post["account_id"], account, "{post:#}");
    let batch =
        json!({"posts": [first, {"username": "nobody", "platform": "bluesky", "caption": "x"}]});
    let batch = user.post("/api/v1/posts/batch", batch).await.expect(200).body;
    assert_eq!(
        [&batch["total"], &batch["created"], &batch["replayed"], &batch["failed"]],
        [&json!(2), &json!(1), &json!(0), &json!(1)]
    );
    assert_eq!(batch["posts"][0]["replayed"], false);
    assert_eq!(batch["errors"][0]["code"], "account_not_found");
    for kind in ["text", "feed"] {
        let body = json!({"account_id": account, "caption": kind, "post_type": kind, "scheduled_at": later});
        assert_eq!(user.publish(body).await["post_type"], "feed");
    }
    let id = post["id"].clone();
    for (path, body) in [
        (
            format!("/api/v1/posts/{id}/release-id"),
            json!({"release_id": "1", "group_id": "spring"}),
        ),
        (format!("/api/v1/posts/{id}/status"), json!({"status": "paused"})),
    ] {
        let _ = user.put(&path, body).await.expect(200);
    }
    let tool = json!({"helper": "x.quota", "params": {}, "platform": "x"});
    let _ = user.post("/api/v1/platforms/trigger", tool).await.expect(200);
    let file = json!({"file_name": "dot.gif", "content_type": "image/gif", "file_data": "R0lGODlhAQABAIAAAP9mAAAAACwAAAAAAQABAAACAkQBADs="});
    let _ = user.post("/api/v1/media/upload", file).await.expect(201);
    let hook = json!({"url": "https://203.0.113.7/hook"});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body;
    let events = hook["webhook"]["events"].as_array().unwrap();
    assert!(events.len() > 3, "{hook:#}");
    assert!(events.iter().all(|one| one.as_str().unwrap().starts_with("post.")), "{hook:#}");
    let path = format!("/api/v1/webhooks/{}", hook["webhook"]["id"].as_str().unwrap());
    let _ = user.patch(&path, json!({"is_active": false})).await.expect(200);
    let sandbox = json!({"platform": "twitter"});
    let _ = user.post("/api/v1/sandbox/accounts", sandbox).await.expect(201);
}

#[tokio::test]
async fn names_that_mean_no_account_or_several_are_refused() {
    let (_app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let name = username(&user, account).await;
    let post = |username: &str, id: Value| json!({"username": username, "platform": "bluesky", "caption": "x", "dry_run": true, "account_id": id});
    let mut unnamed = post("nobody", Value::Null);
    unnamed.as_object_mut().unwrap().remove("account_id");
    let _ = user.post("/api/v1/posts", unnamed).await.refused(404, "account_not_found");
    let other = post(&name, json!(account + 1));
    let _ = user.post("/api/v1/posts", other).await.refused(400, "conflicting_fields");
    let _ = user.post("/api/v1/posts", post(&name, json!(account))).await.expect(200);
    for (kind, files, code) in [
        ("text", json!(["https://example.com/a.png"]), "post_type_mismatch"),
        ("story", json!([]), "post_type_unsupported"),
    ] {
        let body = json!({"account_id": account, "caption": "x", "post_type": kind, "media_urls": files, "dry_run": true});
        let _ = user.post("/api/v1/posts", body).await.refused(400, code);
    }
}

#[tokio::test]
async fn posts_are_listed_by_offset_with_their_count() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let mut ids = Vec::new();
    for hour in [3, 1, 2] {
        let body = json!({"account_id": account, "caption": format!("{hour}"), "scheduled_at": app.at(hour * 3_600), "group": "g"});
        ids.push(user.publish(body).await["id"].clone());
    }
    let list =
        async |query: &str| user.get(&format!("/api/v1/posts?{query}")).await.expect(200).body;
    let shown = |page: &Value| -> Vec<Value> {
        page["posts"].as_array().unwrap().iter().map(|post| post["id"].clone()).collect()
    };
    let page = list("sort_by=scheduled_at&order=asc&offset=1&limit=2&group_id=g").await;
    assert_eq!(shown(&page), [ids[2].clone(), ids[0].clone()], "{page:#}");
    assert_eq!(
        [&page["total"], &page["limit"], &page["offset"]],
        [&json!(3), &json!(2), &json!(1)]
    );
    let usual = list("limit=200").await;
    assert!(usual.get("total").is_none() && shown(&usual).len() == 3, "{usual:#}");
    let early = list(&format!("scheduled_to={}", app.at(2 * 3_600))).await;
    assert_eq!(shown(&early).len(), 2, "{early:#}");
    let none = list(&format!("created_since={}", app.at(60))).await;
    assert_eq!(shown(&none).len(), 0, "{none:#}");
    for bad in
        ["offset=-1", "offset=10001", "sort_by=caption", "sort_by=created_at&order=up", "limit=201"]
    {
        let _ = user.get(&format!("/api/v1/posts?{bad}")).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn free_slots_of_several_accounts_come_in_one_list() {
    let (_app, user) = quiet().await;
    let (one, two) = (user.connect("bluesky").await, user.connect("mastodon").await);
    let next =
        async |query: &str| user.get(&format!("/api/v1/slots/next?{query}")).await.expect(200).body;
    let all = next("count=4").await;
    let slots = all["slots"].as_array().unwrap();
    assert_eq!(slots.len(), 4, "{all:#}");
    assert_eq!(slots[0]["time"], all["slot"]["scheduled_at"], "{all:#}");
    assert!(slots.iter().any(|slot| slot["account_id"] == one));
    assert!(slots.iter().any(|slot| slot["account_id"] == two));
    let some = next(&format!("account_ids={two}&timezone=Europe/Berlin")).await;
    let slots = some["slots"].as_array().unwrap();
    assert_eq!(slots.len(), 5, "{some:#}");
    assert!(
        slots.iter().all(|slot| slot["account_id"] == two && slot["timezone"] == "Europe/Berlin")
    );
    for bad in ["count=0", "count=11", "account_ids=x"] {
        let _ = user.get(&format!("/api/v1/slots/next?{bad}")).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn lists_by_offset_pass_over_so_many_and_go_on_by_cursor() {
    let (app, user) = quiet().await;
    let mut stored = Vec::new();
    for n in 0..4 {
        stored
            .push(user.upload(&format!("{n}.png"), "image/png", &files::png()).await["id"].clone());
    }
    let list = async |query: &str| user.get(&format!("/api/v1/{query}")).await.expect(200).body;
    let page = list("media?offset=1&limit=2").await;
    let shown = |page: &Value, list: &str| -> Vec<Value> {
        page[list].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
    };
    assert_eq!(shown(&page, "media"), [stored[2].clone(), stored[1].clone()]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = list(&format!("media?cursor={cursor}")).await;
    assert_eq!(shown(&rest, "media"), [stored[0].clone()]);
    let account = user.connect("bluesky").await;
    let mut posts = Vec::new();
    for n in 0..3 {
        let body = json!({"account_id": account, "caption": format!("{n}"), "scheduled_at": app.at(3_600)});
        posts.push(user.publish(body).await["id"].clone());
    }
    let told = |page: &Value| -> Vec<Value> {
        page["activity"].as_array().unwrap().iter().map(|one| one["post_id"].clone()).collect()
    };
    let page = list("activity?offset=1&limit=1&type=post.created").await;
    assert_eq!(told(&page), [posts[1].clone()], "{page:#}");
    let page = list(&format!("activity?post_id={}", posts[0])).await;
    assert_eq!(told(&page), [posts[0].clone()], "{page:#}");
    let page = list(&format!("activity?since={}", app.at(60))).await;
    assert_eq!(told(&page), Vec::<Value>::new());
    for bad in ["activity?offset=-1", "media?offset=10001", "activity?type=post.craeted"] {
        let _ = user.get(&format!("/api/v1/{bad}")).await.refused(400, "invalid_field");
    }
    let both = user.get(&format!("/api/v1/media?offset=1&cursor={cursor}")).await;
    let _ = both.refused(400, "conflicting_fields");
    let _ = user.get("/api/v1/activity?since=yesterday").await.refused(400, "invalid_timestamp");
}

#[tokio::test]
async fn an_order_is_followed_by_itself_and_never_beside_a_cursor() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let mut made = Vec::new();
    for caption in ["1", "2", "3"] {
        let new = json!({"account_id": account, "caption": caption, "status": "draft"});
        made.push(user.publish(new).await["id"].clone());
    }
    let listed = async |query: &str| {
        let body = user.get(&format!("/api/v1/posts?{query}")).await.expect(200).body;
        body["posts"].as_array().unwrap().iter().map(|post| post["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("order=asc").await, made);
    let newest: Vec<Value> = made.iter().rev().cloned().collect();
    assert_eq!(listed("order=desc").await, newest);
    assert_eq!(listed(&format!("order=desc&cursor={}", newest[0])).await, newest[1..]);
    assert_eq!(listed("order=desc&cursor=").await, newest);
    user.get("/api/v1/posts?order=up").await.refused(400, "invalid_field");
    for sorted in ["order=asc", "sort_by=created_at", "offset=1"] {
        let both = format!("/api/v1/posts?{sorted}&cursor={}", newest[0]);
        user.get(&both).await.refused(400, "conflicting_fields");
    }
}
