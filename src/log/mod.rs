//! Logs, on standard error.

mod json;

use std::io::IsTerminal;

use anyhow::{Context as _, Result};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::Config;

/// What a terminal shows if nothing else is asked for: not that each of the libraries has started.
const ON_TERMINAL: &str = "info,salvo_core=warn,apalis_core=warn,sea_orm_migration=warn";

/// Starts logging as the configuration says: colours only on a terminal.
///
/// # Errors
/// The filter cannot be read, or logging was started before.
pub fn init(config: &Config) -> Result<()> {
    let is_terminal = std::io::stderr().is_terminal();
    let usual = if is_terminal { ON_TERMINAL } else { "info" };
    let filter = config.log.as_deref().unwrap_or(usual);
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("FANFARE_LOG {filter:?} is no log level and no filter"))?;
    let layer = if config.log_json {
        json::JsonLayer.boxed()
    } else {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(is_terminal)
            .with_target(false)
            .boxed()
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).try_init()?;
    Ok(())
}
