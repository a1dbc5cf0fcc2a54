//! The simulated networks: HTTP servers that implement each platform's API.
//!
//! Written from the platforms' own documentation, never from the connectors, and linked by none of the rules,
//! `platforms` nor `workers`: a mistake in a connector is not repeated in its sandbox. Adding a network is one folder
//! that implements `network::Network` and one line in `realms`.
//!
//! It is a test double. Each workspace has its own realm of networks (`realms`), the control API requires a secret
//! (`control`), changes are on disk before the response is sent (`journal`), and files are fetched with the product's
//! guarded client (`fetch`).

mod ai;
mod any_network;
mod behaviour;
mod bluesky;
mod broken_reply;
mod call;
mod consent_page;
mod control;
pub mod described;
mod devto;
mod discord;
mod env;
mod facebook;
mod facts;
mod fake_names;
mod faults;
mod fetch;
mod google;
mod google_business;
mod graph;
mod hashnode;
mod instagram;
mod journal;
mod lemmy;
mod linkedin;
mod mailbox;
mod mastodon;
mod meta_webhooks;
mod metrics;
mod multipart;
mod native_post;
mod network;
mod network_handler;
mod page;
mod params;
mod picture;
mod pinterest;
mod random;
mod rate_limit;
mod realms;
mod received_file;
mod reply;
mod root_handler;
mod server;
mod sim;
mod slack;
pub mod smtp;
pub mod stripe;
mod style;
mod telegram;
mod threads;
mod tiktok;
mod video_control;
mod video_index;
mod wordpress;
mod x;
mod youtube;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fanfare_outbound::Client;
use secrecy::SecretString;
use url::Url;

use env::Env;
use fetch::Crawler;
use journal::Journal;
use meta_webhooks::MetaWebhooks;
use realms::Realms;
pub use server::RunningServer;
use stripe::Stripe;

/// An error when opening or serving a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be read or written.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another process has this journal open.
    #[error("{0} is in use by another sandbox")]
    InUse(PathBuf),
    /// A line of the journal is invalid.
    #[error("{path} line {line}: {reason}")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// Why it is refused.
        reason: String,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The requested address.
        address: std::net::SocketAddr,
        /// The system's error.
        reason: String,
    },
}

/// The settings that a simulator is opened with.
pub struct Setup {
    /// Directory of its journal, made if absent; with `None` everything is kept in memory only.
    pub dir: Option<PathBuf>,
    /// The bearer token of its control API.
    pub secret: SecretString,
    /// The guarded client that fetches the media of posts.
    pub http: Client,
    /// The address at which the product serves media. No other private address is fetched.
    pub media: Option<Url>,
}

/// All simulated networks, and the journal of their state. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    env: Arc<Env>,
    stripe: Arc<Stripe>,
    ai: Arc<ai::AiModels>,
    realms: Arc<Realms>,
    secret: Arc<SecretString>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("networks", &realms::names()).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Opens the simulator and replays its journal.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::InUse`] when another process holds the directory, [`Error::Journal`] when a line other
    /// than an incomplete last one cannot be read.
    pub async fn open(setup: Setup) -> Result<Self, Error> {
        match tokio::task::spawn_blocking(move || Self::open_blocking(setup)).await {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    fn open_blocking(setup: Setup) -> Result<Self, Error> {
        let (journal, past) = match &setup.dir {
            Some(dir) => Journal::open(dir).map(|(journal, past)| (journal, Some(past)))?,
            None => (Journal::in_memory(), None),
        };
        let crawler = Crawler::new(setup.http.clone(), setup.media);
        let hooks = MetaWebhooks::new(setup.http.clone(), setup.secret.clone());
        let env = Arc::new(Env::new(journal, crawler, hooks));
        let stripe = Arc::new(Stripe::new(&env, &setup.secret, setup.http));
        let ai = Arc::new(ai::AiModels::new(&env));
        let realms = Arc::new(Realms::default());
        if let Some(past) = past {
            past.replay(|line| match line.network.as_str() {
                stripe::JOURNAL => {
                    stripe.replay(line);
                    Ok(())
                }
                _ => env.replay(&realms, line),
            })?;
        }
        Ok(Self { env, stripe, ai, realms, secret: Arc::new(setup.secret) })
    }

    /// Sets the address by which programs reach the simulator, which links in responses begin with.
    pub fn set_base_url(&self, url: &Url) {
        self.env.set_base(url.as_str().trim_end_matches('/'));
    }

    /// Sets the address by which people reach the pages, and only those.
    pub fn set_public_url(&self, url: &Url) {
        self.env.set_pages(url.as_str().trim_end_matches('/'));
    }

    /// Sets the address that the simulated Stripe sends its events to.
    pub fn set_stripe_webhook(&self, url: Url) {
        self.stripe.set_webhook(url);
    }

    /// Sets the address (with a trailing slash) below which the product receives webhooks of Meta's networks.
    pub fn set_meta_webhooks(&self, base: Url) {
        self.env.meta_webhooks.set_base(base);
    }

    /// Registers a redirect address, as the owner of an app does with a network.
    pub fn allow_redirect(&self, redirect_uri: &str) {
        self.env.allow_redirect(redirect_uri);
    }

    /// Sets how long a network takes to process an uploaded or fetched medium (default 300 ms).
    pub fn set_processing(&self, time: Duration) {
        self.env.set_processing(time);
    }

    /// Sets whether the networks' limits on posting (messages a second, posts a day) are enforced (default no).
    pub fn set_rate_limits(&self, on: bool) {
        self.env.change_settings(&env::Settings { rate_limits: Some(on), ..Default::default() });
    }

    /// Returns the names of the networks, in order.
    #[must_use]
    pub fn platforms(&self) -> Vec<&'static str> {
        realms::names()
    }
}
