//! How a service of a test differs from the usual one.

use fanfare_domain::billing::Billing;
use fanfare_mail::Mailer;
use fanfare_media::Tools;

use crate::Simulator;

/// How a service of a test differs from the usual one.
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
    /// The networks' own addresses lead to the simulated ones, and an app is registered with each.
    pub stand_ins: bool,
    /// Where this process is stopped.
    pub failpoint: Option<&'static str>,
    /// Origin that the service believes to have, if not the one it listens on.
    pub base_url: Option<String>,
    /// Networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// The simulated models stand in.
    pub ai: bool,
    /// Where persons pay; unless it is said, at the simulated Stripe.
    pub billing: Option<Option<Billing>>,
    /// May anybody sign up?
    pub signup_open: bool,
    /// Sends letters; without it they stand at `/dev/mail`.
    pub mailer: Option<Mailer>,
    /// What takes films apart.
    pub tools: Tools,
    /// Where media is said to be served, if not below the service.
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
            stand_ins: false,
            failpoint: None,
            base_url: None,
            trusted_proxies: Vec::new(),
            ai: true,
            billing: None,
            signup_open: true,
            mailer: None,
            tools: Tools::find(None, std::env::var_os("PATH").as_deref()),
            media_base_url: None,
        }
    }
}
