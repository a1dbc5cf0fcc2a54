//! Every process proves at its start that it can open what is stored.

use std::process::Output;

use fanfare_core::vault::Vault;
use fanfare_tests::{Options, TestApp};

use crate::worker::command;

/// Runs a command with these keys; one that starts a process of the service must not go on.
fn run(app: &TestApp, line: &[&str], key: Option<&str>, old: Option<&str>) -> Output {
    let mut command = command(app);
    command.args(line).env_remove("FANFARE_MASTER_KEY").env("FANFARE_LISTEN", "127.0.0.1:0");
    command.envs(key.map(|key| ("FANFARE_MASTER_KEY", key)));
    command.envs(old.map(|old| ("FANFARE_MASTER_KEY_OLD", old)));
    command.output().expect("the command runs")
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_with_a_wrong_old_or_absent_key_does_not_start() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    // What an earlier version stored, without a probe, is proof enough.
    user.connect("bluesky").await;
    let (right, wrong, next) = (app.master_key.as_str(), Vault::fresh_key(), Vault::fresh_key());
    let refused = |line: &[&str], key: Option<&str>, old: Option<&str>| {
        let ran = run(&app, line, key, old);
        let text = said(&ran);
        assert!(!ran.status.success() && text.contains("FANFARE_MASTER_KEY"), "{line:?}: {text}");
        assert!(!text.contains(right) && !text.contains(&wrong), "{text}");
    };
    let processes: [&[&str]; 5] = [
        &["worker"],
        &["api"],
        &["up"],
        &["ops", "queues"],
        &["key", "create", "--email", "ada@example.com"],
    ];
    for line in processes {
        refused(line, Some(&wrong), None);
        refused(line, None, None);
    }
    let queues = |key: &str, old: Option<&str>| run(&app, &["ops", "queues"], Some(key), old);
    assert!(queues(right, None).status.success(), "{}", said(&queues(right, None)));
    refused(&["worker"], Some(&wrong), None);
    // A key is changed. From now on others seal with the new one, so that a process needs it too.
    assert!(queues(&next, Some(right)).status.success());
    refused(&["worker"], Some(right), None);
    refused(&["worker"], Some(&next), None);
    assert!(run(&app, &["admin", "rewrap"], Some(&next), Some(right)).status.success());
    assert!(queues(&next, None).status.success());
    refused(&["worker"], Some(right), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tries_the_key() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    app.user().await.connect("bluesky").await;
    let doctor = |key: &str| said(&run(&app, &["doctor"], Some(key), None));
    let right = doctor(&app.master_key);
    assert!(right.contains("ok       master key: opens what is stored"), "{right}");
    let wrong = doctor(&Vault::fresh_key());
    assert!(wrong.contains("MISSING  master key: FANFARE_MASTER_KEY does not open"), "{wrong}");
}
