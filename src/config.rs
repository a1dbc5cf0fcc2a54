//! Configuration: `FANFARE_*` variables, read once. An invalid one is refused by name.

mod ai;
mod reader;
#[cfg(test)]
mod tests;
mod variables;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use fanfare_conversations::inbox::MetaSettings;
use fanfare_mail::Mailer;
use fanfare_people::billing::Plans;
use fanfare_platforms::{Overrides, PlatformId, VideoService, oauth::App};
use ipnet::IpNet;
use secrecy::SecretString;
use url::Url;

use reader::VariableReader;

pub use ai::{AiConfig, AiMode, ProviderConfig, VertexConfig};
pub use variables::VARIABLES;

/// The operator's configuration.
#[derive(Clone)]
pub struct Config {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Origin of the API, if it is not the listening address.
    pub base_url: Option<String>,
    /// Directory of the embedded database, media and keys.
    pub data_dir: PathBuf,
    /// The database.
    pub database_url: String,
    /// The most connections to it.
    pub database_pool: u32,
    /// Address of Redis, if it is used.
    pub redis_url: Option<String>,
    /// The media store.
    pub media_url: String,
    /// The programs that inspect and convert videos.
    pub tools: fanfare_media::Tools,
    /// Disk space for copies and conversions, in GB.
    pub scratch_gb: u64,
    /// The origin of media, if it is not the API's.
    pub media_base_url: Option<String>,
    /// Access to the media store.
    pub media_access: fanfare_media::S3,
    /// The address at which metrics are served, if they are.
    pub metrics_listen: Option<SocketAddr>,
    /// The master key, if it is not in a file.
    pub master_key: Option<String>,
    /// Earlier master keys.
    pub master_keys_old: Vec<String>,
    /// The lateness from which on a post fails.
    pub max_lateness: Duration,
    /// Allow requests to private addresses.
    pub allow_private: bool,
    /// `up` starts its own simulated networks.
    pub simulator: bool,
    /// The address of simulated networks in another process.
    pub sandbox_url: Option<Url>,
    /// The origin of the simulator's pages, if it differs.
    pub sandbox_public_url: Option<Url>,
    /// The secret of the simulator's control.
    pub sandbox_secret: Option<SecretString>,
    /// Settings for Meta's networks.
    pub meta: MetaSettings,
    /// The simulated networks enforce the real ones' limits.
    pub sandbox_limits: bool,
    /// Divides ages and intervals of accounts on the simulated networks.
    pub sandbox_time_factor: f64,
    /// Read metrics of posts on X.
    pub x_metrics: bool,
    /// Versions of APIs and permissions in place of those of this release.
    pub overrides: Overrides,
    /// The second header that carries the signature of webhooks.
    pub signature_header: Option<String>,
    /// Base URLs of platforms.
    pub platform_urls: BTreeMap<PlatformId, Url>,
    /// The service that videos for Bluesky are sent to.
    pub bluesky_video: VideoService,
    /// Apps registered with platforms.
    pub apps: BTreeMap<PlatformId, App>,
    /// The Stripe account, if there is one.
    pub stripe: Option<StripeConfig>,
    /// The plans that are sold.
    pub plans: Plans,
    /// The providers of models.
    pub ai: AiConfig,
    /// True if anybody may sign up.
    pub signup_open: bool,
    /// The mail server, if there is one.
    pub mailer: Option<Mailer>,
    /// The time for which a used refresh token may be used once more.
    pub oauth_grace: Duration,
    /// The age of a session after which serious changes need the password again.
    pub reauth: Duration,
    /// The time for which an API process that was asked to stop still takes requests.
    pub drain_delay: Duration,
    /// Log filter.
    pub log: Option<String>,
    /// Log as JSON.
    pub log_json: bool,
    /// The failpoint at which a test stops the workers.
    pub failpoint: Option<String>,
    /// Multiplies inbound limits.
    pub limits_factor: f64,
    /// Networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
}

