//! The social inbox: what people write reaches the workspace once, and answers reach them once.

mod actions;
mod echoes;
mod files;
pub mod gate;
mod hooks;
mod killed;
pub mod lost;
mod names;
mod order;
mod records;
pub mod sender;
mod unlisted;
mod unread;

use fanfare_core::{
    UserId,
    access::{PlanTier, Scope},
};
use fanfare_tests::{TestApp, User};
use serde_json::{Value, json};

/// The networks with an inbox, and whether they have direct messages.
const NETWORKS: [(&str, bool); 3] = [("facebook", true), ("instagram", true), ("threads", false)];

/// A person whose workspaces have the inbox.
pub async fn pro(app: &TestApp) -> User {
    let user = app.user().await;
    upgrade(app, &user, PlanTier::Pro).await;
    user
}

/// Gives the person's own workspace a plan.
async fn upgrade(app: &TestApp, user: &User, plan: PlanTier) {
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let id = me["workspaces"][0]["id"].as_str().unwrap().parse().unwrap();
    fanfare_people::users::set_plan(&app.domain, fanfare_core::WorkspaceId(id), plan, None)
        .await
        .unwrap();
}

/// A connected account with a public post.
async fn account_with_post(app: &TestApp, user: &User, platform: &str) -> (i64, Value) {
    let account = user.connect(platform).await;
    let post = fanfare_tests::networks::post(platform, account);
    let post = fanfare_tests::networks::publish(app, user, post).await;
    assert_eq!(post["status"], "published", "{post:#}");
    (account, post)
}

/// Has somebody write to an account; the network's id of it.
async fn write(user: &User, platform: &str, item: Value) -> String {
    let path = format!("/api/v1/sandbox/{platform}/inbound");
    user.post(&path, item).await.expect(201).body["id"].as_str().unwrap().to_owned()
}

/// Waits for the first conversation.
async fn conversation(app: &TestApp, user: &User, account: i64) -> Value {
    let path = format!("/api/v1/inbox/conversations?account_id={account}");
    app.eventually("a conversation is there", || async {
        let page = user.get(&path).await.expect(200).body;
        page["conversations"].get(0).cloned()
    })
    .await
}

/// Waits for the comment with this text.
async fn comment(app: &TestApp, user: &User, account: i64, text: &str) -> Value {
    let path = format!("/api/v1/inbox/comments?account_id={account}");
    app.eventually("a comment is there", || async {
        let page = user.get(&path).await.expect(200).body;
        let comments = page["comments"].as_array().unwrap();
        comments.iter().find(|comment| comment["text"] == text).cloned()
    })
    .await
}

/// Has somebody comment on the account's post; the comment's address.
pub async fn commented(
    app: &TestApp,
    user: &User,
    platform: &str,
    account: i64,
    text: &str,
) -> String {
    let item = json!({"account_id": account, "kind": "comment", "text": text});
    write(user, platform, item).await;
    format!("/api/v1/inbox/comments/{}", comment(app, user, account, text).await["id"])
}

/// Returns all that the network holds for an account.
async fn held(user: &User, platform: &str, account: i64) -> Vec<Value> {
    let path = format!("/api/v1/sandbox/{platform}/inbox?account_id={account}");
    user.get(&path).await.expect(200).body["inbox"].as_array().unwrap().clone()
}

/// Counts the account's own texts of this wording on the network.
async fn sent(user: &User, platform: &str, account: i64, text: &str) -> usize {
    let held = held(user, platform, account).await;
    held.iter().filter(|item| item["own"] == true && item["text"] == text).count()
}

#[tokio::test]
async fn a_message_is_answered_and_the_conversation_shows_both() {
    for (platform, _) in NETWORKS.into_iter().filter(|(_, messages)| *messages) {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let account = user.connect(platform).await;
        let ada = json!({"id": "77001", "username": "ada.l"});
        let item = json!({"account_id": account, "kind": "message", "text": "Are you open?", "author": ada});
        write(&user, platform, item).await;
        let conversation = conversation(&app, &user, account).await;
        assert_eq!(conversation["participant"]["id"], "77001");
        assert_eq!(conversation["can"], json!(["reply"]));
        assert_eq!(conversation["unanswered"], true);
        assert_eq!(conversation["last_message"]["text"], "Are you open?");
        let path = format!("/api/v1/inbox/conversations/{}", conversation["id"]);
        let reply = user.post(&format!("{path}/reply"), json!({"text": "Until six."})).await;
        let message = reply.expect(201).body["message"].clone();
        assert_eq!((&message["status"], &message["direction"]), (&json!("sent"), &json!("out")));
        assert!(message["platform_message_id"].is_string());
        let shown = user.get(&path).await.expect(200).body;
        let texts: Vec<_> =
            shown["messages"].as_array().unwrap().iter().map(|one| &one["text"]).collect();
        assert_eq!(texts, ["Until six.", "Are you open?"]);
        assert_eq!(shown["conversation"]["unanswered"], false);
        assert_eq!(sent(&user, platform, account, "Until six.").await, 1);
    }
}

