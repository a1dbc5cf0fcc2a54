//! Builds the service from its configuration.

use std::{net::SocketAddr, path::Path};

use anyhow::{Context as _, Result, bail};
use fanfare_ai::{Ai, Endpoint, ServiceAccount, TextModel, Vertex};
use fanfare_core::simulator::Simulator;
use fanfare_core::{
    Domain, Parts, Settings,
    access::{OWNER, Scope},
    clock::{Clock, machine_now},
    db::Db,
    failpoint::Failpoint,
    vault::Vault,
};
use fanfare_jobs::Queue;
use fanfare_limits::{Limits, TimeSource};
use fanfare_media::{Scratch, Store};
use fanfare_ops::assemble::FeatureSettings;
use fanfare_outbound::{Client, Policy};
use fanfare_payments::Stripe;
use fanfare_people::{billing::Billing, keys, sign_in::links, users};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    config::{AiMode, Config, ProviderConfig, VertexConfig},
    private, simulator,
};

/// Options in which the commands that start the service differ.
pub struct StartOptions {
    /// The address of the API, for links in replies.
    pub listen: SocketAddr,
    /// Migrate the schema; otherwise it must be up to date.
    pub migrate: bool,
    /// The simulator of this process, if it has one.
    pub simulator: Option<Simulator>,
}

/// Brings the schema up to date; one line of the log says so.
///
/// # Errors
/// The database's.
pub async fn migrate(db: &Db) -> Result<()> {
    let was_ready = fanfare_migration::check(&db.write).await.is_ok();
    fanfare_migration::migrate(&db.write).await?;
    if !was_ready {
        tracing::info!("the database's schema was brought up to date");
    }
    Ok(())
}

/// Builds the domain.
///
/// # Errors
/// Something is missing; the message tells the operator what.
pub async fn domain(config: &Config, way: StartOptions) -> Result<Domain> {
    if config.is_embedded() {
        config.make_data_dir()?;
    }
    if let Some(file) = config.database_file() {
        restrict_database(file)?;
    }
    // What is missing in the configuration is said before anything is opened.
    let simulator = match way.simulator {
        Some(own) => Some(own),
        None => simulator::elsewhere(config)?,
    };
    let vault = vault(config)?;
    let db = Db::open(&config.database_url, config.database_pool)
        .await
        .context("FANFARE_DATABASE_URL: the database cannot be opened")?;
    if way.migrate {
        migrate(&db).await?;
    } else {
        fanfare_migration::check(&db.write).await?;
    }
    vault.prove(&db, machine_now()).await?;
    let queue = match &config.redis_url {
        Some(url) => Queue::redis(url).await.context("FANFARE_REDIS_URL")?,
        None => Queue::memory(),
    };
    let limits = match &config.redis_url {
        Some(url) => Limits::redis(url, TimeSource::Store).context("FANFARE_REDIS_URL")?,
        None => Limits::memory(TimeSource::Store),
    };
    if let Some(dir) = config.media_url.strip_prefix("file://") {
        private::make_dir(Path::new(dir)).context("FANFARE_MEDIA_URL")?;
    }
    let store =
        Store::open(&config.media_url, config.media_access.clone()).context("FANFARE_MEDIA_URL")?;
    let http = Client::new(Policy { allow_private: config.allow_private })?;
    let settings = Settings {
        base_url: config.origin(way.listen),
        media_base_url: config.media_origin(way.listen),
        allow_private: config.allow_private,
        simulator,
        signature_header: config.signature_header.clone(),
        limits_factor: config.limits_factor,
        trusted_proxies: config.trusted_proxies.clone(),
    };
    let features = feature_settings(config, &settings, &http)?.features();
    let clock = Clock::machine();
    let failpoint = Failpoint::at(config.failpoint.as_deref());
    let parts =
        Parts { db, clock, queue, limits, vault, http, store, settings, features, failpoint };
    Ok(Domain::new(parts))
}

fn feature_settings(
    config: &Config,
    settings: &Settings,
    http: &Client,
) -> Result<FeatureSettings> {
    Ok(FeatureSettings {
        people: fanfare_people::Settings {
            billing: billing(config, settings, http)?,
            plans: config.plans.clone(),
            signup_open: config.signup_open,
            oauth_grace: i64::try_from(config.oauth_grace.as_millis()).unwrap_or_default(),
            reauth: i64::try_from(config.reauth.as_millis()).unwrap_or(i64::MAX / 4),
            mailer: config.mailer.clone(),
        },
        publishing: fanfare_publishing::Settings {
            max_lateness: i64::try_from(config.max_lateness.as_millis()).unwrap_or(i64::MAX / 4),
            platform_urls: config.platform_urls.clone(),
            bluesky_video: config.bluesky_video.clone(),
            apps: config.apps.clone(),
            sandbox_limits: config.sandbox_limits,
            sandbox_time_factor: config.sandbox_time_factor,
            tools: config.tools.clone(),
            scratch: Scratch::new(config.data_dir.join("scratch"), config.scratch_gb << 30),
        },
        conversations: fanfare_conversations::Settings { meta: config.meta.clone() },
        insight: fanfare_insight::Settings {
            ai: ai(config, settings, http)?,
            x_metrics: config.x_metrics,
        },
    })
}

