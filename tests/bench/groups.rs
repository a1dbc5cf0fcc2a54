//! Batches of the worker, from its metrics: a start for profiling the whole job.

use std::collections::BTreeMap;

use crate::{
    load::http,
    table::{number, print},
};

/// The figures of one statement.
#[derive(Default)]
struct Group {
    times: f64,
    rows: f64,
    seconds: f64,
}

/// Prints a row for each statement.
pub async fn print_of(metrics: &str) {
    let said = http().get(metrics).send().await.expect("metrics").text().await.expect("text");
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for line in said.lines() {
        let named = line.split_once("statement=\"").and_then(|(_, rest)| rest.split_once('"'));
        let value = line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
        let (Some((name, _)), Some(value)) = (named, value) else { continue };
        let group = groups.entry(name).or_default();
        match line.split('{').next() {
            Some("fanfare_group_rows_sum") => group.rows = value,
            Some("fanfare_group_seconds_sum") => group.seconds = value,
            Some("fanfare_group_seconds_count") => group.times = value,
            _ => {}
        }
    }
    let rows = groups.iter().map(|(name, group)| {
        vec![
            (*name).to_owned(),
            number(group.times),
            number(group.rows / group.times),
            format!("{:.1}", group.seconds * 1_000.0 / group.times),
        ]
    });
    print("groups", &["", "times", "rows each", "ms each"], &rows.collect::<Vec<_>>());
}
