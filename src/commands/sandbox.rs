//! `fanfare sandbox`: the simulated networks alone.

use anyhow::Result;
use fanfare_sandbox::Sandbox;
use url::Url;

use super::{say, stop_on_signal};
use crate::config::Config;

/// Serves the networks until it is told to stop.
///
/// # Errors
/// What kept them from starting.
pub async fn run(config: Config) -> Result<()> {
    crate::init_log(&config)?;
    let stop = stop_on_signal();
    let networks = Sandbox::open(Some(config.make_data_dir()?.join("sandbox"))).await?;
    networks.set_rate_limits(config.sandbox_limits);
    let serving = networks.clone().serve(config.listen, stop).await?;
    let own = format!("http://{}", serving.address());
    let base = config.base_url.clone().unwrap_or(own);
    networks.set_base_url(&Url::parse(&base)?);
    say(format_args!("The simulated networks are at {base}; set FANFARE_SANDBOX_URL={base}"));
    serving.stopped().await;
    Ok(())
}
