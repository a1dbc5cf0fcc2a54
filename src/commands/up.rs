//! `fanfare up`: everything in one process.

use anyhow::{Context as _, Result};
use fanfare_workers::Options;
use secrecy::{ExposeSecret, SecretString};

use super::{say, stop_on_signal, worker_name};
use crate::{
    config::Config,
    metrics,
    simulator::{OwnSimulator, SimulatorOptions},
    start::{self, StartOptions},
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
        fanfare_domain::idempotency::free_all(&cx).await?;
    }
    metrics::start(&config, "up", &cx, stop.clone()).await?;
    let key = start::first_owner(&cx).await?;
    let service = fanfare_api::service(cx.clone());
    let worker = fanfare_workers::Context::new(cx.clone(), worker_name());
    let working = tokio::spawn(fanfare_workers::run(worker, Options::default(), stop.clone()));
    welcome(&cx.settings.base_url, key.as_ref());
    let served = fanfare_api::serve(service, listener, stop.clone()).await;
    stop.cancel();
    working.await??;
    if let Some(own) = own {
        own.stop().await;
    }
    served?;
    Ok(())
}

/// Prints the address, and at the first start how to begin.
fn welcome(base_url: &str, key: Option<&SecretString>) {
    say(format_args!("Fanfare is at {base_url} (documentation: {base_url}/docs)"));
    let Some(key) = key else { return };
    let key = key.expose_secret();
    say(format_args!(
        "
This is your API key. It is shown only now:

{key}

Connect an account on the simulated Bluesky, schedule a post, and see it there:

curl -s -X POST {base_url}/api/v1/sandbox/accounts -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{\"platform\": \"bluesky\"}}'
curl -s -X POST {base_url}/api/v1/posts -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{\"account_id\": 1, \"caption\": \"Hello from Fanfare\", \"scheduled_at\": \"'$(date -u -d '+5 seconds' +%Y-%m-%dT%H:%M:%SZ)'\"}}'
curl -s '{base_url}/api/v1/sandbox/bluesky/posts?account_id=1' -H 'Authorization: Bearer {key}'
"
    ));
}
