//! The simulator: in this process or another one, and the file with its address and secret.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use fanfare_core::simulator::Simulator;
use fanfare_core::vault::Vault;
use fanfare_outbound::{Client, Policy};
use fanfare_sandbox::{RunningServer, Sandbox, Setup};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{config::Config, private};

/// Name of the file in `FANFARE_DATA_DIR`.
const FILE: &str = "simulator.json";

/// The address and secret of a data directory's simulator. Has no `Debug`, because it holds the secret.
#[derive(Serialize, Deserialize)]
pub struct SimulatorFile {
    /// Its origin, without a trailing slash.
    pub address: String,
    /// The bearer token of its control. Created at the first start and kept, because names of realms are derived from
    /// it.
    pub secret: String,
}

impl SimulatorFile {
    /// Reads the file in a data directory; `None` if no simulator was started there.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed.
    pub fn read(data_dir: &Path) -> Result<Option<Self>> {
        let path = data_dir.join(FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        serde_json::from_slice(&text).map(Some).with_context(|| path.display().to_string())
    }

    fn write(&self, data_dir: &Path) -> Result<()> {
        private::replace(&data_dir.join(FILE), &serde_json::to_vec(self)?)
    }
}

/// Returns the simulator in another process: the configured one, or beside a service on SQLite the one that its file in
/// the data directory names.
///
/// # Errors
/// Its secret is not known.
pub fn elsewhere(config: &Config) -> Result<Option<Simulator>> {
    let (address, secret) = match SimulatorFile::read(&config.data_dir)? {
        Some(SimulatorFile { address, secret }) => (Some(address), Some(secret.into())),
        None => (None, None),
    };
    let beside = address.filter(|_| config.is_embedded());
    let beside = beside.map(|address| address.parse()).transpose().context(FILE)?;
    let Some(url) = config.sandbox_url.clone().or(beside) else { return Ok(None) };
    let Some(secret) = config.sandbox_secret.clone().or(secret) else {
        bail!(
            "FANFARE_SANDBOX_SECRET is required with FANFARE_SANDBOX_URL; \
             `fanfare sandbox --show` prints it where the simulator runs"
        );
    };
    Ok(Some(simulator(config, url, secret)))
}

fn simulator(config: &Config, url: Url, secret: SecretString) -> Simulator {
    let pages = config.sandbox_public_url.clone().unwrap_or_else(|| url.clone());
    Simulator { url, pages, secret }
}

fn without_slash(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// A simulator of this process.
pub struct OwnSimulator {
    /// The address at which the service reaches it.
    pub simulator: Simulator,
    serving: RunningServer,
    stop: CancellationToken,
}

/// Options of a simulator in this process.
pub struct SimulatorOptions {
    /// Keep its state and its file in the data directory.
    pub is_kept: bool,
    /// Its address; by default the last one, or else any free port on loopback.
    pub listen: Option<SocketAddr>,
    /// The origin at which the service serves media, if known.
    pub media: Option<Url>,
    /// The address at which the service receives payment events, if known.
    pub webhook: Option<Url>,
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
