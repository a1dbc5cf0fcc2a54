//! The time until `fanfare up` is ready on an empty folder, and its cost while nothing happens.

use std::time::{Duration, Instant};

use crate::{
    cpu,
    load::http,
    memory,
    process::fresh,
    table::{number, print},
};

/// The number of starts, of which the median is reported.
const STARTS: usize = 5;

/// The time that the idle process is measured.
const IDLE: Duration = Duration::from_secs(20);

/// Measures several starts, and the last process while it is idle.
pub async fn run() {
    let mut ready = Vec::new();
    for start in 1..=STARTS {
        let begun = Instant::now();
        let service = fresh("up");
        let health = format!("{}/readyz", service.origin);
        while !is_ready(&health).await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ready.push(i64::try_from(begun.elapsed().as_millis()).expect("a short time"));
        if start == STARTS {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let before = cpu::of(service.process.id());
            tokio::time::sleep(IDLE).await;
            let used = cpu::of(service.process.id()) - before;
            let share = used / 10.0 / IDLE.as_secs_f64();
            let row = vec![
                "fanfare up".to_owned(),
                number(crate::network::quantile(&ready, 500) as f64),
                number(memory::of(service.process.id())),
                format!("{share:.1}"),
            ];
            let heads = ["", "ms until ready", "MiB", "% of a processor while idle"];
            print("Start and rest", &heads, &[row]);
        }
    }
}

async fn is_ready(url: &str) -> bool {
    http().get(url).send().await.is_ok_and(|answer| answer.status().is_success())
}
