//! Commands of operators about money, beside a running service.

use std::process::Command;

use fanfare_tests::{Options, TestApp};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::service::{Dir, Service};

/// What a command prints, and whether it ended well.
fn fanfare(line: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .args(line)
        .env("FANFARE_LOG", "error")
        .envs(variables.iter().copied())
        .output()
        .expect("the binary runs");
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test]
async fn a_subscription_is_given_beside_a_running_service() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let place = dir.display().to_string();
    let line = ["admin", "subscription", "ada@example.com", "starter"];
    let (is_well, said) = fanfare(&line, &[("FANFARE_DATA_DIR", &place)]);
    assert!(is_well, "{said}");
    // Her card is reached by her address: nothing prints the id that Stripe has given her.
    let file = std::fs::read(dir.join("simulator.json")).expect("the simulator's file");
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    let text = |name: &str| file[name].as_str().expect("a text").to_owned();
    let url = format!("{}/stripe/customers/ada@example.com/card", text("address"));
    let card = fanfare_tests::local_client().post(url).bearer_auth(text("secret"));
    let answer = card.json(&json!({"declines": true})).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    drop(service);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_what_is_wrong_with_payments() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let keys = fanfare_sandbox::stripe::Keys::of(&app.simulator.secret.clone().into());
    let right = keys.secret_key.expose_secret();
    let stripe = app.simulator.url.join("/stripe").unwrap().to_string();
    let nobody = "http://127.0.0.1:9".to_owned();
    for (url, key, said) in [
        (&stripe, right, "Stripe has no price"),
        (&stripe, "sk_test_wrong", "check FANFARE_STRIPE_SECRET_KEY"),
        (&nobody, right, "check the way to http://127.0.0.1:9/ and try again"),
    ] {
        let dir = Dir::new();
        let place = dir.display().to_string();
        let (is_well, report) = fanfare(
            &["doctor"],
            &[
                ("FANFARE_DATA_DIR", &place),
                ("FANFARE_STRIPE_URL", url),
                ("FANFARE_STRIPE_SECRET_KEY", key),
                ("FANFARE_STRIPE_WEBHOOK_SECRET", "whsec_one"),
                ("FANFARE_ALLOW_PRIVATE_TARGETS", "true"),
            ],
        );
        let line = report.lines().find(|line| line.contains("payments:")).unwrap_or(&report);
        assert!(!is_well && line.starts_with("MISSING") && line.contains(said), "{report}");
        assert!(!report.contains(key), "{report}");
    }
}
