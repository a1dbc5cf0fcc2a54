//! Configuration: `FANFARE_*` variables, read once, refused with their names when they are wrong.

mod ai;
mod variables;

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use fanfare_domain::{billing::Plans, inbox::MetaSettings};
use fanfare_mail::Mailer;
use fanfare_platforms::{PlatformId, oauth::App};
use ipnet::IpNet;
use secrecy::SecretString;
use url::Url;

pub use ai::{AiConfig, Mode, Provider};
pub use variables::VARIABLES;

/// The operator's configuration.
#[derive(Clone)]
pub struct Config {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Origin of the API, if it is not the listening address.
    pub base_url: Option<String>,
    /// Directory of what is embedded.
    pub data_dir: PathBuf,
    /// The database.
    pub database_url: String,
    /// Most connections to it.
    pub database_pool: u32,
    /// Redis, if there is one.
    pub redis_url: Option<String>,
    /// The media store.
    pub media_url: String,
    /// The programs that read and convert films.
    pub tools: fanfare_media::Tools,
    /// Room for copies and conversions, in GB.
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
    /// A post later than this fails.
    pub max_lateness: Duration,
    /// Open private addresses.
    pub allow_private: bool,
    /// `up` brings simulated networks of its own.
    pub simulator: bool,
    /// The simulated networks elsewhere.
    pub sandbox_url: Option<Url>,
    /// The origin of the simulator's pages, if it differs.
    pub sandbox_public_url: Option<Url>,
    /// The secret of the simulator's control.
    pub sandbox_secret: Option<SecretString>,
    /// Settings for Meta's networks.
    pub meta: MetaSettings,
    /// The simulated networks have the real ones' limits.
    pub sandbox_limits: bool,
    /// Divides ages and intervals of accounts on the simulated networks.
    pub sandbox_time_factor: f64,
    /// Numbers of posts on X are read.
    pub x_metrics: bool,
    /// Base URLs of platforms.
    pub platform_urls: BTreeMap<PlatformId, Url>,
    /// Apps registered with platforms.
    pub apps: BTreeMap<PlatformId, App>,
    /// The real Stripe, if persons pay there.
    pub stripe: Option<Stripe>,
    /// The plans that are sold.
    pub plans: Plans,
    /// The providers of models.
    pub ai: AiConfig,
    /// May anybody sign up?
    pub signup_open: bool,
    /// The mail server, if there is one.
    pub mailer: Option<Mailer>,
    /// The time a spent refresh token is good for another pair.
    pub oauth_grace: Duration,
    /// The age of a log-in after which its password is asked for again.
    pub reauth: Duration,
    /// Log filter.
    pub log: String,
    /// Log as JSON.
    pub log_json: bool,
    /// The failpoint at which a test stops the workers.
    pub failpoint: Option<String>,
    /// Multiplies inbound limits.
    pub limits_factor: f64,
    /// Networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
}

