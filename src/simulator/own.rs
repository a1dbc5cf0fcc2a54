//! The simulator in this process.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use anyhow::Result;
use fanfare_core::{simulator::Simulator, vault::Vault};
use fanfare_outbound::{Client, Policy};
use fanfare_payments::Stripe;
use fanfare_people::billing::Billing;
use fanfare_sandbox::{RunningServer, Sandbox, Setup, stripe::Keys};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{SimulatorFile, SimulatorOptions, simulator};
use crate::config::Config;

/// A simulator of this process.
pub struct OwnSimulator {
    /// The address at which the service reaches it.
    pub simulator: Simulator,
    serving: RunningServer,
    stop: CancellationToken,
}

impl OwnSimulator {
    /// Starts it.
    ///
    /// # Errors
    /// Its address cannot be listened on, or its files cannot be used.
    pub async fn start(config: &Config, place: SimulatorOptions) -> Result<Self> {
        let kept: Option<PathBuf> = match place.is_kept {
            true => Some(config.make_data_dir()?.to_owned()),
            false => None,
        };
        let known = match &kept {
            Some(dir) => SimulatorFile::read(dir)?,
            None => None,
        };
        let noted = known.as_ref().map(|note| note.secret.clone().into());
        let secret = config.sandbox_secret.clone().or(noted);
        let secret = secret.unwrap_or_else(|| Vault::fresh_key().into());
        let http = Client::new(Policy { allow_private: config.allow_private })?;
        let dir = kept.as_ref().map(|dir| dir.join("sandbox"));
        let setup = Setup { dir, secret: secret.clone(), http, media: place.media };
        let networks = Sandbox::open(setup).await?;
        networks.set_rate_limits(config.sandbox_limits);
        if let Some(url) = &config.sandbox_public_url {
            networks.set_public_url(url);
        }
        if let Some(url) = place.webhook {
            networks.set_meta_webhooks(url.join("/api/hooks/meta/")?);
            networks.set_stripe_webhook(url);
        }
        let stop = CancellationToken::new();
        let serving = listen(&networks, place.listen, known.as_ref(), &stop).await?;
        let own = Url::parse(&format!("http://{}", serving.address()))?;
        let url = config.sandbox_url.clone().unwrap_or(own);
        networks.set_base_url(&url);
        if let Some(dir) = &kept {
            let secret = secret.expose_secret().to_owned();
            SimulatorFile { address: without_slash(&url), secret }.write(dir)?;
        }
        Ok(Self { simulator: simulator(config, url, secret), serving, stop })
    }

    /// Stops it once it is idle.
    pub async fn stop(self) {
        self.stop.cancel();
        self.serving.stopped().await;
    }
}

/// Listens at the configured address, or at the last one, so that links to earlier posts stay valid.
async fn listen(
    networks: &Sandbox,
    asked: Option<SocketAddr>,
    known: Option<&SimulatorFile>,
    stop: &CancellationToken,
) -> Result<RunningServer> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    if let Some(asked) = asked {
        return Ok(networks.clone().serve(asked, stop.clone()).await?);
    }
    if let Some(port) = known.and_then(|note| Url::parse(&note.address).ok()?.port()) {
        let last = SocketAddr::new(any.ip(), port);
        if let Ok(serving) = networks.clone().serve(last, stop.clone()).await {
            return Ok(serving);
        }
    }
    Ok(networks.clone().serve(any, stop.clone()).await?)
}

fn without_slash(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Returns the simulated Stripe account, which takes no money.
///
/// # Errors
/// The simulator's address is none.
pub fn stripe(simulator: &Simulator, http: &Client) -> Result<Option<Billing>> {
    let keys = Keys::of(&simulator.secret);
    let base = format!("{}/stripe", simulator.url.as_str().trim_end_matches('/'));
    let stripe = Stripe::new(http, base.parse()?, keys.secret_key);
    let webhook_secrets = vec![keys.webhook_secret];
    Ok(Some(Billing { stripe, webhook_secrets, is_simulated: true }))
}
