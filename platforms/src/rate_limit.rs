//! Publishing limits of networks.

use std::time::Duration;

/// At most `calls` public calls in any period of length `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// The post types it applies to; empty for all.
    pub post_types: &'static [&'static str],
    /// The key by which calls are counted.
    pub scope: LimitScope,
    /// The most calls.
    pub calls: u32,
    /// The length of the period.
    pub period: Duration,
}

impl RateLimit {
    /// Creates a limit of `calls` in `seconds`.
    #[must_use]
    pub const fn new(per: LimitScope, calls: u32, seconds: u64) -> Self {
        Self { post_types: &[], scope: per, calls, period: Duration::from_secs(seconds) }
    }

    /// Restricts the limit to these post types.
    #[must_use]
    pub const fn for_post_types(mut self, post_types: &'static [&'static str]) -> Self {
        self.post_types = post_types;
        self
    }

    /// Returns true if posts of this type are counted.
    #[must_use]
    pub fn applies_to(&self, post_type: &str) -> bool {
        self.post_types.is_empty() || self.post_types.contains(&post_type)
    }
}

/// The key by which the calls of a limit are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// Posts to one account of the network, no matter who connected it.
    Account,
    /// Posts of one workspace: its share of an app that all workspaces use.
    Workspace,
    /// Posts made with one app, or bot, of the network.
    App,
}