impl Config {
    /// Reads the process's environment.
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
        Self::from_variables(variables)
    }

    /// Reads these variables.
    ///
    /// # Errors
    /// The first one that is unknown or wrong, by name.
    pub fn from_variables(variables: BTreeMap<String, String>) -> Result<Self> {
        // An empty variable is one that is not set, as in compose files.
        let mut given = Given(variables.into_iter().filter(|(_, v)| !v.is_empty()).collect());
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
            simulator: given.on_or_off("FANFARE_SIMULATOR")?.unwrap_or(true),
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
            platform_urls: given.platform_urls()?,
            apps: given.apps()?,
            stripe: given.stripe()?,
            plans: given.plans()?,
            ai: AiConfig::take(&mut given)?,
            signup_open: given.signup_open()?,
            mailer: given.mailer()?,
            oauth_grace: given.oauth_grace()?,
            reauth: given.duration("FANFARE_REAUTH")?.unwrap_or(Duration::from_secs(3_600)),
            log: given.take("FANFARE_LOG").unwrap_or("info".into()),
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

    /// Returns the origin by which callers reach an API that listens at this address.
    #[must_use]
    pub fn origin(&self, listen: SocketAddr) -> String {
        self.base_url.clone().unwrap_or_else(|| format!("http://{listen}"))
    }

    /// Returns where the API that listens at this address serves media.
    #[must_use]
    pub fn media_origin(&self, listen: SocketAddr) -> String {
        let below = || format!("{}/media", self.origin(listen));
        self.media_base_url.clone().unwrap_or_else(below)
    }

    /// True when the database is a file of this machine.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.database_url.starts_with("sqlite:")
    }

    /// The file of the database, if it is one.
    #[must_use]
    pub fn database_file(&self) -> Option<&Path> {
        let path = self.database_url.strip_prefix("sqlite:")?;
        let path = path.strip_prefix("//").unwrap_or(path);
        Some(Path::new(path.split_once('?').map_or(path, |(path, _)| path)))
    }

    /// Makes the data directory, if something is to be kept in it.
    ///
    /// # Errors
    /// The file system's.
    pub fn make_data_dir(&self) -> Result<&Path> {
        crate::private::make_dir(&self.data_dir).context("FANFARE_DATA_DIR")?;
        Ok(&self.data_dir)
    }
}

/// The Stripe account that persons pay to.
#[derive(Clone)]
pub struct Stripe {
    /// The address of its API.
    pub url: Url,
    /// The API's key.
    pub secret_key: SecretString,
    /// The secrets that sign its webhooks.
    pub webhook_secrets: Vec<SecretString>,
}

/// Variables that nothing has asked for yet.
struct Given(BTreeMap<String, String>);

