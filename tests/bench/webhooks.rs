//! Webhooks: one receiver that is dead and one that never answers, among a thousand.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    load::{NetworkProcess, http},
    network::Arrivals,
    servers::Servers,
    service::Service,
    table::{number, print, ratio},
};

/// Receivers in all.
const RECEIVERS: usize = 1_000;

/// Events that wait for the two bad receivers when the measurement begins.
const BACKLOG: usize = 500;

/// Events that are sent to all receivers during the measurement.
const EVENTS: usize = 10;

/// The interval between them.
const PAUSE: Duration = Duration::from_secs(2);

/// Measures without and with the two bad receivers.
pub async fn run() {
    let servers = Servers::find().await;
    let (alone, beside) = (measure(&servers, false).await, measure(&servers, true).await);
    let rows = [("all of them well", &alone), ("one dead, one that never answers", &beside)];
    let rows = rows.map(|(name, arrived)| {
        let late = |part| number(arrived.late(part) as f64);
        let times = ratio(arrived.late(990) as f64, alone.late(990) as f64);
        vec![name.to_owned(), arrived.posts.to_string(), late(500), late(990), late(1_000), times]
    });
    let title = format!("{RECEIVERS} receivers of webhooks: ms from an event to the well ones");
    let heads = ["", "deliveries", "p50", "p99", "last", "p99 ÷ without"];
    print(&title, &heads, &rows);
}

async fn measure(servers: &Servers, bad: bool) -> Arrivals {
    let target = NetworkProcess::start(0);
    let service = Service::shared(servers, &target, &[1]).await;
    let _up = service.start(&["up"]);
    service.ready().await;
    let caller = Caller::new(&service).await;
    if bad {
        caller.register("http://127.0.0.1:9/dead").await;
        caller.register(&format!("{}/never", target.url)).await;
        for _ in 0..BACKLOG {
            caller.happen().await;
        }
    }
    let well = RECEIVERS - 2;
    let address = format!("{}/hook", target.url);
    caller.register(&format!("{address}/0")).await;
    // The API allows twenty webhooks for each workspace, so that more are inserted directly.
    service.copy_webhook(well, &address).await;
    for _ in 0..EVENTS {
        caller.happen().await;
        tokio::time::sleep(PAUSE).await;
    }
    target.until(well * EVENTS).await
}

struct Caller<'a> {
    service: &'a Service,
    http: reqwest::Client,
    account: Value,
}

impl<'a> Caller<'a> {
    async fn new(service: &'a Service) -> Self {
        let http = http();
        let accounts = http.get(format!("{}/api/v1/accounts", service.origin));
        let accounts = accounts.bearer_auth(&service.tenants[0].key).send().await;
        let accounts: Value = accounts.expect("an answer").json().await.expect("JSON");
        Self { service, http, account: accounts["accounts"][0]["id"].clone() }
    }

    async fn register(&self, url: &str) {
        self.ask("webhooks", json!({"url": url, "events": ["post.created"]})).await;
    }

    /// Causes an event by scheduling a post.
    async fn happen(&self) {
        let at = "2099-01-01T00:00:00Z";
        self.ask(
            "posts",
            json!({"account_id": self.account, "caption": "Post", "scheduled_at": at}),
        )
        .await;
    }

    async fn ask(&self, path: &str, body: Value) {
        let url = format!("{}/api/v1/{path}", self.service.origin);
        let asked = self.http.post(url).bearer_auth(&self.service.tenants[0].key).json(&body);
        let answer = asked.send().await.expect("an answer");
        let status = answer.status();
        assert!(status.is_success(), "{path}: {}", answer.text().await.unwrap_or_default());
    }
}
