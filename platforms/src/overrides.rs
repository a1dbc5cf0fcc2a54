//! Facts of this release that the operator has replaced: versions of APIs, and permissions that the app was approved
//! for.
//!
//! They are set once, before the first call, and are the same for the whole process, like the descriptors they change.

use std::sync::OnceLock;

use crate::{PlatformId, oauth::Permission};

/// The values that the operator has replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The version of the API that Facebook and Instagram share, such as `v27.0`.
    pub graph_version: Option<String>,
    /// The version of LinkedIn's API, such as `202608`.
    pub linkedin_version: Option<String>,
    /// Permissions that the app has at LinkedIn beside the usual ones.
    pub linkedin_scopes: Vec<String>,
}

static OVERRIDES: OnceLock<Overrides> = OnceLock::new();
static NONE: Overrides =
    Overrides { graph_version: None, linkedin_version: None, linkedin_scopes: Vec::new() };

impl Overrides {
    /// Replaces the facts for this process. Only the first call has an effect.
    pub fn apply(self) {
        // Whoever comes second reads the same environment.
        let _ = OVERRIDES.set(self);
    }

    /// Returns the version of a network's API that replaces the one of this release.
    #[must_use]
    pub fn version(&self, platform: PlatformId) -> Option<&str> {
        match platform {
            PlatformId::Facebook | PlatformId::Instagram => self.graph_version.as_deref(),
            PlatformId::Linkedin => self.linkedin_version.as_deref(),
            _ => None,
        }
    }
}

/// Returns what the operator has replaced.
pub(crate) fn overrides() -> &'static Overrides {
    OVERRIDES.get().unwrap_or(&NONE)
}

/// Returns the permissions that the app has at LinkedIn beside the usual ones.
pub(crate) fn linkedin_permissions() -> &'static [Permission] {
    static PERMISSIONS: OnceLock<Vec<Permission>> = OnceLock::new();
    PERMISSIONS.get_or_init(|| {
        let named = overrides().linkedin_scopes.iter();
        named.map(|name| Permission::optional(name, linkedin_doc(name))).collect()
    })
}

fn linkedin_doc(name: &str) -> &'static str {
    match name {
        "r_member_postAnalytics" => "Read the figures of your own posts",
        "r_member_social" => "Read your own posts",
        "r_basicprofile" => "See the address of your page",
        _ => "What LinkedIn has approved this app for",
    }
}
