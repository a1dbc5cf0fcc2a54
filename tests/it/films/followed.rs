//! `--wait` in a shell: a film is asked for and followed to its end.

use std::process::{Command, Output, Stdio};

use fanfare_tests::{TestApp, User};
use serde_json::Value;
use tokio::task::JoinHandle;

use super::*;

/// Runs the command; it ends when the film does.
fn run(user: &User, prompt: &'static str) -> JoinHandle<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    command.args(["ai", "generate-video", "--provider", "xai", "--duration-seconds", "6"]);
    command.args(["--prompt", prompt, "--wait", "--json"]);
    command.env("FANFARE_URL", &user.origin).env("FANFARE_API_KEY", &user.key);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    tokio::task::spawn_blocking(move || command.output().unwrap())
}

/// Lets time pass until the film has ended, and then waits for the command, which saw it end.
async fn followed(app: &TestApp, user: &User, prompt: &'static str) -> (Output, Value) {
    let before = listed(user).await.len();
    let running = run(user, prompt);
    let job = app
        .eventually("the film is asked for", || async {
            let all = listed(user).await;
            (all.len() > before).then(|| all[0].clone())
        })
        .await;
    let job = ended(app, user, &job).await;
    (running.await.unwrap(), job)
}

async fn listed(user: &User) -> Vec<Value> {
    let jobs = user.get("/api/v1/ai/video-jobs").await.expect(200).body["jobs"].clone();
    jobs.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_film_is_followed_from_the_shell_to_its_end() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (said, job) = followed(&app, &user, "A cat plays the piano").await;
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    // Standard output has the end alone, as the API tells it.
    let told: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((text(&told["job"], "status"), &told["job"]["id"]), ("completed", &job["id"]));
    assert!(told["job"]["video_url"].is_string() || told["job"]["asset_id"].is_string(), "{told}");
    // A film that fails ends the command otherwise.
    let (said, job) = followed(&app, &user, "A cat [[fail]]").await;
    assert_eq!(said.status.code(), Some(9), "{}", String::from_utf8_lossy(&said.stderr));
    let told: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((text(&told["job"], "status"), &told["job"]["id"]), ("failed", &job["id"]));
}
