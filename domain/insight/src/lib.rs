//! Insight: the numbers of accounts and posts, and what models write, check and draw.

pub mod ai;
pub mod analytics;

use fanfare_core::Domain;

/// The operator's settings for numbers and models.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The providers of models.
    pub ai: fanfare_ai::Ai,
    /// True if the numbers of posts on X are read, which X charges for.
    pub x_metrics: bool,
}

/// Returns the operator's settings for numbers and models.
#[must_use]
pub fn settings(cx: &Domain) -> &Settings {
    cx.feature()
}
