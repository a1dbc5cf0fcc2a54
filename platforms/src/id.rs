//! Names of the networks.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A network with a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is the network's own name")]
pub enum PlatformId {
    Bluesky,
    Discord,
    Telegram,
    Threads,
    Wordpress,
}

impl PlatformId {
    /// The identifier used in the API, in the database and in variable names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bluesky => "bluesky",
            Self::Discord => "discord",
            Self::Telegram => "telegram",
            Self::Threads => "threads",
            Self::Wordpress => "wordpress",
        }
    }
}

impl fmt::Display for PlatformId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no network's.
#[derive(Debug, thiserror::Error)]
#[error("There is no platform called {0:?}.")]
pub struct UnknownPlatform(pub String);

impl FromStr for PlatformId {
    type Err = UnknownPlatform;

    fn from_str(name: &str) -> Result<Self, UnknownPlatform> {
        crate::all()
            .iter()
            .map(|platform| platform.spec().id)
            .find(|id| id.as_str() == name)
            .ok_or_else(|| UnknownPlatform(name.to_owned()))
    }
}

/// A network that is announced but has no connector.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Planned {
    /// Identifier that the network will have.
    pub id: &'static str,
    /// Name for people.
    pub label: &'static str,
}

/// The integration backlog.
pub const PLANNED: &[Planned] = &[
    planned("devto", "DEV"),
    planned("facebook", "Facebook"),
    planned("google_business", "Google Business Profile"),
    planned("hashnode", "Hashnode"),
    planned("instagram", "Instagram"),
    planned("lemmy", "Lemmy"),
    planned("linkedin", "LinkedIn"),
    planned("mastodon", "Mastodon"),
    planned("pinterest", "Pinterest"),
    planned("slack", "Slack"),
    planned("tiktok", "TikTok"),
    planned("x", "X"),
    planned("youtube", "YouTube"),
];

const fn planned(id: &'static str, label: &'static str) -> Planned {
    Planned { id, label }
}
