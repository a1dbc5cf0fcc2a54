//! Tests of guarantees under faults (`make chaos`), checked against the record of the simulated networks.
//!
//! `make chaos ONLY=kills,postgres` runs some of the faults; `FULL=1` runs each for its maximal length; `settings.rs`
//! has the other settings. The report ends with a table, and the exit code says whether all guarantees held.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a fault that cannot be thrown breaks off"
)]
#![expect(clippy::print_stdout, reason = "the table is what this is for")]

mod away;
mod callers;
mod clocks;
mod disk;
mod fleet;
mod flush;
mod judge;
mod kills;
mod noeviction;
mod peers;
mod postgres;
mod process;
mod real;
mod report;
mod schedule;
mod sets;
mod settings;
mod small_disk;
mod stops;

use std::{future::Future, time::Instant};

use report::{Outcome, Row, progress, table};
use settings::Settings;

/// Every fault, in the order in which they run.
const FAULTS: &[&str] = &[
    "kills",
    "real",
    "sets",
    "flush",
    "away",
    "noeviction",
    "postgres",
    "stops",
    "clocks",
    "disk",
    "peers",
];

fn main() -> std::process::ExitCode {
    let settings = Settings::read();
    if let Some(name) = settings.only.iter().find(|name| !FAULTS.contains(&name.as_str())) {
        eprintln!("There is no fault called {name}; there are {}.", FAULTS.join(", "));
        return 2.into();
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let rows = runtime.block_on(all(&settings));
    println!("{}", table(&rows));
    u8::from(!rows.iter().all(Row::held)).into()
}

async fn all(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    for name in FAULTS.iter().filter(|name| settings.wants(name)) {
        let (name, settings) = (*name, settings.clone());
        let begun = Instant::now();
        let thrown = tokio::spawn(async move {
            match name {
                "kills" => kills::run(&settings).await,
                "real" => real::run(&settings).await,
                "sets" => sets::run(&settings).await,
                "flush" => flush::run(&settings).await,
                "away" => away::run(&settings).await,
                "noeviction" => noeviction::run(&settings).await,
                "postgres" => postgres::run(&settings).await,
                "stops" => stops::run(&settings).await,
                "clocks" => clocks::run(&settings).await,
                "disk" => disk::run(&settings).await,
                "peers" => peers::run(&settings).await,
                _ => unreachable!("a fault without a file"),
            }
        });
        let outcome = row_of(thrown).await;
        let row = Row { name, outcome, took: begun.elapsed() };
        progress(name, format_args!("done after {} s\n", row.took.as_secs()));
        rows.push(row);
    }
    rows
}

/// Returns the table row of a fault, also of one that panicked.
async fn row_of(
    thrown: impl Future<Output = Result<Outcome, tokio::task::JoinError>>,
) -> Result<Outcome, String> {
    thrown.await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()))
                .unwrap_or_else(|| "it broke off without a word".to_owned())
        }
        Err(error) => error.to_string(),
    })
}
