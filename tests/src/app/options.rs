//! Options of a service of a test.

use std::sync::Arc;

use fanfare_mail::Mailer;
use fanfare_media::Tools;
use fanfare_people::billing::Billing;
use sea_orm::Statement;
use url::Url;

use crate::Simulator;

/// Called after each statement.
pub type Watch = Arc<dyn Fn(&Statement) + Send + Sync>;

/// Options of a service of a test.
pub struct Options {
    /// Run workers in this process.
    pub workers: bool,
    /// Allow requests to private addresses that users name (webhooks and media servers of tests are on loopback).
    pub allow_private: bool,
    /// The lateness, in ms, from which on a post fails.
    pub max_lateness: i64,
    /// The address of a private PostgreSQL, whatever the stack.
    pub postgres_url: Option<String>,
    /// The address of a private Redis, whatever the stack.
    pub redis_url: Option<String>,
    /// Simulated networks in another process, instead of some in this one.
    pub networks: Option<Simulator>,
    /// Reach the simulated networks through a proxy that cuts connections.
    pub cut: bool,
    /// Reach the simulated networks through a proxy that keeps what is said.
    pub record: bool,
    /// Multiplies the rate limits of callers; large, so that only stories about limits reach them.
    pub limits_factor: f64,
    /// The simulated networks enforce the real ones' limits, and posts to them are paced.
    pub sandbox_limits: bool,
    /// Divides ages and intervals of simulated accounts.
    pub sandbox_time_factor: f64,
    /// Send requests for the real networks to the simulated ones, with an app registered at each.
    pub stand_ins: bool,
    /// The address at which Bluesky's servers are reached, in place of their own.
    pub bluesky_at: Option<Url>,
    /// The service that videos for Bluesky are sent to.
    pub bluesky_video: fanfare_platforms::VideoService,
    /// The failpoint at which this process stops.
    pub failpoint: Option<&'static str>,
    /// The configured origin, if not the listening address.
    pub base_url: Option<String>,
    /// Networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// Use the simulated models.
    pub ai: bool,
    /// Take the simulated models for real ones.
    pub real_models: bool,
    /// Use the simulated Vertex AI for Google's videos.
    pub vertex: bool,
    /// The payment provider; the simulated Stripe by default.
    pub billing: Option<Option<Billing>>,
    /// The address at which the simulated Stripe is reached, if not its own.
    pub stripe_at: Option<Url>,
    /// True if anybody may sign up.
    pub signup_open: bool,
    /// The time for which a used refresh token may be used once more, in ms.
    pub oauth_grace: i64,
    /// Sends letters; without it they are shown at `/dev/mail`.
    pub mailer: Option<Mailer>,
    /// The programs that inspect videos.
    pub tools: Tools,
    /// Settings for Meta's networks.
    pub meta: fanfare_conversations::inbox::MetaSettings,
    /// The second header that carries the signature of webhooks.
    pub signature_header: Option<String>,
    /// The address at which media is served, if not below the service.
    pub media_base_url: Option<String>,
    /// Sees the statements of the service.
    pub watch: Option<Watch>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: true,
            allow_private: true,
            max_lateness: 24 * 3_600_000,
            postgres_url: None,
            redis_url: None,
            networks: None,
            cut: false,
            record: false,
            limits_factor: 1_000.0,
            sandbox_limits: false,
            sandbox_time_factor: 1.0,
            stand_ins: false,
            bluesky_at: None,
            bluesky_video: fanfare_platforms::VideoService::Usual,
            failpoint: None,
            base_url: None,
            trusted_proxies: Vec::new(),
            ai: true,
            real_models: false,
            vertex: false,
            billing: None,
            stripe_at: None,
            signup_open: true,
            oauth_grace: 30_000,
            mailer: None,
            tools: Tools::find(None, std::env::var_os("PATH").as_deref()),
            meta: fanfare_conversations::inbox::MetaSettings::default(),
            signature_header: None,
            media_base_url: None,
            watch: None,
        }
    }
}
