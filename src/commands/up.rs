//! `fanfare up`: everything in one process.

use anyhow::{Context as _, Result};
use fanfare_workers::Options;
use secrecy::ExposeSecret;

use super::{say, stop_on_signal, worker_name};
use crate::{
    config::Config,
    metrics,
    simulator::{OwnSimulator, SimulatorOptions},
    start::{self, FirstStart, StartOptions},
};

/// Runs until it is stopped.
///
/// # Errors
/// The service could not start.
pub async fn run(config: Config) -> Result<()> {
    crate::init_log(&config)?;
    let stop = stop_on_signal();
    let listener = tokio::net::TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("FANFARE_LISTEN {} cannot be listened on", config.listen))?;
    let listen = listener.local_addr()?;
    let own = if config.simulator && config.sandbox_url.is_none() {
        let media = Some(config.media_origin(listen).parse()?);
        let webhook = Some(format!("http://{listen}/api/stripe/webhook").parse()?);
        let place = SimulatorOptions { is_kept: true, listen: None, media, webhook };
        Some(OwnSimulator::start(&config, place).await?)
    } else {
        None
    };
    let simulator = own.as_ref().map(|own| own.simulator.clone());
    let cx = start::domain(&config, StartOptions { listen, migrate: true, simulator }).await?;
    if config.is_embedded() {
        // Idempotency keys that a dead process reserved can be released, since this is the only process.
        fanfare_core::idempotency::free_all(&cx).await?;
    }
    tokio::spawn(cx.stopping.clone().follow(stop.clone(), config.drain_delay));
    let closed = cx.stopping.closed.clone();
    metrics::start(&config, "up", &cx, closed.clone()).await?;
    let first = start::first_owner(&cx).await?;
    let service = fanfare_web::service(cx.clone());
    let worker = fanfare_workers::Context::new(cx.clone(), worker_name());
    let working = tokio::spawn(fanfare_workers::run(worker, Options::default(), stop.clone()));
    welcome(&cx.settings.base_url, first.as_ref());
    let served = fanfare_api::serve(service, listener, closed).await;
    stop.cancel();
    working.await??;
    if let Some(own) = own {
        own.stop().await;
    }
    served?;
    Ok(())
}

/// Prints the address, and at the first start what one needs to begin: all of it at once, so that no line of the log
/// comes in between.
fn welcome(base_url: &str, first: Option<&FirstStart>) {
    let place = format!("Fanfare is at {base_url} (documentation: {base_url}/docs)");
    let Some(first) = first else { return say(place) };
    let (key, link) = (first.key.expose_secret(), first.link.expose_secret());
    let program = std::env::args().next().unwrap_or_else(|| "fanfare".to_owned());
    say(format_args!(
        "{place}

Your API key, which is shown only now:

{key}

The dashboard is at {base_url}/dashboard. This link logs you in once, and lets you choose a password:

{link}

To connect an account on the simulated Bluesky, publish a post and see it there, type in another terminal:

export FANFARE_API_KEY={key} FANFARE_URL={base_url}
{program} sandbox create-account --platform=bluesky
{program} posts create --account-id=1 --caption='Hello from Fanfare' --wait
{program} sandbox list-posts bluesky --account-id=1
"
    ));
}
