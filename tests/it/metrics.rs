//! Metrics that an operator reads, on the real binary; and the documents that list them.

use std::collections::BTreeSet;

use fanfare_metrics::list::{ALL, MetricKind};
use fanfare_tests::Receiver;
use serde_json::json;

use crate::service::{Dir, Service, eventually};

/// An address that nobody listens on now.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

async fn read(address: &str) -> Option<String> {
    let page =
        fanfare_tests::local_client().get(format!("http://{address}/metrics")).send().await.ok()?;
    assert_eq!(page.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    page.text().await.ok()
}

/// Returns the metrics named in a text: words that begin like a metric, without the suffixes that Prometheus adds to a
/// histogram's name.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let metrics = words.filter(|word| word.starts_with("fanfare_") && !word.ends_with('_'));
    metrics.map(base).collect()
}

fn base(word: &str) -> &str {
    let is_histogram = |name: &str| {
        ALL.iter().any(|one| one.name == name && matches!(one.kind, MetricKind::Histogram(_)))
    };
    ["_bucket", "_sum", "_count"]
        .iter()
        .filter_map(|suffix| word.strip_suffix(suffix))
        .find(|name| is_histogram(name))
        .unwrap_or(word)
}

#[test]
fn the_handbook_explains_every_metric_and_no_other() {
    let handbook = include_str!("../../docs/operations.md");
    let known: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(named(handbook), known);
    for metric in ALL {
        let kind = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram(_) => "histogram",
        };
        let labels = metric.labels.join(", ");
        let row = format!("| `{}` | {kind} | {labels} | {} |", metric.name, metric.help);
        assert!(handbook.contains(&row), "docs/operations.md should have this line:\n{row}");
    }
}

#[test]
fn alerts_watch_what_there_is_and_the_handbook_explains_each() {
    let (alerts, handbook) =
        (include_str!("../../deploy/alerts.yml"), include_str!("../../docs/operations.md"));
    let known: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
    let watched = named(alerts);
    assert!(watched.is_subset(&known), "{:?}", watched.difference(&known));
    let alert = |line: &'static str| line.trim().strip_prefix("- alert: ");
    let names: Vec<&str> = alerts.lines().filter_map(alert).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        assert!(handbook.contains(&format!("**{name}.**")), "{name} is not explained");
    }
}

#[tokio::test]
async fn a_post_is_seen_in_the_metrics_and_only_there() {
    let (dir, address) = (Dir::new(), free_address());
    let service = Service::on_stack(&dir, &[("FANFARE_METRICS_LISTEN", &address)]).await;
    let (user, receiver) = (service.user(), Receiver::start().await);
    let hook = json!({"url": receiver.url, "events": ["post.published"]});
    user.post("/api/v1/webhooks", hook).await.expect(201);
    let account = user.connect("bluesky").await;
    user.publish(json!({"account_id": account, "caption": "Counted"})).await;

    let expected = [
        "fanfare_post_attempts_total{platform=\"bluesky\",outcome=\"published\",code=\"\"} 1",
        "fanfare_post_lateness_seconds_count{platform=\"bluesky\"} 1",
        "fanfare_webhook_deliveries_total{outcome=\"delivered\"} 1",
        "fanfare_outbound_requests_total{peer=\"webhook\",outcome=\"2xx\"} 1",
        "fanfare_http_requests_total{route=\"/api/v1/posts\",status=\"201\"} 1",
        "fanfare_claims_total{kind=\"publish_post\",outcome=\"taken\"} 1",
        "fanfare_sweep_leader 1",
        "fanfare_database_up 1",
        "fanfare_queue_up 1",
        // Four rows for each of 256 slots.
        "fanfare_work_slots{kind=\"publish_post\"} 1024",
        "fanfare_due_rows{kind=\"publish_post\"} 0",
    ];
    let text = eventually("every number is there", || async {
        let text = read(&address).await?;
        expected.iter().all(|line| text.lines().any(|known| known == *line)).then_some(text)
    })
    .await;
    let workspace =
        user.get("/api/v1/whoami").await.expect(200).body["default_workspace"]["id"].clone();
    for personal in [workspace.as_str().unwrap(), "http:", "Counted", &receiver.url, "localhost"] {
        assert!(!text.contains(personal), "{personal} stands in the metrics");
    }
    user.get("/metrics").await.refused(404, "not_found");

    let listen = service.origin.trim_start_matches("http://").to_owned();
    let alive = |variable: &str, value: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fanfare"));
        let asked = command.arg("health").env(variable, value).output().expect("it runs");
        (asked.status.success(), String::from_utf8_lossy(&asked.stderr).into_owned())
    };
    assert_eq!(alive("FANFARE_METRICS_LISTEN", &address), (true, String::new()));
    assert_eq!(alive("FANFARE_LISTEN", &listen), (true, String::new()));
    drop(service);
    let (is_alive, said) = alive("FANFARE_LISTEN", &listen);
    assert!(!is_alive && said.contains("does not answer"), "{said}");
}
