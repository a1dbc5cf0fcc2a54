//! The health check of a process.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, bail};

/// A process that takes longer to answer counts as dead.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Checks the process that listens at `address`.
///
/// # Errors
/// It does not answer, or is not healthy.
pub async fn health(address: SocketAddr) -> Result<()> {
    let url = format!("http://{address}/healthz");
    let asked = reqwest::Client::new().get(&url).timeout(TIMEOUT).send().await;
    let status = asked.with_context(|| format!("{url} does not answer"))?.status();
    if status.is_success() {
        return Ok(());
    }
    bail!("{url} answers {status}")
}
