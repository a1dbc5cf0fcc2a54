//! Publishing limits of networks.

use std::time::Duration;

/// At most `calls` public calls in any period of length `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// The post types it applies to; empty for all.
    pub post_types: &'static [&'static str],
    /// What calls are counted by.
    pub per: Per,
    /// The most calls.
    pub calls: u32,
    /// The length of the period.
    pub span: Duration,
}

impl RateLimit {
    /// Creates a limit of `calls` in `seconds`.
    #[must_use]
    pub const fn new(per: Per, calls: u32, seconds: u64) -> Self {
        Self { post_types: &[], per, calls, span: Duration::from_secs(seconds) }
    }

    /// Restricts the limit to these post types.
    #[must_use]
    pub const fn of(mut self, post_types: &'static [&'static str]) -> Self {
        self.post_types = post_types;
        self
    }

    /// Returns true if posts of this type are counted.
    #[must_use]
    pub fn counts(&self, post_type: &str) -> bool {
        self.post_types.is_empty() || self.post_types.contains(&post_type)
    }
}

/// What the calls of a limit are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Posts to one account of the network, no matter who connected it.
    Account,
    /// Posts of one workspace: its share of an app that all workspaces use.
    Workspace,
    /// Posts made with one app, or bot, of the network.
    App,
}
