//! How often a network lets itself be posted to.

use std::time::Duration;

/// So many public calls in any time of this length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Of which kinds of post; none named: of all.
    pub post_types: &'static [&'static str],
    /// Whose calls are counted together.
    pub per: Per,
    /// How many.
    pub calls: u32,
    /// In which time.
    pub span: Duration,
}

impl Pace {
    /// So many calls in so many seconds.
    #[must_use]
    pub const fn new(per: Per, calls: u32, seconds: u64) -> Self {
        Self { post_types: &[], per, calls, span: Duration::from_secs(seconds) }
    }

    /// The same of these kinds of post alone.
    #[must_use]
    pub const fn of(mut self, post_types: &'static [&'static str]) -> Self {
        self.post_types = post_types;
        self
    }

    /// Is a post of this kind counted?
    #[must_use]
    pub fn counts(&self, post_type: &str) -> bool {
        self.post_types.is_empty() || self.post_types.contains(&post_type)
    }
}

/// Whose calls are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Those to one account of the network, whoever connected it.
    Account,
    /// Those of one workspace: its share of an app that all workspaces use.
    Workspace,
    /// Those made with one app, or bot, of the network.
    App,
}