#[tokio::test]
async fn comments_are_answered_hidden_shown_and_deleted() {
    for (platform, _) in NETWORKS {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let (account, post) = account_with_post(&app, &user, platform).await;
        let item = json!({"account_id": account, "kind": "comment", "text": "Lovely", "post_id": post["id"].to_string()});
        write(&user, platform, item).await;
        let comment = comment(&app, &user, account, "Lovely").await;
        assert_eq!(comment["post_id"], post["id"], "{platform}");
        assert_eq!((&comment["unanswered"], &comment["hidden"]), (&json!(true), &json!(false)));
        let path = format!("/api/v1/inbox/comments/{}", comment["id"]);
        let reply = user.post(&format!("{path}/reply"), json!({"text": "Thank you"})).await;
        let answer = reply.expect(201).body["comment"].clone();
        assert_eq!((&answer["status"], &answer["parent_id"]), (&json!("sent"), &comment["id"]));
        let shown = user.get(&path).await.expect(200).body;
        assert_eq!(shown["replies"].as_array().unwrap().len(), 1);
        assert_eq!(shown["comment"]["unanswered"], false);
        assert_eq!(sent(&user, platform, account, "Thank you").await, 1);
        for hidden in [true, true, false] {
            let changed = user.patch(&path, json!({ "hidden": hidden })).await.expect(200).body;
            assert_eq!(changed["comment"]["hidden"], hidden, "{platform}");
            let id = &comment["platform_comment_id"];
            let there = held(&user, platform, account).await;
            let there = there.iter().find(|item| item["id"] == *id).unwrap();
            assert_eq!(there["hidden"], hidden, "{platform}");
        }
        if platform == "threads" {
            user.delete(&path).await.refused(400, "delete_not_supported");
            continue;
        }
        for _ in 0..2 {
            let gone = user.delete(&path).await.expect(200).body;
            assert_eq!(gone, json!({"deleted": true, "id": comment["id"]}));
        }
        let shown = user.get(&path).await.expect(200).body;
        assert_eq!(
            (&shown["comment"]["deleted"], &shown["comment"]["can"]),
            (&json!(true), &json!([]))
        );
    }
}

#[tokio::test]
async fn what_there_was_before_is_read_and_told_to_nobody() {
    for (platform, messages) in NETWORKS {
        let app = TestApp::start().await;
        let user = app.user().await;
        upgrade(&app, &user, PlanTier::Starter).await;
        let (account, _) = account_with_post(&app, &user, platform).await;
        // Without the plan nothing is shown, and nothing is told.
        user.get("/api/v1/inbox/comments").await.refused(403, "feature_not_available");
        write(&user, platform, json!({"account_id": account, "kind": "comment", "text": "Early"}))
            .await;
        if messages {
            write(&user, platform, json!({"account_id": account, "kind": "message", "text": "Hi"}))
                .await;
        }
        let wanted = if messages { 2 } else { 1 };
        app.eventually("what the network sent is applied", || async {
            use fanfare_entities::inbound_event::{Column, Entity};
            use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
            let done = Entity::find().filter(Column::DueAt.is_null());
            (done.count(&app.domain.db.write).await.unwrap() == wanted).then_some(())
        })
        .await;
        upgrade(&app, &user, PlanTier::Pro).await;
        let asked =
            user.post("/api/v1/inbox/sync", json!({"account_id": account})).await.expect(202).body;
        assert_eq!(asked["sync"][0]["status"], "queued");
        app.eventually("it is read", || async {
            let asked = user.post("/api/v1/inbox/sync", json!({})).await.expect(202).body;
            (asked["sync"][0]["status"] == "cooldown"
                && asked["sync"][0]["last_synced_at"].is_string())
            .then_some(())
        })
        .await;
        comment(&app, &user, account, "Early").await;
        if messages {
            conversation(&app, &user, account).await;
        }
        let events = user.get("/api/v1/events").await.expect(200).body.to_string();
        assert!(!events.contains("comment.received") && !events.contains("message.received"));
        write(&user, platform, json!({"account_id": account, "kind": "comment", "text": "Late"}))
            .await;
        comment(&app, &user, account, "Late").await;
        let events = user.get("/api/v1/events").await.expect(200).body.to_string();
        assert_eq!(events.matches("\"comment.received\"").count(), 1, "{events}");
    }
}

