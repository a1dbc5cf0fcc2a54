//! Measures the time that recording the metrics of a post takes: `cargo run --release -p fanfare-metrics --example
//! cost`.

use std::time::{Duration, Instant};

use fanfare_metrics::record;

const CALLS: u32 = 200_000;

fn main() {
    let recorded = fanfare_metrics::install();
    let took = Duration::from_millis(3);
    let occasions: [(&str, &dyn Fn()); 6] = [
        ("http", &|| record::http_request("/api/v1/posts", 201, took)),
        ("attempt", &|| record::publish_attempt("bluesky", "published", None)),
        ("lateness", &|| record::lateness("bluesky", 12)),
        ("claims", &|| record::claims("publish_post", 64, 64)),
        ("group", &|| record::group("claim", 64, took)),
        ("outbound", &|| record::outbound_request("bluesky", "2xx", took)),
    ];
    for (name, occasion) in occasions {
        let begun = Instant::now();
        for _ in 0..CALLS {
            occasion();
        }
        let each = begun.elapsed().as_nanos() / u128::from(CALLS);
        eprintln!("{name:<10} {each} ns");
        if let Ok(recorded) = &recorded {
            recorded.run_upkeep();
        }
    }
}
