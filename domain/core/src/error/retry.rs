//! What sending the same again leads to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Code;

/// What sending the same again leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Retry {
    /// It is refused for ever, or done already: there is nothing to send again.
    Never,
    /// It is refused in the same way until something is changed: the request, the account, a plan or a setting.
    AfterChange,
    /// Unchanged, it may succeed later: after `retry_after` seconds, where they are named.
    After,
    /// It may happen twice: look first whether it has happened.
    Unsafe,
}

impl Retry {
    /// Returns the name that replies show.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::AfterChange => "after_change",
            Self::After => "after",
            Self::Unsafe => "unsafe",
        }
    }
}

impl Code {
    /// Returns what sending the same request again leads to.
    #[must_use]
    pub const fn retry(self) -> Retry {
        match self {
            Self::DuplicateRisk => Retry::Unsafe,
            Self::SuggestionAlreadyScheduled
            | Self::ReplyNotFound
            | Self::NoLowerTier
            | Self::SignupClosed => Retry::Never,
            _ if self.entry().retryable => Retry::After,
            _ => Retry::AfterChange,
        }
    }
}
