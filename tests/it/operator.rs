//! An operator's work after a loss or a leak: holding posts after a restore, changing the master key.

use fanfare_core::{
    access::{Role, Scope},
    durable,
    vault::Vault,
};
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use serde_json::json;

use crate::worker::{Worker, command};

/// Runs `fanfare admin …`; what it said, and whether it was content.
fn admin(app: &TestApp, arguments: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = command(app);
    command.arg("admin").args(arguments).envs(variables.iter().copied());
    let ran = command.output().expect("the command runs");
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// Waits until no worker counts as running any more.
async fn all_quiet(app: &TestApp) {
    app.eventually("the dead worker's lead lapses", || async {
        durable::scheduler_leader(&app.domain).await.expect("the lead").is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn after_a_restore_nothing_that_may_be_public_goes_out_by_itself() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let worker = Worker::start(&app, None);
    app.eventually("the worker leads", || async {
        durable::scheduler_leader(&app.domain).await.expect("the lead")
    })
    .await;
    let (content, said) = admin(&app, &["hold"], &[]);
    assert!(!content && said.contains("Stop every worker"), "{said}");
    drop(worker);
    all_quiet(&app).await;

    // The backup holds a post whose time has come since, one for later, and one that is not scheduled.
    let due = user.publish(json!({"account_id": account, "caption": "Sent since?"})).await;
    let later = json!({"account_id": account, "caption": "Later", "scheduled_at": app.at(7_200)});
    let later = user.publish(later).await["id"].as_i64().unwrap();
    let draft = json!({"account_id": account, "caption": "Draft", "status": "draft"});
    let draft = user.publish(draft).await["id"].as_i64().unwrap();
    let due = due["id"].as_i64().unwrap();
    let hold = ["hold", "--without-asking"];
    assert_eq!(admin(&app, &hold, &[]), (true, "held back: 1\n".to_owned()));
    assert_eq!(admin(&app, &hold, &[]), (true, "held back: 0\n".to_owned()));
    let status = |id: i64| {
        let user = user.clone();
        async move { user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone() }
    };
    let held = status(due).await;
    assert_eq!(
        (&held["status"], &held["error"]["code"]),
        (&json!("failed"), &json!("outcome_unknown"))
    );
    assert_eq!(held["error"]["retry_safe"], false);
    assert_eq!(status(later).await["status"], "scheduled");
    assert_eq!(status(draft).await["status"], "draft");
    let events = user.get("/api/v1/events?after=0").await.expect(200).body["events"].clone();
    assert!(events.as_array().unwrap().iter().any(|event| event["type"] == "post.failed"));

    // Nothing is asked about what is not due yet.
    let said = "networks are asked: 0\nheld back: 1\n".to_owned();
    assert_eq!(admin(&app, &["hold", "--all"], &[]), (true, said));
    assert_eq!(status(later).await["error"]["code"], "outcome_unknown");

    let _worker = Worker::start(&app, None);
    let probe = user.publish(json!({"account_id": account, "caption": "New"})).await;
    app.wait_for_status(&user, probe["id"].as_i64().unwrap(), &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 1, "only the new one");
    let path = format!("/api/v1/posts/{due}/retry");
    user.post(&path, json!({})).await.refused(409, "duplicate_risk");
    user.post(&path, json!({"acknowledge_duplicate_risk": true})).await.expect(200);
    app.wait_for_status(&user, due, &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 2);
}

#[tokio::test]
async fn a_master_key_is_changed_and_the_old_one_dropped() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let new = Vault::fresh_key();
    let both =
        [("FANFARE_MASTER_KEY", new.as_str()), ("FANFARE_MASTER_KEY_OLD", app.master_key.as_str())];
    let publish = |caption: &'static str| {
        let user = user.clone();
        async move {
            let post = user.publish(json!({"account_id": account, "caption": caption})).await;
            post["id"].as_i64().unwrap()
        }
    };

    let first = publish("The new key beside the old one").await;
    let worker = Worker::with(&app, &both);
    app.wait_for_status(&user, first, &["published"]).await;
    drop(worker);

    let (content, said) = admin(&app, &["rewrap"], &both[..1]);
    assert!(!content && said.contains("FANFARE_MASTER_KEY_OLD"), "{said}");
    let (content, said) = admin(&app, &["rewrap"], &both);
    assert!(content && !said.contains("closed anew: 0"), "{said}");
    assert_eq!(admin(&app, &["rewrap"], &both[..1]), (true, "closed anew: 0\n".to_owned()));

    let second = publish("The new key alone").await;
    let _worker = Worker::with(&app, &both[..1]);
    app.wait_for_status(&user, second, &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 2);
}

#[tokio::test]
async fn a_seat_a_lock_and_a_password_are_taken_back() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let workspace = team.0.to_string();
    let (_, mut person) = Visitor::person(&app, "ada@example.com").await;
    let ada = app.person("ada@example.com").await;
    users::set_member(&app.domain, team, ada, Role::Publisher).await.unwrap();
    let brand = app.brand(team, &[ada]).await.0.to_string();
    let user = app.key(ada, Some(team), &Scope::ALL).await;
    let hook = json!({"url": "https://example.com/hook", "events": ["*"]});
    user.post("/api/v1/webhooks", hook.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");

    let unlock = ["unlock", workspace.as_str(), "ada@example.com", brand.as_str()];
    assert_eq!(admin(&app, &unlock, &[]), (true, format!("{brand}\n")));
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    assert!(!admin(&app, &unlock, &[]).0, "there is no lock left");

    let remove = |email: &'static str| ["member", "remove", workspace.as_str(), email];
    assert!(!admin(&app, &remove("owner@example.com"), &[]).0, "a workspace keeps its owner");
    assert_eq!(admin(&app, &remove("ada@example.com"), &[]), (true, format!("{}\n", ada.0)));
    user.get("/api/v1/webhooks").await.refused(401, "api_key_revoked");
    assert!(!admin(&app, &remove("ada@example.com"), &[]).0, "there is no membership left");
    let again = ["member", workspace.as_str(), "ada@example.com", "viewer"];
    assert_eq!(admin(&app, &again, &[]), (true, format!("{}\n", ada.0)));

    for _ in 0..5 {
        let wrong = person.try_password_at("/login", "ada@example.com", "not her password").await;
        assert_eq!(wrong.status, 401);
    }
    assert_eq!(person.try_password_at("/login", "ada@example.com", PASSWORD).await.status, 429);
    assert!(admin(&app, &["unlock", "ada@example.com"], &[]).0);
    let _ = person.try_password_at("/login", "ada@example.com", PASSWORD).await.expect(303);
    let (content, password) = admin(&app, &["password", "reset", "ada@example.com"], &[]);
    assert!(content, "{password}");
    let _ = person.get("/connect").await.expect(303);
    let password = password.lines().last().unwrap_or_default().to_owned();
    let _ = person.try_password_at("/login", "ada@example.com", &password).await.expect(303);
    assert!(!admin(&app, &["password", "reset", "ada@example.com", "--operator"], &[]).0);
}