/// Returns the Stripe account: the operator's, else the simulated one if only this machine can reach the service.
fn billing(config: &Config, settings: &Settings, http: &Client) -> Result<Option<Billing>> {
    if let Some(real) = &config.stripe {
        let stripe = Stripe::new(http, real.url.clone(), real.secret_key.clone());
        let webhook_secrets = real.webhook_secrets.clone();
        return Ok(Some(Billing { stripe, webhook_secrets, is_simulated: false }));
    }
    match &settings.simulator {
        Some(own) if settings.is_on_loopback() => simulator::stripe(own, http),
        _ => Ok(None),
    }
}

/// Returns the providers of models: the operator's, or the simulated ones.
fn ai(config: &Config, settings: &Settings, http: &Client) -> Result<Ai> {
    let given = &config.ai;
    let catalogue = given.catalogue.clone();
    let mut ai = match (given.mode(config.is_embedded()), &settings.simulator) {
        (AiMode::Live, _) => {
            let mut ai = Ai::none(catalogue);
            let at = |peer, it: &ProviderConfig| {
                Endpoint::new(http, peer, it.url.clone(), it.key.clone())
            };
            ai.xai = given.xai.as_ref().map(|it| at("xai", it));
            ai.google = given.google.as_ref().map(|it| at("google_ai", it));
            ai.vertex = vertex(config, http)?;
            ai.text = given.text.as_ref().map(|(provider, model)| TextModel {
                endpoint: at("text_model", provider),
                provider: provider.url.host_str().unwrap_or_default().to_owned(),
                model: model.clone(),
            });
            ai
        }
        (AiMode::Sandbox, Some(simulator)) => {
            let base = simulator.url.join("/ai/")?;
            let at = |path: &'static str| {
                let url = base.join(path).unwrap_or_else(|_| base.clone());
                Endpoint::new(http, "simulator", url, Some(simulator.secret.clone()))
            };
            let mut ai = Ai::sandbox(catalogue, at);
            let place = |it: &VertexConfig| {
                Vertex::new(at("vertex"), (it.project.as_str(), it.location.as_str()), None)
            };
            ai.vertex = given.vertex.as_ref().map(place);
            ai
        }
        (AiMode::Sandbox | AiMode::Off, _) => Ai::none(catalogue),
    };
    ai.factor = given.factor;
    Ok(ai)
}

/// Returns the operator's project at Vertex AI, with its service account.
fn vertex(config: &Config, http: &Client) -> Result<Option<Vertex>> {
    let Some(given) = &config.ai.vertex else { return Ok(None) };
    let Some(account) = &given.account else { return Ok(None) };
    let account = ServiceAccount::read(http, account.expose_secret())
        .context("FANFARE_VERTEX_CREDENTIALS")?;
    let endpoint = Endpoint::new(http, "vertex", given.url.clone(), None);
    Ok(Some(Vertex::new(
        endpoint,
        (given.project.as_str(), given.location.as_str()),
        Some(account),
    )))
}

/// Makes a database of an earlier version private; the umask makes new files private.
fn restrict_database(file: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(end);
        if Path::new(&path).exists() {
            private::restrict(Path::new(&path), 0o600)?;
        }
    }
    Ok(())
}

/// Returns the master keys: from the environment, else from a file created at the first start.
///
/// # Errors
/// There is no key, or it is none.
pub fn vault(config: &Config) -> Result<Vault> {
    let current = match &config.master_key {
        Some(key) => key.clone(),
        None if config.is_embedded() => key_file(&config.data_dir.join("master.key"))?,
        None => bail!(
            "FANFARE_MASTER_KEY is required with PostgreSQL; make one with `openssl rand -base64 32` \
             and give every process the same"
        ),
    };
    Vault::new(&current, &config.master_keys_old).context("FANFARE_MASTER_KEY")
}

fn key_file(path: &Path) -> Result<String> {
    match std::fs::read_to_string(path) {
        Ok(key) => {
            private::restrict(path, 0o600)?;
            return Ok(key);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("{}", path.display())),
    }
    let key = Vault::fresh_key();
    private::write_new(path, key.as_bytes())?;
    Ok(key)
}

/// What the owner of a new installation needs.
pub struct FirstStart {
    /// A key for everything.
    pub key: SecretString,
    /// A link that logs the owner in once, and sets a password.
    pub link: SecretString,
}

/// Creates the owner with a key and a link if there is no user yet.
///
/// # Errors
/// The database's.
pub async fn first_owner(cx: &Domain) -> Result<Option<FirstStart>> {
    if users::count(cx).await? > 0 {
        return Ok(None);
    }
    let user_id = users::find_or_create(cx, OWNER).await?;
    let new = keys::NewKey {
        user_id,
        workspace_id: None,
        name: "first key".to_owned(),
        scopes: Scope::ALL.to_vec(),
    };
    let key = keys::create(cx, new).await?;
    let link = links::create_first(cx, user_id, "/dashboard").await?;
    Ok(Some(FirstStart { key, link }))
}
