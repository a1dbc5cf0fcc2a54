//! `fanfare api`: the API alone.

use anyhow::{Context as _, Result};
use fanfare_core::clock;

use super::{say, stop_on_signal};
use crate::{
    config::Config,
    metrics,
    start::{self, StartOptions},
};

/// Serves until it is stopped.
///
/// # Errors
/// The API could not start.
pub async fn run(config: Config) -> Result<()> {
    crate::init_log(&config)?;
    if config.redis_url.is_none() {
        tracing::warn!(
            "FANFARE_REDIS_URL is not set: workers in other processes find posts only by polling the database, \
             and each process counts limits for itself"
        );
    }
    let asked = stop_on_signal();
    let listener = tokio::net::TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("FANFARE_LISTEN {} cannot be listened on", config.listen))?;
    let listen = listener.local_addr()?;
    let way = StartOptions { listen, migrate: config.is_embedded(), simulator: None };
    let cx = start::domain(&config, way).await?;
    tokio::spawn(cx.stopping.clone().follow(asked, config.drain_delay));
    let stop = cx.stopping.closed.clone();
    metrics::start(&config, "api", &cx, stop.clone()).await?;
    // A post for "now" is due by the clock of the fleet, which is the database's.
    clock::follow_first(&cx, &stop).await;
    tokio::spawn(clock::follow(cx.clone(), stop.clone()));
    say(format_args!("The API of Fanfare is at {}", cx.settings.base_url));
    fanfare_api::serve(fanfare_web::service(cx), listener, stop).await?;
    Ok(())
}
