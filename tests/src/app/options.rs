//! Differences between a service of a test and the usual one.

use fanfare_domain::billing::Billing;
use fanfare_mail::Mailer;
use fanfare_media::Tools;
use url::Url;

use crate::Simulator;

/// Differences between a service of a test and the usual one.
pub struct Options {
    /// Run workers in this process.
    pub workers: bool,
    /// Open private addresses for what users give (receivers and media servers of tests are on loopback).
    pub allow_private: bool,
    /// A post later than this, in ms, fails.
    pub max_lateness: i64,
    /// A PostgreSQL of the test's own, whatever the stack.
    pub postgres_url: Option<String>,
    /// A queue of the test's own, whatever the stack.
    pub redis_url: Option<String>,
    /// Simulated networks in another process, instead of some in this one.
    pub networks: Option<Simulator>,
    /// Reach the simulated networks through a proxy that cuts connections.
    pub cut: bool,
    /// Multiplies the limits of callers; large, so that only stories about limits meet them.
    pub limits_factor: f64,
    /// The simulated networks have the real ones' limits, and posts to them are paced.
    pub sandbox_limits: bool,
    /// Divides ages and intervals of simulated accounts.
    pub sandbox_time_factor: f64,
    /// The networks' own addresses lead to the simulated ones, and an app is registered with each.
    pub stand_ins: bool,
    /// The point at which this process is stopped.
    pub failpoint: Option<&'static str>,
    /// Origin that the service believes to have, if not the one it listens on.
    pub base_url: Option<String>,
    /// Networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// The simulated models stand in.
    pub ai: bool,
    /// Google's films are made at the simulated Vertex AI.
    pub vertex: bool,
    /// The payment provider; the simulated Stripe by default.
    pub billing: Option<Option<Billing>>,
    /// The address at which the simulated Stripe is reached, if not its own.
    pub stripe_at: Option<Url>,
    /// True if anybody may sign up.
    pub signup_open: bool,
    /// The time a spent refresh token is good for another pair, in ms.
    pub oauth_grace: i64,
    /// Sends letters; without it they stand at `/dev/mail`.
    pub mailer: Option<Mailer>,
    /// The tools that inspect films.
    pub tools: Tools,
    /// Settings for Meta's networks.
    pub meta: fanfare_domain::inbox::MetaSettings,
    /// The second header that carries the signature of webhooks.
    pub signature_header: Option<String>,
    /// The address at which media is served, if not below the service.
    pub media_base_url: Option<String>,
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
            limits_factor: 1_000.0,
            sandbox_limits: false,
            sandbox_time_factor: 1.0,
            stand_ins: false,
            failpoint: None,
            base_url: None,
            trusted_proxies: Vec::new(),
            ai: true,
            vertex: false,
            billing: None,
            stripe_at: None,
            signup_open: true,
            oauth_grace: 0,
            mailer: None,
            tools: Tools::find(None, std::env::var_os("PATH").as_deref()),
            meta: fanfare_domain::inbox::MetaSettings::default(),
            signature_header: None,
            media_base_url: None,
        }
    }
}
