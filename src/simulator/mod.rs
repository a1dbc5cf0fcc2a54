//! The simulator: in this process or another one, and the file with its address and secret.

#[cfg(feature = "simulator")]
mod own;
#[cfg(not(feature = "simulator"))]
#[path = "none.rs"]
mod own;

use std::{net::SocketAddr, path::Path};

use anyhow::{Context as _, Result, bail};
use fanfare_core::simulator::Simulator;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

pub use own::{OwnSimulator, stripe};

use crate::config::Config;
#[cfg(feature = "simulator")]
use crate::private;

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

    #[cfg(feature = "simulator")]
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

/// Options of a simulator in this process.
#[cfg_attr(not(feature = "simulator"), expect(dead_code, reason = "nothing is started with them"))]
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
