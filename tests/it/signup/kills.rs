//! A process that is killed while a signup is paid.

use fanfare_core::failpoint;
use serde_json::{Value, json};

use crate::service::{Dir, Service, eventually};

use super::*;

/// Killed at each step between the payment and the subscription, nobody is charged for nothing, and nothing is done twice.
#[tokio::test]
async fn a_kill_between_payment_and_subscription_loses_nothing() {
    for place in failpoint::PAYING {
        let dir = Dir::new();
        let service = Service::start(&dir, true, &[("FANFARE_FAILPOINT", *place)]);
        let origin = service.origin.clone();
        let begun = tokio::spawn(async move { begin(&origin).await });
        let mut started = None;
        if place.starts_with("event") {
            started = begun.await.unwrap();
            pay(&dir, started.as_ref().expect("a signup")).await;
        }
        eventually("the failpoint is reached", || async {
            let said = service.logged().iter().any(|line| line.contains("stopped at a failpoint"));
            said.then_some(())
        })
        .await;
        drop(service);
        let service = Service::start(&dir, false, &[]);
        if started.is_none() {
            started = begin(&service.origin).await;
            pay(&dir, started.as_ref().expect("a signup")).await;
        }
        let http = fanfare_tests::local_client();
        let id = text(started.as_ref().unwrap(), "session_id").to_owned();
        let poll = format!("{}/api/v1/signup/sessions/{id}", service.origin);
        eventually("it is paid", || async {
            let polled: Value = http.get(&poll).send().await.ok()?.json().await.ok()?;
            (polled["signup_session"]["status"] == "paid").then_some(())
        })
        .await;
        let mail = format!("{}/dev/mail", service.origin);
        let letters = || async {
            let asked = http.get(&mail).header("Accept", "application/json").send().await.ok()?;
            let said: Value = asked.json().await.ok()?;
            Some(said["letters"].as_array()?.len())
        };
        eventually("one letter", || async { letters().await.filter(|count| *count == 1) }).await;
    }
}

async fn begin(origin: &str) -> Option<Value> {
    let new = json!({"email": "ada@example.com", "name": "Ada"});
    let sent = fanfare_tests::local_client()
        .post(format!("{origin}/api/v1/signup"))
        .json(&new)
        .send()
        .await
        .ok()?;
    sent.json().await.ok()
}

async fn pay(dir: &Dir, started: &Value) {
    let note = std::fs::read(dir.join("simulator.json")).unwrap();
    let note: Value = serde_json::from_slice(&note).unwrap();
    let url = format!("{}/stripe/checkout/{}/pay", text(&note, "address"), checkout(started));
    let paid = fanfare_tests::local_client()
        .post(url)
        .bearer_auth(text(&note, "secret"))
        .send()
        .await
        .unwrap();
    assert!(paid.status().is_success());
}
