//! Comments that a network's lists do not show: hidden ones are told from those that are gone.

use std::time::Duration;

use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

use super::{account_with_post, comment, pro, write};

/// Has the inbox read anew, and waits until it was.
pub async fn read(app: &TestApp, user: &User, account: i64) {
    // Nobody who asks is refused after a minute.
    app.pass_time(Duration::from_secs(61)).await;
    let sync = async || {
        let body = json!({ "account_id": account });
        user.post("/api/v1/inbox/sync", body).await.expect(202).body["sync"][0].clone()
    };
    let before = sync().await["last_synced_at"].clone();
    app.eventually("the inbox is read", || async {
        let last = sync().await["last_synced_at"].clone();
        (last.is_string() && last != before).then_some(())
    })
    .await;
}

async fn shown(user: &User, comment: &Value) -> Value {
    let path = format!("/api/v1/inbox/comments/{}", comment["id"]);
    user.get(&path).await.expect(200).body["comment"].clone()
}

#[tokio::test]
async fn what_instagram_does_not_list_is_asked_for_before_it_counts_as_deleted() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let (account, _) = account_with_post(&app, &user, "instagram").await;
    let (mut remote, mut known) = (Vec::new(), Vec::new());
    for text in ["Stays", "Is hidden", "Goes"] {
        let item = json!({"account_id": account, "kind": "comment", "text": text});
        remote.push(write(&user, "instagram", item).await);
        known.push(comment(&app, &user, account, text).await);
    }
    read(&app, &user, account).await;
    // A person does both in Instagram's own app, which sends no webhook of it.
    let on_network = |id: &str| format!("/api/v1/sandbox/instagram/inbox/{id}");
    let hide = async |hidden: bool| {
        let body = json!({"account_id": account, "hidden": hidden});
        assert!(user.patch(&on_network(&remote[1]), body).await.status < 300);
    };
    hide(true).await;
    let gone = format!("{}?account_id={account}", on_network(&remote[2]));
    assert!(user.delete(&gone).await.status < 300);
    read(&app, &user, account).await;
    let states = async || {
        let mut states = Vec::new();
        for one in &known {
            let now = shown(&user, one).await;
            states.push((now["hidden"] == true, now["deleted"] == true));
        }
        states
    };
    assert_eq!(states().await, [(false, false), (true, false), (false, true)]);
    assert_eq!(shown(&user, &known[1]).await["can"], json!(["unhide", "delete"]));
    hide(false).await;
    read(&app, &user, account).await;
    assert_eq!(states().await, [(false, false), (false, false), (false, true)]);
}
