//! Rows that were damaged: nothing is published that differs from what was stored.

use std::time::Duration;

use fanfare_entities::{AccountId, account, secret};
use fanfare_tests::{TestApp, User, served::FileServer};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ConnectionTrait, EntityTrait};
use serde_json::{Value, json};

/// Damages a column of the rows that a condition names.
async fn damage(app: &TestApp, table: &str, column: &str, with: &str, which: &str) {
    let sql = format!("UPDATE {table} SET {column} = '{with}' WHERE {which}");
    let done = app.domain.db.write.execute_unprepared(&sql).await.expect("the row changes");
    assert_eq!(done.rows_affected(), 1, "{sql}");
}

async fn scheduled(app: &TestApp, user: &User, account: i64, file: &FileServer) -> i64 {
    let new = json!({"account_id": account, "caption": "Whole", "media_url": file.url,
        "scheduled_at": app.at(3_600)});
    user.publish(new).await["id"].as_i64().expect("an id")
}

async fn failed(app: &TestApp, user: &User, id: i64) -> Value {
    app.pass_time(Duration::from_secs(3_600)).await;
    app.wait_for_status(user, id, &["published", "failed"]).await
}

#[tokio::test]
async fn a_post_whose_columns_cannot_be_read_fails_and_is_not_sent_without_them() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let file = FileServer::file("a.png", "image/png", fanfare_tests::files::png()).await;
    for (column, with) in [("media", "{\"of\": 2}"), ("settings", "[]"), ("metadata", "7")] {
        let account = user.connect("bluesky").await;
        let id = scheduled(&app, &user, account, &file).await;
        app.eventually("its file is looked at", || async {
            let post = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
            (post["post"]["media"][0]["analysis"] == "ready").then_some(())
        })
        .await;
        damage(&app, "posts", column, with, &format!("id = {id}")).await;
        let post = failed(&app, &user, id).await;
        assert_eq!(post["error"]["code"], "internal_error", "{column}: {post:#}");
        let message = post["error"]["message"].as_str().expect("a message");
        assert!(message.contains(column), "{message}");
        assert_eq!(post["error"]["retryable"], false, "{post:#}");
        assert!(user.on_network("bluesky", account).await.is_empty(), "{column}");
    }
}

#[tokio::test]
async fn a_post_of_an_account_whose_facts_cannot_be_read_is_not_sent() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let file = FileServer::file("a.png", "image/png", fanfare_tests::files::png()).await;
    let id = scheduled(&app, &user, account, &file).await;
    damage(&app, "accounts", "meta", "[]", &format!("id = {account}")).await;
    let post = failed(&app, &user, id).await;
    assert_eq!(post["error"]["code"], "internal_error", "{post:#}");
    assert!(user.on_network("bluesky", account).await.is_empty());
}

#[tokio::test]
async fn a_file_whose_analysis_cannot_be_read_is_not_sent_unconverted() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let asset = user.upload("a.png", "image/png", &fanfare_tests::files::png()).await;
    let url = asset["url"].clone();
    app.eventually("it is looked at", || async {
        let sql = "UPDATE media_analyses SET facts = '[1]' WHERE status = 'ready'";
        let done = app.domain.db.write.execute_unprepared(sql).await.expect("the row changes");
        (done.rows_affected() == 1).then_some(())
    })
    .await;
    let new = json!({"account_id": account, "caption": "Whole", "media_url": url});
    let refused = user.post("/api/v1/posts", new).await;
    assert_eq!(refused.status, 500, "{:#}", refused.body);
    assert!(refused.body.to_string().contains("internal_error"), "{:#}", refused.body);
    assert!(user.on_network("bluesky", account).await.is_empty());
}

/// Changes a bit of the sealed credentials of an account.
async fn damage_credentials(app: &TestApp, account: i64) {
    let db = &app.domain.db.write;
    let row = account::Entity::find_by_id(AccountId(account)).one(db).await.unwrap().unwrap();
    let sealed = secret::Entity::find_by_id(row.secret_id.unwrap()).one(db).await.unwrap().unwrap();
    let mut bytes = sealed.sealed.clone();
    *bytes.last_mut().unwrap() ^= 1;
    let change = secret::ActiveModel { sealed: Set(bytes), ..sealed.into() };
    let _ = change.update(db).await.unwrap();
}

#[tokio::test]
async fn credentials_that_cannot_be_opened_end_a_post_at_once_with_this_cause() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    damage_credentials(&app, account).await;
    // No time passes here: nothing waits for leases.
    for caption in ["One", "Two"] {
        let post = user.publish(json!({"account_id": account, "caption": caption})).await;
        let id = post["id"].as_i64().expect("an id");
        let post = app.wait_for_status(&user, id, &["published", "failed"]).await;
        assert_eq!(post["error"]["code"], "account_disconnected", "{post:#}");
        let message = post["error"]["message"].as_str().expect("a message");
        assert!(message.contains("credentials"), "{message}");
        assert_eq!(post["error"]["retry_safe"], true, "{post:#}");
    }
}