impl Given {
    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    fn parse<T: std::str::FromStr>(&mut self, name: &str, wanted: &str) -> Result<Option<T>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| anyhow::anyhow!("{name} must be {wanted}, not {text:?}"))
    }

    fn list(&mut self, name: &str) -> Vec<String> {
        let text = self.take(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    fn networks(&mut self, name: &str) -> Result<Vec<IpNet>> {
        let parse = |item: String| {
            let network = item.parse().or_else(|_| item.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| {
                anyhow::anyhow!(
                    "{name} must be networks like 10.0.0.0/8, separated by commas, not {item:?}"
                )
            })
        };
        self.list(name).into_iter().map(parse).collect()
    }

    fn switch(&mut self, name: &str) -> Result<bool> {
        Ok(self.parse(name, "true or false")?.unwrap_or(false))
    }

    fn on_or_off(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name).as_deref() {
            None => Ok(None),
            Some("on") => Ok(Some(true)),
            Some("off") => Ok(Some(false)),
            Some(other) => bail!("{name} must be on or off, not {other:?}"),
        }
    }

    fn duration(&mut self, name: &str) -> Result<Option<Duration>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        humantime::parse_duration(&text)
            .map(Some)
            .map_err(|_| anyhow::anyhow!("{name} must be a duration like 2s or 24h, not {text:?}"))
    }

    fn origin(&mut self, name: &str) -> Result<Option<String>> {
        let url: Option<Url> = self.parse(name, "an address like https://fanfare.example.com")?;
        Ok(url.map(|url| url.as_str().trim_end_matches('/').to_owned()))
    }

    fn database(&mut self) -> Result<Option<String>> {
        let Some(url) = self.take("FANFARE_DATABASE_URL") else { return Ok(None) };
        if ["sqlite:", "postgres:", "postgresql:"].iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(Some(url));
        }
        bail!("FANFARE_DATABASE_URL must begin with sqlite:// or postgres://");
    }

    fn log_json(&mut self) -> Result<bool> {
        match self.take("FANFARE_LOG_FORMAT").as_deref() {
            None | Some("text") => Ok(false),
            Some("json") => Ok(true),
            Some(other) => bail!("FANFARE_LOG_FORMAT must be text or json, not {other:?}"),
        }
    }

    fn failpoint(&mut self) -> Result<Option<String>> {
        use fanfare_domain::failpoint::{
            ANALYSING, ANSWERING, CONNECTING, COPYING, DELIVERING, FILMING, KEEPING, MAILING,
            OUTGOING, PAYING, PUBLISHING, RECEIVING,
        };
        let place = self.take("FANFARE_FAILPOINT");
        let known = [
            PUBLISHING, COPYING, ANALYSING, DELIVERING, ANSWERING, RECEIVING, CONNECTING, KEEPING,
            MAILING, OUTGOING, PAYING, FILMING,
        ]
        .concat();
        let name = place.as_deref().map(|place| place.split(':').next().unwrap_or_default());
        match name {
            Some(name) if !known.contains(&name) => {
                bail!("FANFARE_FAILPOINT must be one of {}, not {name:?}", known.join(", "))
            }
            _ => Ok(place),
        }
    }

    fn platform_urls(&mut self) -> Result<BTreeMap<PlatformId, Url>> {
        let mut urls = BTreeMap::new();
        for platform in fanfare_platforms::all() {
            let id = platform.spec().id;
            let name = id.as_str().to_uppercase();
            if let Some(url) = self.parse(&format!("FANFARE_{name}_URL"), "an http(s) address")? {
                urls.insert(id, url);
            }
        }
        Ok(urls)
    }

    /// Id and secret of each app; half of a pair is a mistake that would show only when somebody connects.
    fn apps(&mut self) -> Result<BTreeMap<PlatformId, App>> {
        let mut apps = BTreeMap::new();
        for platform in fanfare_platforms::all() {
            let id = platform.spec().id;
            let [id_name, secret_name] = id.app_variables();
            match (self.take(&id_name), self.take(&secret_name)) {
                (None, None) => {}
                (Some(client_id), Some(secret)) => {
                    apps.insert(id, App { client_id, client_secret: secret.into() });
                }
                _ => bail!("{id_name} and {secret_name} must be set together"),
            }
        }
        Ok(apps)
    }

    /// A key without the secret of its webhooks would take money and hear nothing of it.
    fn stripe(&mut self) -> Result<Option<Stripe>> {
        let url = self.parse("FANFARE_STRIPE_URL", "an address like https://api.stripe.com")?;
        let key = self.take("FANFARE_STRIPE_SECRET_KEY");
        let secrets = self.list("FANFARE_STRIPE_WEBHOOK_SECRET");
        match (key, secrets.is_empty()) {
            (None, true) if url.is_none() => Ok(None),
            (Some(key), false) => Ok(Some(Stripe {
                url: url.unwrap_or(Url::parse("https://api.stripe.com")?),
                secret_key: key.into(),
                webhook_secrets: secrets.into_iter().map(Into::into).collect(),
            })),
            _ => bail!(
                "FANFARE_STRIPE_SECRET_KEY and FANFARE_STRIPE_WEBHOOK_SECRET must be set together"
            ),
        }
    }

    fn plans(&mut self) -> Result<Plans> {
        let Some(path) = self.take("FANFARE_PLANS") else { return Ok(Plans::ours()?) };
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("FANFARE_PLANS {path}"))?;
        Plans::parse(&text).context("FANFARE_PLANS")
    }

    fn signup_open(&mut self) -> Result<bool> {
        match self.take("FANFARE_SIGNUP").as_deref() {
            None | Some("open") => Ok(true),
            Some("closed") => Ok(false),
            Some(other) => bail!("FANFARE_SIGNUP must be open or closed, not {other:?}"),
        }
    }

    fn oauth_grace(&mut self) -> Result<Duration> {
        let grace = self.duration("FANFARE_OAUTH_GRACE")?.unwrap_or_default();
        if grace > Duration::from_secs(60) {
            bail!(
                "FANFARE_OAUTH_GRACE must be at most 60s: for so long a stolen token would be good"
            );
        }
        Ok(grace)
    }

    fn mailer(&mut self) -> Result<Option<Mailer>> {
        match (self.take("FANFARE_SMTP_URL"), self.take("FANFARE_MAIL_FROM")) {
            (None, None) => Ok(None),
            (Some(url), Some(from)) => Mailer::new(&url.into(), &from)
                .map(Some)
                .context("FANFARE_SMTP_URL and FANFARE_MAIL_FROM"),
            _ => bail!("FANFARE_SMTP_URL and FANFARE_MAIL_FROM must be set together"),
        }
    }

    fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.take(name);
        }
    }

    fn refuse_rest(&self) -> Result<()> {
        let Some(name) = self.0.keys().next() else { return Ok(()) };
        let nearest = VARIABLES
            .iter()
            .map(|(known, _)| (strsim::damerau_levenshtein(name, known), *known))
            .min()
            .map_or("", |(_, known)| known);
        bail!(
            "{name} is not a variable of Fanfare; did you mean {nearest}? `fanfare up --help` names them all"
        );
    }
}

