//! The audit log has the graver acts at a shell, and the log-ins that were refused.

use std::process::Output;

use fanfare_entities::worker as worker_row;
use fanfare_ops::ops::{
    audit::{self, AuditEntry},
    fleet,
};
use fanfare_tests::{Operator, Options, TestApp, Visitor};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait};
use serde_json::{Value, json};

use crate::worker::command;

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

fn run(app: &TestApp, line: &[&str]) -> Output {
    command(app).args(line).env("USER", "root").output().expect("the command runs")
}

async fn entries(app: &TestApp) -> Vec<AuditEntry> {
    audit::list(&app.domain, None).await.unwrap().entries
}

#[tokio::test(flavor = "multi_thread")]
async fn every_act_at_a_shell_has_one_entry() {
    let app = quiet().await;
    let owner = "ada@example.com";
    let made = run(&app, &["admin", "workspace", "Bakery", "--owner", owner]);
    let workspace = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let made = run(&app, &["admin", "brand", &workspace, "Rolls"]);
    let brand = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let of_workspace = format!("workspace:{workspace}");
    let person = format!("person:{owner}");
    let (bob, of_bob) = ("bob@example.com", "person:bob@example.com");
    let table: &[(&[&str], &str, &str, Value)] = &[
        (&["admin", "user", bob, "--create"], "user", of_bob, json!({})),
        (&["admin", "user", "Bob@Example.com"], "look_up", of_bob, json!({})),
        (&["admin", "password", owner, "--generate"], "password", &person, json!({})),
        (&["admin", "password", "reset", owner], "password", &person, json!({"made": true})),
        (
            &["admin", "member", &workspace, bob, "editor"],
            "member",
            &of_workspace,
            json!({"person": of_bob, "role": "editor"}),
        ),
        (
            &["admin", "lock", &workspace, bob, &brand],
            "lock",
            &of_workspace,
            json!({"person": of_bob, "brand": brand}),
        ),
        (
            &["admin", "unlock", &workspace, bob, &brand],
            "unlock",
            &of_workspace,
            json!({"person": of_bob, "brand": brand}),
        ),
        (
            &["admin", "member", "remove", &workspace, bob],
            "member_removed",
            &of_workspace,
            json!({"person": of_bob}),
        ),
        (&["admin", "unlock", owner], "unlock", &person, json!({})),
        (
            &["admin", "plan", &workspace, "pro", "--addon", "true"],
            "plan",
            &of_workspace,
            json!({"tier": "pro", "addon": true}),
        ),
        (&["admin", "hold"], "hold", "posts", json!({"until": null, "all": false, "asks": true})),
        (&["admin", "rewrap"], "rewrap", "secrets", json!({})),
        (
            &["key", "create", "--email", owner, "--scopes", "posts:read", "--name", "theirs"],
            "key",
            &person,
            json!({"name": "theirs", "workspace": null, "scopes": ["posts:read"]}),
        ),
    ];
    for (line, action, target, details) in table {
        let before = entries(&app).await.len();
        let ran = run(&app, line);
        assert!(ran.status.success(), "{line:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let all = entries(&app).await;
        assert_eq!(all.len(), before + 1, "{line:?}");
        let entry = &all[0];
        let said = (entry.action.as_str(), entry.target.as_str(), entry.outcome.as_str());
        assert_eq!(said, (*action, *target, "Done."), "{line:?}");
        assert_eq!((entry.operator.as_str(), &entry.details), ("shell:root", details), "{line:?}");
        // A secret that was printed is in no entry.
        let printed = String::from_utf8(ran.stdout).unwrap();
        if ["password", "key"].contains(action) {
            assert!(!format!("{entry:?}").contains(printed.trim()), "{line:?}");
        }
        if *action == "key" {
            let prefix = &printed.trim()[..12];
            assert!(run(&app, &["key", "revoke", prefix]).status.success());
            let revoked = entries(&app).await.remove(0);
            assert_eq!(
                (revoked.action.as_str(), revoked.outcome.as_str()),
                ("key_revoked", "Done.")
            );
            assert_eq!(revoked.target, format!("key:{prefix}"));
        }
    }
    // What was refused is written down, too.
    let nowhere = uuid::Uuid::now_v7().to_string();
    assert!(!run(&app, &["admin", "plan", &nowhere, "pro"]).status.success());
    let refused = entries(&app).await.remove(0);
    assert!(refused.action == "plan" && refused.outcome.starts_with("Refused: "), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_log_ins_are_counted_by_minute_and_address() {
    let app = quiet().await;
    let (_, visitor) = Visitor::person(&app, "ada@example.com").await;
    drop(visitor);
    let mut stranger = Operator::nobody(&app);
    for name in ["ada@example.com", "bob@example.com", "my secret password"] {
        stranger.try_password(name, "guessed again").await;
    }
    let mut other = Visitor::nobody(&app);
    for name in ["ada@example.com", "nobody@example.com"] {
        other.try_password_at("/login", name, "guessed again").await;
    }
    let all = entries(&app).await;
    let refused: Vec<_> = all.iter().filter(|entry| entry.action == "log_in_refused").collect();
    let mut said: Vec<_> =
        refused.iter().map(|entry| (entry.target.as_str(), entry.outcome.as_str())).collect();
    said.sort_unstable();
    assert_eq!(
        said,
        [
            ("operator from 127.0.0.1", "Refused 3 times in this minute."),
            ("person from 127.0.0.1", "Refused 2 times in this minute."),
        ]
    );
    let text = format!("{refused:?}");
    assert!(!text.contains("secret") && !text.contains("guessed") && !text.contains("bob@"));
    app.advance(std::time::Duration::from_secs(60));
    other.try_password_at("/login", "carol@example.com", "guessed again").await;
    let all = entries(&app).await;
    assert_eq!(all[0].outcome, "Refused once in this minute.");
}

#[tokio::test]
async fn a_dead_worker_holds_no_posts_once_its_leases_have_ended() {
    let app = quiet().await;
    let running = json!([{"kind": "publish_post", "id": 7, "since": app.clock.now()}]);
    let row = worker_row::ActiveModel {
        name: Set("host-1-abcdef".to_owned()),
        host: Set("host".to_owned()),
        pid: Set(1),
        version: Set("0.1.0".to_owned()),
        queues: Set("publish".to_owned()),
        slots: Set(8),
        running: Set(running),
        running_count: Set(1),
        started_at: Set(app.clock.now()),
        seen_at: Set(app.clock.now()),
        drain_at: Set(None),
    };
    worker_row::Entity::insert(row.clone())
        .exec_without_returning(&app.domain.db.write)
        .await
        .unwrap();
    let seen = async || {
        let worker = fleet::list(&app.domain).await.unwrap().remove(0);
        (worker.state.as_str(), worker.running_count, worker.running.len())
    };
    assert_eq!(seen().await, ("working", 1, 1));
    app.advance(std::time::Duration::from_secs(30));
    assert_eq!(seen().await, ("dead", 1, 1));
    app.advance(std::time::Duration::from_secs(31));
    assert_eq!(seen().await, ("dead", 0, 0));
    let beat = worker_row::ActiveModel { seen_at: Set(app.clock.now()), ..row };
    beat.update(&app.domain.db.write).await.unwrap();
    assert_eq!(seen().await, ("working", 1, 1));
}
