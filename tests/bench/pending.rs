//! The cost of posts that are scheduled far ahead: memory, the time of a claim, the time of an API call.

use std::time::Instant;

use serde_json::json;

use crate::{
    load::{NetworkProcess, http},
    memory,
    network::{Arrivals, now, quantile},
    servers::Servers,
    service::{Due, Service},
    table::{number, print},
};

/// The year 2100.
const FAR: i64 = 4_102_444_800_000;

/// Posts that are published while the others wait.
const LIVE: usize = 300;

/// Calls of each kind.
const CALLS: usize = 300;

/// Runs with a hundred, a tenth of `pending` and `pending` waiting posts.
pub async fn run(pending: usize) {
    let servers = Servers::find().await;
    let mut rows = Vec::new();
    for waiting in [100, pending / 10, pending] {
        rows.push(one(&servers, waiting).await);
    }
    let heads = [
        "waiting",
        "late p50 ms",
        "late p99 ms",
        "claim p99 ms",
        "POST p50 ms",
        "POST p99 ms",
        "GET list p50 ms",
        "GET list p99 ms",
        "worker MiB",
        "Redis MiB",
    ];
    print("Posts that wait for a far time", &heads, &rows);
}

async fn one(servers: &Servers, waiting: usize) -> Vec<String> {
    servers.flush_redis().await;
    let target = NetworkProcess::start(0);
    let mut service = Service::fleet(servers, &target).await;
    service.fill(waiting, Due::At(FAR)).await;
    let metrics = service.with_metrics();
    let worker = service.start(&["worker", "--concurrency", "256"]);
    let from = now() + 5_000;
    service.fill(LIVE, Due::Over(from, from + 15_000)).await;
    let arrived: Arrivals = target.until(LIVE).await;
    let claim = claim_p99(&metrics).await;
    let memory = memory::of(worker.id());
    drop(worker);
    let api = service.start(&["api"]);
    let (post, list) = calls(&service).await;
    let redis = servers.redis_memory().await;
    drop(api);
    let late = |part| number(arrived.late(part) as f64);
    let ms = |micros: &[i64], part| format!("{:.1}", quantile(micros, part) as f64 / 1_000.0);
    vec![
        number(waiting as f64),
        late(500),
        late(990),
        claim,
        ms(&post, 500),
        ms(&post, 990),
        ms(&list, 500),
        ms(&list, 990),
        number(memory),
        format!("{redis:.1}"),
    ]
}

/// Measures calls that create and that list posts, in µs.
async fn calls(service: &Service) -> (Vec<i64>, Vec<i64>) {
    let (http, origin, tenant) = (http(), &service.origin, &service.tenants[0]);
    service.ready().await;
    let (mut post, mut list) = (Vec::new(), Vec::new());
    for number in 0..CALLS {
        let at = "2099-01-01T00:00:00Z";
        let body =
            json!({"account_id": 1, "caption": format!("Call {number}"), "scheduled_at": at});
        let make = http.post(format!("{origin}/api/v1/posts")).bearer_auth(&tenant.key).json(&body);
        post.push(timed(make).await);
        let read = http.get(format!("{origin}/api/v1/posts?limit=20")).bearer_auth(&tenant.key);
        list.push(timed(read).await);
    }
    (post, list)
}

async fn timed(request: reqwest::RequestBuilder) -> i64 {
    let begun = Instant::now();
    let answer = request.send().await.expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.status());
    answer.bytes().await.expect("its body");
    i64::try_from(begun.elapsed().as_micros()).expect("a short time")
}

/// Returns the upper bound of the histogram bucket with the 99th percentile of claims, in ms, from the worker's
/// metrics.
async fn claim_p99(metrics: &str) -> String {
    let said = http().get(metrics).send().await.expect("metrics").text().await.expect("text");
    let buckets = said.lines().filter(|line| {
        line.starts_with("fanfare_group_seconds_bucket") && line.contains("statement=\"claim\"")
    });
    let buckets: Vec<(&str, f64)> = buckets
        .filter_map(|line| {
            let bound = line.split_once("le=\"")?.1.split_once('"')?.0;
            Some((bound, line.rsplit_once(' ')?.1.parse().ok()?))
        })
        .collect();
    let all = buckets.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    let found = buckets.iter().find(|(_, count)| *count >= all * 0.99);
    let bound = found.and_then(|(bound, _)| bound.parse::<f64>().ok());
    bound.map_or("–".to_owned(), |seconds| format!("≤ {:.0}", seconds * 1_000.0))
}