#[tokio::test]
async fn a_sync_asked_for_twice_is_made_once_and_other_networks_have_none() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let (facebook, bluesky) = (user.connect("facebook").await, user.connect("bluesky").await);
    let asked =
        user.post("/api/v1/inbox/sync", json!({"account_id": bluesky})).await.expect(202).body;
    assert_eq!(asked["sync"][0]["status"], "not_supported");
    let asked = user.post("/api/v1/inbox/sync", json!({})).await.expect(202).body;
    assert_eq!(asked["sync"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&asked["sync"][0]["account_id"], &asked["sync"][0]["status"]),
        (&json!(facebook), &json!("queued"))
    );
    let again = user.post("/api/v1/inbox/sync", json!({})).await.expect(202).body;
    assert!(["cooldown", "running"].contains(&again["sync"][0]["status"].as_str().unwrap()));
    app.eventually("it is read", || async {
        let asked = user.post("/api/v1/inbox/sync", json!({})).await.expect(202).body;
        asked["sync"][0]["last_synced_at"].is_string().then_some(())
    })
    .await;
    app.pass_time(std::time::Duration::from_secs(61)).await;
    let asked = user.post("/api/v1/inbox/sync", json!({})).await.expect(202).body;
    assert_eq!(asked["sync"][0]["status"], "queued", "{asked:#}");
}

#[tokio::test]
async fn brand_locked_people_see_the_inbox_of_their_brands_alone() {
    use fanfare_core::access::Role;
    let app = TestApp::start().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    fanfare_people::users::set_plan(&app.domain, team, PlanTier::Agency, None).await.unwrap();
    let (_, admin) = app.member(team, Role::Admin).await;
    let (locked_id, locked) = app.member(team, Role::Editor).await;
    let (viewer_id, viewer) = app.member(team, Role::Viewer).await;
    let brand = app.brand(team, &[locked_id, viewer_id]).await;
    let mine = json!({"platform": "facebook", "workspace_client_id": brand});
    let mine = admin.post("/api/v1/sandbox/accounts", mine).await.expect(201).body["account"]["id"]
        .as_i64()
        .unwrap();
    let other = admin.connect("facebook").await;
    for account in [mine, other] {
        write(
            &admin,
            "facebook",
            json!({"account_id": account, "kind": "message", "text": "Hello"}),
        )
        .await;
        conversation(&app, &admin, account).await;
    }
    let all = admin.get("/api/v1/inbox/conversations").await.expect(200).body;
    assert_eq!(all["conversations"].as_array().unwrap().len(), 2);
    let seen = locked.get("/api/v1/inbox/conversations").await.expect(200).body;
    let seen = seen["conversations"].as_array().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0]["account_id"], mine);
    let hidden =
        all["conversations"].as_array().unwrap().iter().find(|one| one["account_id"] == other);
    let path = format!("/api/v1/inbox/conversations/{}", hidden.unwrap()["id"]);
    locked.get(&path).await.refused(404, "conversation_not_found");
    let reply = json!({"text": "No"});
    locked
        .post(&format!("{path}/reply"), reply.clone())
        .await
        .refused(404, "conversation_not_found");
    let path = format!("/api/v1/inbox/conversations/{}", seen[0]["id"]);
    assert_eq!(viewer.get(&path).await.expect(200).body["conversation"]["can"], json!([]));
    viewer
        .post(&format!("{path}/reply"), reply.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    let _ = locked.post(&format!("{path}/reply"), reply).await.expect(201);
}

#[tokio::test]
async fn reading_and_answering_need_scopes_of_their_own() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let (account, _) = account_with_post(&app, &user, "facebook").await;
    let _ =
        write(&user, "facebook", json!({"account_id": account, "kind": "message", "text": "Hi"}))
            .await;
    let id = conversation(&app, &user, account).await["id"].clone();
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let person = UserId(me["user"]["id"].as_str().unwrap().parse().unwrap());
    let reader = app.key(person, None, &[Scope::PostsRead]).await;
    let writer = app.key(person, None, &[Scope::PostsWrite]).await;
    let reply = format!("/api/v1/inbox/conversations/{id}/reply");
    for path in ["conversations", "comments", &format!("conversations/{id}")] {
        let path = format!("/api/v1/inbox/{path}");
        let _ = reader.get(&path).await.expect(200);
        writer.get(&path).await.refused(403, "insufficient_scope");
    }
    reader.post(&reply, json!({"text": "Hello"})).await.refused(403, "insufficient_scope");
    let sent = writer.post(&reply, json!({"text": "Hello"})).await;
    assert!([201, 202].contains(&sent.status), "{}", sent.text);
}
