use std::{collections::BTreeSet, time::Duration};

use super::{
    MetricsHandle, builder, describe,
    list::{ALL, MetricKind},
    record::{self, SchedulerTurn},
};

/// Calls each record function once.
fn record_everything() {
    let second = Duration::from_secs(1);
    record::info("1.2.3", "worker");
    record::reachable(true, false);
    record::http_request("/api/v1/posts", 201, second);
    record::publish_attempt("bluesky", "failed", Some("missed".to_owned()));
    record::lateness("bluesky", 17);
    record::claims("publish_post", 3, 2);
    record::group("claim", 3, second);
    record::enqueued("publish_post", false, 3);
    record::running_jobs("publish_post", 1, 256);
    record::waiting_work("publish_post", 4, 5, second);
    record::late_posts(2);
    record::network_trouble("bluesky", "failing", 2);
    record::api_version_ends("bluesky", 60);
    record::scheduler_turn(SchedulerTurn::Led, second, 1_700_000_000_000);
    record::webhook_delivery("delivered");
    record::outbound_request("bluesky", "2xx", second);
    record::lease_lost("publish_post");
    record::discarded_result("publish_post");
    record::token_refresh("bluesky", "fresh");
    record::account_lost("bluesky");
    record::wallet_mismatches(1);
    record::unsettled_payments(1);
}

fn recorded() -> String {
    let recorder = builder().unwrap().build_recorder();
    let recorded = MetricsHandle(recorder.handle());
    metrics::with_local_recorder(&recorder, || {
        describe();
        record_everything();
    });
    recorded.render()
}

#[test]
fn every_metric_of_the_list_is_recorded_with_its_labels_and_its_help() {
    let text = recorded();
    for metric in ALL {
        assert!(text.contains(&format!("# HELP {} {}", metric.name, metric.help)), "{text}");
        let suffix = if matches!(metric.kind, MetricKind::Histogram(_)) { "_count" } else { "" };
        let name = format!("{}{suffix}", metric.name);
        let line = text
            .lines()
            .find(|line| line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' '])));
        let line = line.unwrap_or_else(|| panic!("{name} is not recorded: {text}"));
        let inside = line.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let labels: BTreeSet<&str> = inside
            .iter()
            .flat_map(|(labels, _)| labels.split(','))
            .filter_map(|label| label.split_once('=').map(|(name, _)| name))
            .collect();
        assert_eq!(labels, metric.labels.iter().copied().collect(), "{line}");
    }
}

#[test]
fn nothing_is_recorded_that_is_not_on_the_list() {
    let known: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(known.len(), ALL.len(), "each name once");
    let text = recorded();
    let told: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(told, known);
}

#[test]
fn values_stand_where_they_belong() {
    let text = recorded();
    for line in [
        "fanfare_post_lateness_seconds_bucket{platform=\"bluesky\",le=\"0.01\"} 0",
        "fanfare_post_lateness_seconds_bucket{platform=\"bluesky\",le=\"0.025\"} 1",
        "fanfare_claims_total{kind=\"publish_post\",outcome=\"taken\"} 2",
        "fanfare_claims_total{kind=\"publish_post\",outcome=\"passed\"} 1",
        "fanfare_sweep_leader 1",
        "fanfare_queue_up 0",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
}
