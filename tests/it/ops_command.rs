//! `fanfare ops` and `fanfare admin create`, as somebody at a shell uses them.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use fanfare_tests::{Operator, TestApp};
use serde_json::{Value, json};

/// Runs the binary on the database of a service under test.
fn fanfare(app: &TestApp, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command
        .args(args)
        .env("FANFARE_DATABASE_URL", &app.database_url)
        .env("FANFARE_DATA_DIR", app.dir())
        .env("FANFARE_MASTER_KEY", &app.master_key)
        .env("FANFARE_LOG", "warn")
        .env("USER", "root")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(url) = &app.redis_url {
        command.env("FANFARE_REDIS_URL", url);
    }
    let mut running = command.spawn().expect("the binary starts");
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&said(output)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_is_made_at_a_shell() {
    let app = TestApp::start().await;
    let short = fanfare(&app, &["admin", "create", "ada@example.com"], "short\n");
    assert!(!short.status.success());
    assert!(String::from_utf8_lossy(&short.stderr).contains("it needs 10 to 200"));
    said(&fanfare(&app, &["admin", "create", "Ada@Example.com"], "typed on standard input\n"));
    let mut ada = Operator::nobody(&app);
    let _ = ada.try_password("ada@example.com", "typed on standard input").await.expect(303);
    let made = said(&fanfare(&app, &["admin", "create", "ada@example.com", "--generate"], ""));
    let _ = ada.get("/admin/fleet").await.expect(303);
    let _ = ada.try_password("ada@example.com", made.trim()).await.expect(303);
    let _ = ada.get("/admin/fleet").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_mistypes_is_told_what_to_type() {
    let app = TestApp::start().await;
    let refused = fanfare(&app, &["ops", "work", "--platform", "myspace"], "");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && errors.contains("There is no platform"), "{errors}");
    assert!(errors.contains("Name one of the platforms"), "{errors}");
    // A directory without a service's data is an error, not an empty list.
    let elsewhere = app.dir().join("elsewhere");
    let lost = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .args(["ops", "queues"])
        .env("FANFARE_DATA_DIR", &elsewhere)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&lost.stderr).into_owned();
    assert!(!lost.status.success() && errors.contains("there is no database at"), "{errors}");
    assert!(!elsewhere.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_dashboard_does_a_shell_does_too() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Told"})).await;
    let id = post["id"].as_i64().unwrap();
    app.wait_for_status(&user, id, &["published"]).await;
    let story = said(&fanfare(&app, &["ops", "story", &id.to_string()], ""));
    assert!(story.contains("Attempt 1: published") && story.contains("post.published"), "{story}");
    let found = json_of(&fanfare(&app, &["ops", "work", "--status", "published", "--json"], ""));
    assert_eq!(found["rows"][0]["id"], id);
    let table = said(&fanfare(&app, &["ops", "fleet"], ""));
    assert!(
        table.contains("publish,webhook,media,analyse,convert,upkeep,mail,billing")
            && !table.contains('\x1b'),
        "{table}"
    );
    let pause = ["ops", "pause", "platform:bluesky"];
    let preview = said(&fanfare(&app, &pause, ""));
    assert!(preview.contains("Nothing was done."), "{preview}");
    let paused = |app: &TestApp| {
        json_of(&fanfare(app, &["ops", "platforms", "--json"], ""))["pauses"].clone()
    };
    assert_eq!(paused(&app), json!([]));
    let unsaid = fanfare(&app, &[&pause[..], &["--yes"]].concat(), "");
    assert!(String::from_utf8_lossy(&unsaid.stderr).contains("--reason"));
    let done = said(&fanfare(&app, &[&pause[..], &["--yes", "--reason", "Down"]].concat(), ""));
    assert_eq!(done.trim(), "Paused publishing to bluesky.");
    assert_eq!(paused(&app)[0]["reason"], "Down");
    said(&fanfare(&app, &["ops", "resume", "platform:bluesky", "--yes", "--reason", "Up"], ""));
    let log = json_of(&fanfare(&app, &["ops", "audit", "--json"], ""));
    let entries = log["entries"].as_array().unwrap().iter();
    let of_shell: Vec<_> = entries.filter(|one| one["operator"] == "shell:root").collect();
    let told: Vec<_> = of_shell.iter().map(|one| &one["action"]).collect();
    assert_eq!(told, ["resume", "pause"]);
    let queues = said(&fanfare(&app, &["ops", "queues"], ""));
    assert!(queues.contains("publish post: bluesky"), "{queues}");
}