/// Finds ffmpeg: in the configured directory, which must have it, or else on the search path.
fn tools(directory: Option<&str>) -> Result<fanfare_media::Tools> {
    let search = std::env::var_os("PATH");
    let found = fanfare_media::Tools::find(directory.map(std::path::Path::new), search.as_deref());
    if directory.is_some() && (found.ffmpeg.is_none() || found.ffprobe.is_none()) {
        bail!("FANFARE_FFMPEG_DIR is not a directory with ffmpeg and ffprobe in it");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::{Config, VARIABLES};

    fn read(pairs: &[(&str, &str)]) -> anyhow::Result<Config> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::from_variables(pairs.collect::<BTreeMap<_, _>>())
    }

    fn refusal(name: &str, value: &str) -> String {
        read(&[(name, value)]).err().map_or_else(String::new, |error| format!("{error:#}"))
    }

    #[test]
    fn a_wrong_variable_is_refused_by_name() {
        for (name, value) in [
            ("FANFARE_LISTEN", "nowhere"),
            ("FANFARE_SIMULATOR", "maybe"),
            ("FANFARE_SANDBOX_PUBLIC_URL", "here"),
            ("FANFARE_METRICS_LISTEN", "9090"),
            ("FANFARE_MAX_LATENESS", "soon"),
            ("FANFARE_ALLOW_PRIVATE_TARGETS", "maybe"),
            ("FANFARE_DATABASE_URL", "mysql://x"),
            ("FANFARE_LOG_FORMAT", "xml"),
            ("FANFARE_BLUESKY_URL", "::"),
            ("FANFARE_THREADS_CLIENT_ID", "half a pair"),
            ("FANFARE_FAILPOINT", "elsewhere"),
            ("FANFARE_TRUSTED_PROXIES", "10.0.0.0/8, everyone"),
            ("FANFARE_LIMITS_FACTOR", "-1"),
            ("FANFARE_LIMITS_FACTOR", "NaN"),
            ("FANFARE_LISTNE", "127.0.0.1:1"),
        ] {
            assert!(refusal(name, value).contains(name), "{name}: {}", refusal(name, value));
        }
        assert!(refusal("FANFARE_LISTNE", "x").contains("did you mean FANFARE_LISTEN"));
    }

    #[test]
    fn durations_and_defaults() {
        assert_eq!(read(&[]).unwrap().max_lateness, Duration::from_secs(86_400));
        let short = read(&[("FANFARE_MAX_LATENESS", "2s")]).unwrap();
        assert_eq!(short.max_lateness, Duration::from_secs(2));
        assert!(read(&[("FANFARE_REDIS_URL", "")]).unwrap().redis_url.is_none());
    }

    #[test]
    fn the_example_file_names_exactly_these_variables() {
        let example = include_str!("../.env.example");
        let written: Vec<&str> = example
            .lines()
            .filter_map(|line| line.trim_start_matches("# ").split_once('='))
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("FANFARE_"))
            .collect();
        let known: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(written, known);
    }
}
