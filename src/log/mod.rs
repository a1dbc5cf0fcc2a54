//! Logs, on standard error.

mod json;

use std::io::IsTerminal;

use anyhow::{Context as _, Result};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::Config;

/// Starts logging as the configuration says: colours only on a terminal.
///
/// # Errors
/// The filter cannot be read, or logging was started before.
pub fn init(config: &Config) -> Result<()> {
    let filter = EnvFilter::try_new(&config.log)
        .with_context(|| format!("FANFARE_LOG {:?} is no log level and no filter", config.log))?;
    let layer = if config.log_json {
        json::JsonLayer.boxed()
    } else {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false)
            .boxed()
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).try_init()?;
    Ok(())
}
