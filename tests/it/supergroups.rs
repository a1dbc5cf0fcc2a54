//! A group on Telegram that becomes a supergroup has another id: its account goes on with the one that the network names, and
//! each post is there once (<https://core.telegram.org/bots/api#responseparameters>).

use fanfare_core::AccountId;
use fanfare_entities::account;
use fanfare_publishing::accounts;
use fanfare_tests::{Picture, TestApp, User, networks};
use sea_orm::{ActiveModelTrait, ActiveValue::Set};
use serde_json::{Value, json};

/// A text, a file, and an album.
fn kinds(account: i64) -> [Value; 3] {
    let files = |count: usize| (0..count).map(|n| Picture::lasting().file("image/png", n));
    let body = |caption: &str, count| json!({"account_id": account, "caption": caption, "media_urls": files(count).collect::<Vec<_>>()});
    [body("A text", 0), body("A file", 1), body("An album", 2)]
}

async fn remote_id(app: &TestApp, account: i64) -> String {
    accounts::row(&app.domain, AccountId(account)).await.unwrap().unwrap().remote_id
}

async fn became_supergroup(app: &TestApp) -> String {
    let remote = networks::newest_account(app, "telegram").await;
    let moved = json!({"ids": {"object": "supergroup"}});
    app.simulator.behave("telegram", &remote, &moved).await;
    remote
}

async fn is_connected(user: &User) {
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    assert_eq!(accounts[0]["status"], "connected", "{accounts:#}");
}

#[tokio::test]
async fn an_account_goes_on_with_the_id_of_the_supergroup() {
    for kind in 0..3 {
        let app = TestApp::start().await;
        let user = app.user().await;
        let account = user.connect("telegram").await;
        let before = became_supergroup(&app).await;
        let post = networks::publish(&app, &user, kinds(account)[kind].clone()).await;
        assert_eq!(post["status"], "published", "{post:#}");
        assert_eq!(user.on_network("telegram", account).await.len(), 1, "{post:#}");
        let now = remote_id(&app, account).await;
        assert!(now != before && now.starts_with("-100"), "{before} became {now}");
        is_connected(&user).await;
        let events = user.get("/api/v1/events?type=account.disconnected").await.expect(200).body;
        assert_eq!(events["events"], json!([]));
        // The next one goes straight there.
        let calls = app.simulator.calls("telegram", &before).await.len();
        let next = networks::publish(&app, &user, kinds(account)[0].clone()).await;
        assert_eq!(next["status"], "published", "{next:#}");
        assert_eq!(app.simulator.calls("telegram", &before).await.len(), calls + 1);
        let url = next["platform_post_url"].as_str().unwrap();
        assert!(!url.contains("/c/") || url.contains(&now["-100".len()..]), "{url} {now}");
    }
}

/// A call whose answer is lost says nothing of what was sent: it is not repeated to the new id.
#[tokio::test]
async fn a_lost_answer_is_no_proof_that_nothing_was_sent() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("telegram").await;
    let before = became_supergroup(&app).await;
    user.faults("telegram", account, json!([{"on": "commit", "kind": "drop_after_change"}])).await;
    let post = networks::publish(&app, &user, kinds(account)[0].clone()).await;
    assert_eq!(post["error"]["code"], "outcome_unknown", "{post:#}");
    assert_eq!(post["error"]["retry_safe"], false, "{post:#}");
    assert_eq!(remote_id(&app, account).await, before);
}

/// Another account has the supergroup already: the secret alone changes.
#[tokio::test]
async fn a_supergroup_that_is_connected_twice_keeps_both_accounts() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("telegram").await;
    let before = became_supergroup(&app).await;
    let moved = format!("{before}7");
    let other = user.connect("telegram").await;
    let taken = account::ActiveModel {
        id: Set(AccountId(other)),
        remote_id: Set(moved),
        ..Default::default()
    };
    taken.update(&app.domain.db.write).await.unwrap();
    let post = networks::publish(&app, &user, kinds(account)[0].clone()).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(remote_id(&app, account).await, before);
}
