//! `can` names what is possible and nothing else: every state, role and network, and every action tried.

use std::time::Duration;

use fanfare_core::access::{PlanTier, Role};
use fanfare_tests::{ApiReply, TestApp, User};
use serde_json::{Value, json};

use super::{comment, conversation, write};

const ACTIONS: [&str; 5] = ["reply", "hide", "unhide", "delete", "private_reply"];

const STATES: [&str; 5] = ["fresh", "hidden", "deleted", "own", "below"];

/// Does something with a comment.
async fn act(user: &User, path: &str, action: &str, nth: usize) -> ApiReply {
    match action {
        "reply" => {
            user.post(&format!("{path}/reply"), json!({"text": format!("Answer {nth}")})).await
        }
        "private_reply" => {
            let body = json!({"text": format!("Private {nth}"), "private": true});
            user.post(&format!("{path}/reply"), body).await
        }
        "hide" => user.patch(path, json!({"hidden": true})).await,
        "unhide" => user.patch(path, json!({"hidden": false})).await,
        _ => user.delete(path).await,
    }
}

struct Stage {
    app: TestApp,
    admin: User,
    platform: &'static str,
    account: i64,
}

impl Stage {
    /// A comment in this state; its address.
    async fn comment(&self, state: &str, nth: usize) -> String {
        let Self { app, admin, platform, account } = self;
        let text = format!("Comment {nth}");
        let item = json!({"account_id": account, "kind": "comment", "text": text});
        let remote = write(admin, platform, item).await;
        let top = comment(app, admin, *account, &text).await;
        let path = format!("/api/v1/inbox/comments/{}", top["id"]);
        match state {
            "hidden" => {
                let _ = admin.patch(&path, json!({"hidden": true})).await.expect(200);
            }
            "deleted" if *platform != "threads" => {
                let _ = admin.delete(&path).await.expect(200);
            }
            "own" => {
                let body = json!({"text": format!("Own {nth}")});
                let own = admin.post(&format!("{path}/reply"), body).await.expect(201).body;
                return format!("/api/v1/inbox/comments/{}", own["comment"]["id"]);
            }
            "below" => {
                let text = format!("Below {nth}");
                let item = json!({"account_id": account, "kind": "comment", "text": text, "parent_id": remote});
                write(admin, platform, item).await;
                let below = comment(app, admin, *account, &text).await;
                return format!("/api/v1/inbox/comments/{}", below["id"]);
            }
            _ => {}
        }
        path
    }
}

/// Is this the answer to something that `can` names?
fn done(answer: &ApiReply) -> bool {
    matches!(answer.status, 200 | 201)
}

