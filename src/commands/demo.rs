//! `fanfare demo`: publishes posts on every simulated network, with a temporary service.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use fanfare_workers::Options;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use super::worker_name;
use crate::{
    config::Config,
    simulator::{OwnSimulator, SimulatorOptions},
    start::{self, StartOptions},
};

/// Starts a service in a temporary directory, runs the demo against it over HTTP, and removes it.
///
/// # Errors
/// The demo could not start, or a post was not published.
pub async fn run(config: Config) -> Result<()> {
    let dir = std::env::temp_dir().join(format!("fanfare-demo-{}", std::process::id()));
    let variables = BTreeMap::from([
        ("FANFARE_DATA_DIR".to_owned(), dir.display().to_string()),
        ("FANFARE_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
        ("FANFARE_LOG".to_owned(), "warn".to_owned()),
    ]);
    let own = Config::from_variables(variables)?;
    drop(config);
    crate::init_log(&own)?;
    let shown = show(&own).await;
    std::fs::remove_dir_all(&dir).with_context(|| format!("{} was not removed", dir.display()))?;
    shown
}

async fn show(config: &Config) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(config.listen).await?;
    let listen = listener.local_addr()?;
    let media = Some(config.media_origin(listen).parse()?);
    let own = OwnSimulator::start(
        config,
        SimulatorOptions { is_kept: false, listen: None, media, webhook: None },
    )
    .await?;
    let way = StartOptions { listen, migrate: true, simulator: Some(own.simulator.clone()) };
    let cx = start::domain(config, way).await?;
    let first = start::first_owner(&cx).await?.context("the temporary directory was not empty")?;
    let service = fanfare_web::service(cx.clone());
    let stop = CancellationToken::new();
    let worker = fanfare_workers::Context::new(cx.clone(), worker_name());
    let working = tokio::spawn(fanfare_workers::run(worker, Options::default(), stop.clone()));
    let serving = tokio::spawn(fanfare_api::serve(service, listener, stop.clone()));
    let shown = fanfare_cli::demo(&cx.settings.base_url, first.key.expose_secret()).await;
    stop.cancel();
    serving.await??;
    working.await??;
    own.stop().await;
    shown
}
