//! A fleet goes by its database's clock, so that a worker whose own is wrong publishes nothing early.

use std::time::Duration;

use fanfare_domain::{Domain, clock::machine_now};
use tokio_util::sync::CancellationToken;

/// How often the offset is measured.
const AGAIN: Duration = Duration::from_secs(10);

/// Measures the offset once; on SQLite the database's clock is this machine's and nothing is done.
async fn measure(cx: &Domain) -> fanfare_domain::Result<()> {
    if !cx.db.is_postgres() {
        return Ok(());
    }
    let asked = machine_now();
    let database = cx.db.now().await?;
    cx.clock.follow(database, asked, machine_now());
    Ok(())
}

/// Measures until it has succeeded once: no work is taken by a clock that may be wrong.
pub async fn measure_first(cx: &Domain, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        match measure(cx).await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "waiting for the database's clock"),
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Measures until `stop`.
pub async fn follow(cx: &Domain, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = measure(cx).await {
            tracing::debug!(%error, "the database's clock could not be read");
        }
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => {}
            () = stop.cancelled() => {}
        }
    }
}