#[tokio::test]
async fn what_can_be_done_with_a_comment_is_what_it_says() {
    for platform in ["facebook", "instagram", "threads"] {
        let app = TestApp::start().await;
        let owner = app.person("owner@example.com").await;
        let team = app.workspace(owner).await;
        fanfare_people::users::set_plan(&app.domain, team, PlanTier::Pro, None).await.unwrap();
        let (_, admin) = app.member(team, Role::Admin).await;
        let (_, editor) = app.member(team, Role::Editor).await;
        let (_, viewer) = app.member(team, Role::Viewer).await;
        let (account, _) = super::account_with_post(&app, &admin, platform).await;
        let stage = Stage { app, admin: admin.clone(), platform, account };
        let mut nth = 0;
        for state in STATES {
            for (role, user) in [("viewer", &viewer), ("editor", &editor), ("admin", &admin)] {
                let mut path = stage.comment(state, nth).await;
                for action in ACTIONS {
                    nth += 1;
                    let shown = user.get(&path).await.expect(200).body["comment"].clone();
                    let can: Vec<&str> =
                        shown["can"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                    let allowed = can.contains(&action);
                    let answer = act(user, &path, action, nth).await;
                    let what = format!(
                        "{platform} {state} {role} {action} {can:?}: {} {}",
                        answer.status, answer.text
                    );
                    if allowed {
                        assert!(done(&answer), "{what}");
                        // An action that was carried out changes which ones are possible.
                        path = stage.comment(state, nth).await;
                        continue;
                    }
                    // Setting what is set already does nothing and is no refusal.
                    let is_so = (action == "hide" && shown["hidden"] == true)
                        || (action == "unhide" && shown["hidden"] == false)
                        || (action == "delete" && shown["deleted"] == true);
                    let refused = matches!(answer.status, 400 | 403 | 409);
                    assert!(refused || (is_so && answer.status == 200), "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_can_be_done_with_a_conversation_is_what_it_says() {
    for platform in ["facebook", "instagram"] {
        let app = TestApp::start().await;
        let owner = app.person("owner@example.com").await;
        let team = app.workspace(owner).await;
        fanfare_people::users::set_plan(&app.domain, team, PlanTier::Pro, None).await.unwrap();
        let (_, admin) = app.member(team, Role::Admin).await;
        let (_, editor) = app.member(team, Role::Editor).await;
        let (_, viewer) = app.member(team, Role::Viewer).await;
        let account = admin.connect(platform).await;
        let item = json!({"account_id": account, "kind": "message", "text": "Hello"});
        write(&admin, platform, item).await;
        let id = conversation(&app, &admin, account).await["id"].clone();
        let path = format!("/api/v1/inbox/conversations/{id}");
        for state in ["open", "closed", "unconnected"] {
            match state {
                "closed" => app.pass_time(Duration::from_secs(24 * 3_600 + 60)).await,
                "unconnected" => lose_access(&app, account).await,
                _ => {}
            }
            for (role, user) in [("viewer", &viewer), ("editor", &editor), ("admin", &admin)] {
                let shown = user.get(&path).await.expect(200).body["conversation"].clone();
                let text = json!({"text": format!("{state} {role}")});
                let answer = user.post(&format!("{path}/reply"), text).await;
                let what = format!("{platform} {state} {role}: {} {}", shown["can"], answer.text);
                let allowed = shown["can"] == json!(["reply"]);
                assert_eq!(allowed, state == "open" && role != "viewer", "{what}");
                assert_eq!(answer.status == 201, allowed, "{what}");
                assert!(allowed || matches!(answer.status, 403 | 409), "{what}");
            }
        }
    }
}

/// Marks an account as one that must be connected again.
async fn lose_access(app: &TestApp, account: i64) {
    use fanfare_entities::account::{AccountStatus, ActiveModel};
    use sea_orm::{ActiveModelTrait, ActiveValue::Set};
    let change = ActiveModel {
        id: Set(fanfare_core::AccountId(account)),
        status: Set(AccountStatus::ReconnectRequired),
        ..Default::default()
    };
    change.update(&app.domain.db.write).await.unwrap();
}

#[tokio::test]
async fn with_an_account_that_has_lost_its_access_nothing_can_be_done() {
    for platform in ["facebook", "instagram", "threads"] {
        let app = TestApp::start().await;
        let user = super::pro(&app).await;
        let (account, _) = super::account_with_post(&app, &user, platform).await;
        let item = json!({"account_id": account, "kind": "comment", "text": "Hello"});
        write(&user, platform, item).await;
        let path = format!(
            "/api/v1/inbox/comments/{}",
            comment(&app, &user, account, "Hello").await["id"]
        );
        lose_access(&app, account).await;
        let shown = user.get(&path).await.expect(200).body["comment"].clone();
        assert_eq!(shown["can"], json!([]), "{platform}");
        for action in ["reply", "hide", "delete", "private_reply"] {
            let answer = act(&user, &path, action, 0).await;
            assert!(matches!(answer.status, 400 | 409), "{platform} {action}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_conversation_is_open_for_a_day_and_for_a_person_who_says_so_for_a_week() {
    let meta = fanfare_conversations::inbox::MetaSettings { verify_token: None, human_agent: true };
    let options = fanfare_tests::Options { meta, ..Default::default() };
    let app = TestApp::with(options).await;
    let user = super::pro(&app).await;
    for platform in ["facebook", "instagram"] {
        let account = user.connect(platform).await;
        write(&user, platform, json!({"account_id": account, "kind": "message", "text": "Hi"}))
            .await;
        let found = conversation(&app, &user, account).await;
        let path = format!("/api/v1/inbox/conversations/{}", found["id"]);
        let reply = format!("{path}/reply");
        let _ = user.post(&reply, json!({"text": "In time"})).await.expect(201);
        // The clock of the network is a little ahead.
        app.pass_time(Duration::from_secs(24 * 3_600 + 60)).await;
        let shown = user.get(&path).await.expect(200).body["conversation"].clone();
        assert_eq!((&shown["can"], &shown["reply_until"]), (&json!([]), &found["reply_until"]));
        let late =
            user.post(&reply, json!({"text": "Late"})).await.refused(409, "reply_window_closed");
        assert_eq!(late.body["reply_until"], found["reply_until"]);
        let human = json!({"text": "A person", "human_agent": true});
        let _ = user.post(&reply, human.clone()).await.expect(201);
        app.pass_time(Duration::from_secs(6 * 24 * 3_600)).await;
        user.post(&reply, human).await.refused(409, "reply_window_closed");
        write(
            &user,
            platform,
            json!({"account_id": account, "kind": "message", "text": "Still there?"}),
        )
        .await;
        app.eventually("it is open again", || async {
            let shown = user.get(&path).await.expect(200).body["conversation"].clone();
            (shown["can"] == json!(["reply"])).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn what_an_answer_lacks_is_named() {
    let app = TestApp::start().await;
    let user = super::pro(&app).await;
    let account = user.connect("instagram").await;
    write(&user, "instagram", json!({"account_id": account, "kind": "message", "text": "Hi"}))
        .await;
    let id = conversation(&app, &user, account).await["id"].clone();
    let reply = format!("/api/v1/inbox/conversations/{id}/reply");
    let both = json!({"text": "Look", "media_url": "https://example.org/a.jpg"});
    for (body, code) in [
        (json!({}), "field_required"),
        (json!({"text": " "}), "field_required"),
        (both, "too_many_parts"),
        (json!({"text": "ä".repeat(501)}), "invalid_field"),
        (json!({"media_url": "no address"}), "invalid_field"),
        (json!({"text": "Hi", "human_agent": true}), "invalid_field"),
        (json!({"txt": "Hi"}), "unknown_field"),
    ] {
        user.post(&reply, body.clone()).await.refused(400, code);
    }
    let _ = user.post(&reply, json!({"text": "ä".repeat(500)})).await.expect(201);
    let _ = user.post(&reply, json!({"media_url": "https://example.org/a.jpg"})).await.expect(201);
    user.post("/api/v1/inbox/conversations/999/reply", json!({"text": "Hi"}))
        .await
        .refused(404, "conversation_not_found");
    user.get("/api/v1/inbox/comments/x").await.refused(404, "comment_not_found");
    user.get("/api/v1/inbox/comments?platform=nowhere").await.refused(400, "invalid_field");
    user.get("/api/v1/inbox/conversations?cursor=x").await.refused(400, "invalid_field");
}
