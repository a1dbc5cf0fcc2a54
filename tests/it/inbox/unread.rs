//! One item of a list in a form that nobody knows costs itself alone: the others arrive, it is not taken for deleted, and the
//! activity list says once a day how many there are.

use std::time::Duration;

use fanfare_tests::{TestApp, User, networks};
use serde_json::{Value, json};

use super::{account_with_post, pro, unlisted::read};

/// Each network with comments, and the operation that lists them.
const LISTS: [(&str, &str); 3] =
    [("facebook", "comments"), ("instagram", "comments"), ("threads", "conversation")];

/// The networks with messages.
const MESSAGES: [&str; 2] = ["facebook", "instagram"];

/// A comment as its network lists it.
fn listed(platform: &str, id: &str, text: &str, time: &Value) -> Value {
    match platform {
        "facebook" => {
            json!({"id": id, "message": text, "created_time": time, "from": {"id": "7", "name": "Ada"}})
        }
        "instagram" => {
            json!({"id": id, "text": text, "timestamp": time, "username": "ada", "from": {"id": "7", "username": "ada"}})
        }
        _ => json!({"id": id, "text": text, "timestamp": time, "username": "ada"}),
    }
}

/// Has the network list three comments, the second of which is of this time.
async fn list(app: &TestApp, platform: &str, texts: [&str; 3], second: Value) {
    let remote = networks::newest_account(app, platform).await;
    let (_, operation) = LISTS.into_iter().find(|(name, _)| *name == platform).unwrap();
    let now = json!("{now}");
    let comments: Vec<_> = ["77_1", "77_2", "77_3"]
        .into_iter()
        .zip(texts)
        .map(|(id, text)| listed(platform, id, text, if id == "77_2" { &second } else { &now }))
        .collect();
    let answer = json!({"on": operation, "status": 200, "body": {"data": comments}});
    let behaviour = json!({"answers": [answer], "hooks": {"drop": true}});
    app.simulator.behave(platform, &remote, &behaviour).await;
}

async fn comments(user: &User, account: i64) -> Vec<Value> {
    let path = format!("/api/v1/inbox/comments?account_id={account}");
    let page = user.get(&path).await.expect(200).body;
    let mut texts: Vec<_> =
        page["comments"].as_array().unwrap().iter().map(|one| one["text"].clone()).collect();
    texts.sort_by_key(Value::to_string);
    texts
}

async fn entries(user: &User) -> Vec<Value> {
    let path = "/api/v1/activity?type=inbox.items_unread";
    user.get(path).await.expect(200).body["activity"].as_array().unwrap().clone()
}

#[tokio::test]
async fn one_unreadable_comment_costs_itself_alone() {
    for (platform, _) in LISTS {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let (account, _) = account_with_post(&app, &user, platform).await;
        list(&app, platform, ["First", "Second", "Third"], json!({"a": "new form"})).await;
        read(&app, &user, account).await;
        assert_eq!(comments(&user, account).await, ["First", "Third"], "{platform}");
        let told = entries(&user).await;
        assert_eq!(told.len(), 1, "{platform}: {told:#?}");
        let message = told[0]["message"].as_str().unwrap();
        assert!(message.starts_with("One message or comment"), "{platform}: {message}");
        assert_eq!(told[0]["account_id"], account, "{platform}: {told:#?}");
    }
}

#[tokio::test]
async fn a_comment_that_cannot_be_read_any_more_is_not_deleted() {
    for (platform, _) in LISTS {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let (account, _) = account_with_post(&app, &user, platform).await;
        list(&app, platform, ["First", "Second", "Third"], json!("{now}")).await;
        read(&app, &user, account).await;
        assert_eq!(comments(&user, account).await, ["First", "Second", "Third"], "{platform}");
        assert!(entries(&user).await.is_empty(), "{platform}: all was read");
        for days in [1, 1, 2] {
            if days == 2 {
                app.pass_time(Duration::from_secs(25 * 3_600)).await;
                app.wait_until_idle().await;
            }
            list(&app, platform, ["First", "Second", "Third"], json!(7)).await;
            read(&app, &user, account).await;
            let left = comments(&user, account).await;
            assert_eq!(left, ["First", "Second", "Third"], "{platform}");
            assert_eq!(entries(&user).await.len(), days, "{platform}");
        }
    }
}

#[tokio::test]
async fn one_unreadable_message_or_conversation_costs_itself_alone() {
    for platform in MESSAGES {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let account = user.connect(platform).await;
        let remote = networks::newest_account(&app, platform).await;
        let message = |id: &str, from: &str, text: &str, time: Value| json!({"id": id, "message": text, "created_time": time, "from": {"id": from, "name": from}});
        let conversation = |from: &str, messages: Value| {
            json!({
                "participants": {"data": [{"id": from, "name": from}]},
                "messages": {"data": messages},
            })
        };
        let now = || json!("{now}");
        let body = json!({"data": [
            conversation("81", json!([
                message("m1", "81", "One", now()),
                message("m2", "81", "Two", json!(["a new form"])),
                message("m3", "81", "Three", now()),
            ])),
            {"participants": "a new form"},
            conversation("82", json!([message("m4", "82", "Four", now())])),
        ]});
        let answer = json!({"on": "conversations", "status": 200, "body": body});
        app.simulator.behave(platform, &remote, &json!({ "answers": [answer] })).await;
        read(&app, &user, account).await;
        let path = format!("/api/v1/inbox/conversations?account_id={account}");
        let page = user.get(&path).await.expect(200).body;
        let mut texts = Vec::new();
        for one in page["conversations"].as_array().unwrap() {
            let path = format!("/api/v1/inbox/conversations/{}", one["id"]);
            let shown = user.get(&path).await.expect(200).body;
            texts.extend(
                shown["messages"].as_array().unwrap().iter().map(|one| one["text"].clone()),
            );
        }
        texts.sort_by_key(Value::to_string);
        assert_eq!(texts, ["Four", "One", "Three"], "{platform}");
        let told = entries(&user).await;
        let message = told[0]["message"].as_str().unwrap();
        assert!(message.starts_with("2 messages and comments"), "{platform}: {message}");
    }
}
