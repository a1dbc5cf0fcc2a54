//! Asking a process whether it is alive.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, bail};

/// A process that takes longer to say that it is alive does not count as alive.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks the process that listens at `address`.
///
/// # Errors
/// It does not answer, or not well.
pub async fn health(address: SocketAddr) -> Result<()> {
    let url = format!("http://{address}/healthz");
    let asked = reqwest::Client::new().get(&url).timeout(PATIENCE).send().await;
    let status = asked.with_context(|| format!("{url} does not answer"))?.status();
    if status.is_success() {
        return Ok(());
    }
    bail!("{url} answers {status}")
}