impl Config {
    /// Reads the process's environment. What it says of networks in place of this release applies from now on.
    ///
    /// # Errors
    /// The first variable that is unknown or wrong, by name.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn from_env() -> Result<Self> {
        let named = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| name.starts_with("FANFARE_"))?;
            Some((name, value.into_string().ok()))
        });
        let mut variables = BTreeMap::new();
        for (name, value) in named {
            let Some(value) = value else { bail!("{name} is not valid UTF-8") };
            variables.insert(name, value);
        }
        let config = Self::from_variables(variables)?;
        config.overrides.clone().apply();
        Ok(config)
    }

    /// Reads the configuration from these variables.
    ///
    /// # Errors
    /// The first one that is unknown or wrong, by name.
    pub fn from_variables(variables: BTreeMap<String, String>) -> Result<Self> {
        // An empty variable counts as unset, as in compose files.
        let mut given =
            VariableReader(variables.into_iter().filter(|(_, v)| !v.is_empty()).collect());
        let data_dir = PathBuf::from(given.take("FANFARE_DATA_DIR").unwrap_or("./data".into()));
        let data_dir = std::path::absolute(&data_dir).context("FANFARE_DATA_DIR")?;
        let default_database = format!("sqlite://{}", data_dir.join("fanfare.db").display());
        let default_media = format!("file://{}", data_dir.join("media").display());
        let config = Self {
            listen: given
                .parse("FANFARE_LISTEN", "an address like 127.0.0.1:8080")?
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))),
            base_url: given.origin("FANFARE_BASE_URL")?,
            database_url: given.database()?.unwrap_or(default_database),
            database_pool: given.parse("FANFARE_DATABASE_POOL", "a number from 1")?.unwrap_or(8),
            redis_url: given.take("FANFARE_REDIS_URL"),
            media_url: given.take("FANFARE_MEDIA_URL").unwrap_or(default_media),
            tools: tools(given.take("FANFARE_FFMPEG_DIR").as_deref())?,
            scratch_gb: given.parse("FANFARE_SCRATCH_GB", "a whole number of GB")?.unwrap_or(20),
            media_base_url: given.origin("FANFARE_MEDIA_BASE_URL")?,
            media_access: fanfare_media::S3 {
                access_key: given.take("FANFARE_MEDIA_ACCESS_KEY").map(Into::into),
                secret_key: given.take("FANFARE_MEDIA_SECRET_KEY").map(Into::into),
                region: given.take("FANFARE_MEDIA_REGION"),
            },
            metrics_listen: given
                .parse("FANFARE_METRICS_LISTEN", "an address like 127.0.0.1:9090")?,
            master_key: given.take("FANFARE_MASTER_KEY"),
            master_keys_old: given.list("FANFARE_MASTER_KEY_OLD"),
            max_lateness: given
                .duration("FANFARE_MAX_LATENESS")?
                .unwrap_or(Duration::from_secs(86_400)),
            allow_private: given.switch("FANFARE_ALLOW_PRIVATE_TARGETS")?,
            simulator: given.on_or_off("FANFARE_SIMULATOR")?.unwrap_or(cfg!(feature = "simulator")),
            sandbox_url: given
                .parse("FANFARE_SANDBOX_URL", "an address like http://127.0.0.1:9090")?,
            sandbox_public_url: given.parse(
                "FANFARE_SANDBOX_PUBLIC_URL",
                "an address like https://networks.example.com",
            )?,
            sandbox_secret: given.take("FANFARE_SANDBOX_SECRET").map(Into::into),
            meta: MetaSettings {
                verify_token: given.take("FANFARE_META_VERIFY_TOKEN").map(Into::into),
                human_agent: given.switch("FANFARE_META_HUMAN_AGENT")?,
            },
            sandbox_limits: given.switch("FANFARE_SANDBOX_LIMITS")?,
            sandbox_time_factor: given
                .parse("FANFARE_SANDBOX_TIME_FACTOR", "a number from 1")?
                .unwrap_or(1.0),
            x_metrics: given.switch("FANFARE_X_METRICS")?,
            overrides: given.overrides()?,
            signature_header: given.signature_header()?,
            platform_urls: given.platform_urls()?,
            bluesky_video: given.bluesky_video()?,
            apps: given.apps()?,
            stripe: given.stripe()?,
            plans: given.plans()?,
            ai: AiConfig::take(&mut given)?,
            signup_open: given.signup_open()?,
            mailer: given.mailer()?,
            oauth_grace: given.oauth_grace()?,
            reauth: given.duration("FANFARE_REAUTH")?.unwrap_or(Duration::from_secs(3_600)),
            drain_delay: given.duration("FANFARE_DRAIN_DELAY")?.unwrap_or_default(),
            log: given.take("FANFARE_LOG"),
            log_json: given.log_json()?,
            failpoint: given.failpoint()?,
            limits_factor: given.parse("FANFARE_LIMITS_FACTOR", "a number above 0")?.unwrap_or(1.0),
            trusted_proxies: given.networks("FANFARE_TRUSTED_PROXIES")?,
            data_dir,
        };
        given.ignore(&["FANFARE_URL", "FANFARE_API_KEY"]);
        given.refuse_rest()?;
        if !(config.limits_factor > 0.0 && config.limits_factor.is_finite())
            || config.database_pool == 0
            || config.scratch_gb == 0
        {
            bail!(
                "FANFARE_LIMITS_FACTOR, FANFARE_DATABASE_POOL and FANFARE_SCRATCH_GB must be above 0"
            );
        }
        if !(config.sandbox_time_factor >= 1.0 && config.sandbox_time_factor.is_finite()) {
            bail!("FANFARE_SANDBOX_TIME_FACTOR must be 1 or more");
        }
        Ok(config)
    }

    /// Returns the public origin of an API that listens at this address.
    #[must_use]
    pub fn origin(&self, listen: SocketAddr) -> String {
        self.base_url.clone().unwrap_or_else(|| format!("http://{listen}"))
    }

    /// Returns the public origin of media, for an API that listens at this address.
    #[must_use]
    pub fn media_origin(&self, listen: SocketAddr) -> String {
        let below = || format!("{}/media", self.origin(listen));
        self.media_base_url.clone().unwrap_or_else(below)
    }

    /// Returns true if the database is a file on this machine.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.database_url.starts_with("sqlite:")
    }

    /// Returns the file of the database, if it is one.
    #[must_use]
    pub fn database_file(&self) -> Option<&Path> {
        let path = self.database_url.strip_prefix("sqlite:")?;
        let path = path.strip_prefix("//").unwrap_or(path);
        Some(Path::new(path.split_once('?').map_or(path, |(path, _)| path)))
    }

    /// Creates the data directory.
    ///
    /// # Errors
    /// The file system's.
    pub fn make_data_dir(&self) -> Result<&Path> {
        crate::private::make_dir(&self.data_dir).context("FANFARE_DATA_DIR")?;
        Ok(&self.data_dir)
    }
}

/// The Stripe account that users pay to.
#[derive(Clone)]
pub struct StripeConfig {
    /// The address of its API.
    pub url: Url,
    /// The API's key.
    pub secret_key: SecretString,
    /// The secrets that sign its webhooks.
    pub webhook_secrets: Vec<SecretString>,
}

/// Finds ffmpeg in the configured directory, which must contain it, or else in `PATH`.
fn tools(directory: Option<&str>) -> Result<fanfare_media::Tools> {
    let search = std::env::var_os("PATH");
    let found = fanfare_media::Tools::find(directory.map(std::path::Path::new), search.as_deref());
    if directory.is_some() && (found.ffmpeg.is_none() || found.ffprobe.is_none()) {
        bail!("FANFARE_FFMPEG_DIR is not a directory with ffmpeg and ffprobe in it");
    }
    Ok(found)
}
