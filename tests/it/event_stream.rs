//! The event stream, as programs follow it.

use fanfare_tests::{Options, Receiver, TestApp, User};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

async fn quiet() -> (TestApp, User, i64) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    (app, user, account)
}

async fn draft(user: &User, account: i64, caption: &str) -> i64 {
    let body = json!({"account_id": account, "caption": caption, "status": "draft"});
    user.publish(body).await["id"].as_i64().unwrap()
}

async fn page(user: &User, query: &str) -> Value {
    user.get(&format!("/api/v1/events?{query}")).await.expect(200).body
}

fn types(page: &Value) -> Vec<&str> {
    page["events"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_stream_always_says_where_it_goes_on() {
    let (app, user, account) = quiet().await;
    for caption in ["one", "two", "three"] {
        draft(&user, account, caption).await;
    }
    let (mut cursor, mut sequences) = ("0".to_owned(), Vec::new());
    loop {
        let page = page(&user, &format!("limit=3&cursor={cursor}")).await;
        let events = page["events"].as_array().unwrap();
        sequences.extend(events.iter().map(|event| event["sequence"].as_i64().unwrap()));
        cursor = page["next_cursor"].as_str().unwrap().to_owned();
        assert_eq!(page["latest_sequence"], 4);
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!((sequences, cursor.as_str()), (vec![1, 2, 3, 4], "4"));
    let end = page(&user, "cursor=4").await;
    assert_eq!((&end["events"], &end["next_cursor"]), (&json!([]), &json!("4")));
    draft(&user, account, "four").await;
    assert_eq!(types(&page(&user, "cursor=4").await), ["post.created"]);

    // After the restore of a backup the stream is shorter than its reader remembers.
    for place in ["after=6", "cursor=6"] {
        let path = format!("/api/v1/events?{place}");
        user.get(&path).await.refused(410, "sequence_unknown");
    }
    let empty = app.user().await;
    let page = page(&empty, "").await;
    assert_eq!((&page["next_cursor"], &page["latest_sequence"]), (&json!("0"), &json!(0)));
}

#[tokio::test]
async fn a_reader_chooses_types_and_an_account_and_misses_nothing() {
    let (_app, user, account) = quiet().await;
    let other = user.connect("mastodon").await;
    let post = draft(&user, account, "one").await;
    draft(&user, other, "two").await;
    user.delete(&format!("/api/v1/posts/{post}")).await.expect(200);
    let created = page(&user, "type=post.created").await;
    assert_eq!(types(&created), ["post.created", "post.created"]);
    let several = page(&user, "type=post.deleted,account.connected").await;
    assert_eq!(types(&several), ["account.connected", "account.connected", "post.deleted"]);
    let of_account = page(&user, &format!("account_id={account}")).await;
    assert_eq!(types(&of_account), ["account.connected", "post.created", "post.deleted"]);
    let both = page(&user, &format!("account_id={other}&type=post.created")).await;
    assert_eq!(types(&both), ["post.created"]);
    // What is left out was read, too.
    let none = page(&user, "type=post.failed").await;
    assert_eq!((&none["events"], &none["next_cursor"]), (&json!([]), &json!("5")));
    user.get("/api/v1/events?type=post.gone").await.refused(400, "invalid_field");
    let listed = user.get("/api/v1/activity?type=post.created,post.deleted").await.expect(200);
    assert_eq!(listed.body["activity"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn lists_take_several_values_of_an_enumeration() {
    let (app, user, account) = quiet().await;
    let other = user.connect("mastodon").await;
    draft(&user, account, "one").await;
    let later = json!({"account_id": other, "caption": "two", "scheduled_at": app.at(600)});
    let later = user.publish(later).await["id"].clone();
    let paused = format!("/api/v1/posts/{later}/status");
    let _ = user.put(&paused, json!({"status": "paused"})).await.expect(200);
    for (query, count) in [
        ("status=draft", 1),
        ("status=draft,paused", 2),
        ("status=draft,%20failed", 1),
        ("platform=mastodon,bluesky", 2),
        ("platform=mastodon,x&status=paused,scheduled", 1),
        ("status=published,failed&offset=0", 0),
    ] {
        let listed = user.get(&format!("/api/v1/posts?{query}")).await.expect(200);
        assert_eq!(listed.body["posts"].as_array().unwrap().len(), count, "{query}");
    }
    for path in [
        "posts?status=draft,gone",
        "posts?status=draft,",
        "posts?platform=bluesky,myspace",
        "inbox/comments?platform=threads,myspace",
        "inbox/conversations?platform=facebook,myspace",
        "ai/video-jobs?status=queued,gone",
        "suggestions?status=pending,gone",
        "google-business/media?status=live,gone",
        "google-business/media?category=COVER,GONE",
    ] {
        user.get(&format!("/api/v1/{path}")).await.refused(400, "invalid_field");
    }
    for path in [
        "inbox/comments?platform=threads,facebook",
        "inbox/conversations?platform=facebook,instagram",
        "ai/video-jobs?status=queued,completed",
        "suggestions?status=pending,dismissed",
        "google-business/media?status=live,failed&category=COVER,PROFILE",
    ] {
        let _ = user.get(&format!("/api/v1/{path}")).await.expect(200);
    }
}

#[tokio::test]
async fn a_connected_account_is_an_event_and_so_is_one_that_comes_back() {
    let (app, user, _) = quiet().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["account.connected", "account.reconnected"]});
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    let named = json!({"platform": "x", "username": "kestrel"});
    let made = user.post("/api/v1/sandbox/accounts", named.clone()).await.expect(201);
    let account = made.body["account"]["id"].clone();
    let set =
        |status: &str| format!("UPDATE accounts SET status = '{status}' WHERE id = {account}");
    let db = &app.domain.db.write;
    db.execute_unprepared(&set("reconnect_required")).await.unwrap();
    let _ = user.post("/api/v1/sandbox/accounts", named.clone()).await.expect(201);
    let _ = user.delete(&format!("/api/v1/accounts/{account}")).await.expect(200);
    let _ = user.post("/api/v1/sandbox/accounts", named).await.expect(201);
    let told = page(&user, &format!("account_id={account}")).await;
    let expected =
        ["account.connected", "account.reconnected", "account.disconnected", "account.connected"];
    assert_eq!(types(&told), expected);
    for event in told["events"].as_array().unwrap() {
        assert_eq!(event["data"]["account"]["id"], account, "{event}");
    }
    let deliveries =
        "SELECT count(*) AS n FROM webhook_deliveries WHERE event_type LIKE 'account.%'";
    let backend = db.get_database_backend();
    let counted = sea_orm::Statement::from_string(backend, deliveries);
    let counted = db.query_one_raw(counted).await.unwrap().unwrap();
    assert_eq!(counted.try_get::<i64>("", "n").unwrap(), 3);
}

#[tokio::test]
async fn what_a_deleted_post_said_is_in_no_event() {
    const CANARY: &str = "canary-7f3a";
    let (app, user, account) = quiet().await;
    let picture = user
        .upload(&format!("{CANARY}.png"), "image/png", &fanfare_tests::files::plain_png(64, 64))
        .await;
    let db = &app.domain.db.write;
    let mut ids = Vec::new();
    for status in ["draft", "scheduled", "failed", "group"] {
        let body = json!({"account_id": account, "caption": CANARY, "scheduled_at": app.at(9_000), "group": "g",
            "media_urls": [picture["public_url"]]});
        let id = user.publish(body).await["id"].as_i64().unwrap();
        let change = json!({"caption": format!("{CANARY} changed")});
        let _ = user.patch(&format!("/api/v1/posts/{id}"), change).await.expect(200);
        if status == "failed" {
            let error = json!({"code": "content_rejected", "message": CANARY, "retryable": false, "retry_safe": true});
            let failed = format!(
                "UPDATE posts SET status = 'failed', due_at = NULL, error = '{error}' WHERE id = {id}"
            );
            db.execute_unprepared(&failed).await.unwrap();
        }
        if status == "draft" {
            let draft = format!("/api/v1/posts/{id}/status");
            let _ = user.put(&draft, json!({"status": "draft"})).await.expect(200);
        }
        ids.push(id);
    }
    let before = page(&user, "limit=100").await.to_string();
    assert!(before.contains(CANARY), "it is there while the posts are");
    for id in &ids[..3] {
        let _ = user.delete(&format!("/api/v1/posts/{id}")).await.expect(200);
    }
    let _ = user.delete("/api/v1/posts/group/g?confirm=true").await.expect(200);
    for path in ["events?limit=100", "activity?limit=100"] {
        let told = user.get(&format!("/api/v1/{path}")).await.expect(200);
        assert!(!told.text.contains(CANARY), "{path}: {}", told.text);
    }
    let told = page(&user, "type=post.deleted").await;
    let gone = told["events"].as_array().unwrap();
    assert_eq!(gone.len(), 4);
    for (event, id) in gone.iter().zip(&ids) {
        assert_eq!(
            (&event["data"]["post"]["id"], &event["data"]["post"]["caption"]),
            (&json!(id), &json!(""))
        );
    }
}
