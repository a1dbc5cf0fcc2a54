//! Webhooks of a network: a thousand signed events a second, each stored before it is answered.

use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::Client;
use sea_orm::ConnectionTrait;
use serde_json::json;
use sha2::Sha256;

use crate::{
    load::{NetworkProcess, http},
    network::{now, quantile},
    servers::Servers,
    service::Service,
    table::{number, print},
};

/// Accounts that the events are about.
const ACCOUNTS: usize = 100;

/// Events a second, and for how many seconds.
const RATE: usize = 1_000;
const SECONDS: usize = 10;

/// The secret of the app that signs.
const SECRET: &str = "a secret of the app";

/// Sends events at their times, without waiting for earlier replies.
pub async fn run() {
    let servers = Servers::find().await;
    let target = NetworkProcess::start(0);
    let mut service = Service::shared(&servers, &target, &[ACCOUNTS]).await;
    for (name, value) in [
        ("FANFARE_FACEBOOK_CLIENT_ID", "app"),
        ("FANFARE_FACEBOOK_CLIENT_SECRET", SECRET),
        ("FANFARE_FACEBOOK_URL", target.url.as_str()),
    ] {
        service.set(name, value);
    }
    let pages = "UPDATE accounts SET platform = 'facebook', remote_id = 'page' || (id % 100)";
    service.db.execute_unprepared(pages).await.expect("pages");
    let (_api, _worker) = (service.start(&["api"]), service.start(&["worker"]));
    service.ready().await;
    let (http, url) = (http(), format!("{}/api/hooks/meta/facebook", service.origin));
    let begun = Instant::now();
    let mut sent = Vec::new();
    for number in 0..RATE * SECONDS {
        let due = begun + Duration::from_secs_f64(number as f64 / RATE as f64);
        tokio::time::sleep_until(due.into()).await;
        sent.push(tokio::spawn(event(http.clone(), url.clone(), number, due)));
    }
    let mut times = Vec::new();
    for one in sent {
        times.push(one.await.expect("an answer"));
    }
    let answered = begun.elapsed().as_secs_f64();
    let all = "SELECT count(*) AS n FROM inbox_messages";
    service.counted(all, RATE * SECONDS).await;
    let late = |part| number(quantile(&times, part) as f64 / 1_000.0);
    let row = vec![
        "signed events".to_owned(),
        number(times.len() as f64 / answered),
        late(500),
        late(990),
        late(1_000),
        format!("{:.1}", begun.elapsed().as_secs_f64()),
    ];
    let title = format!(
        "{RATE} events a second for {SECONDS} s: ms from the time of an event to its answer"
    );
    print(&title, &["", "answered/s", "p50", "p99", "last", "all applied after s"], &[row]);
}

/// Sends a message to one of the pages; returns the time to the reply, in µs.
async fn event(http: Client, url: String, number: usize, due: Instant) -> i64 {
    let page = format!("page{}", number % ACCOUNTS);
    let sender = format!("person{}", number % 977);
    let body = json!({"object": "page", "entry": [{"id": page, "time": now(), "messaging": [{
        "sender": {"id": sender}, "recipient": {"id": page}, "timestamp": now(),
        "message": {"mid": format!("m_{number}"), "text": "Is it open on Sunday?"},
    }]}]})
    .to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let request = http
        .post(url)
        .header("Content-Type", "application/json")
        .header("X-Hub-Signature-256", format!("sha256={hex}"));
    let answer = request.body(body).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
    i64::try_from(due.elapsed().as_micros()).expect("a short time")
}
