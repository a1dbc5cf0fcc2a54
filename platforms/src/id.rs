//! Names of the networks.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::Serialize;

use crate::PlatformId;

impl PlatformId {
    /// Returns the names of the environment variables for the id and secret of the app registered with the network.
    #[must_use]
    pub fn app_variables(self) -> [String; 2] {
        let name = self.as_str().to_uppercase();
        ["ID", "SECRET"].map(|part| format!("FANFARE_{name}_CLIENT_{part}"))
    }
}

impl fmt::Display for PlatformId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that does not belong to any network.
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
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "PlannedPlatform")]
pub struct Planned {
    /// Identifier that the network will have.
    pub id: &'static str,
    /// Name for people.
    pub label: &'static str,
}

/// The integration backlog; empty while every announced network is here.
pub const PLANNED: &[Planned] = &[];

#[cfg(test)]
mod tests {
    use super::{PLANNED, PlatformId};

    #[test]
    fn a_network_has_one_name_and_is_planned_no_longer() {
        for platform in crate::all() {
            let id = platform.spec().id;
            assert_eq!(serde_json::json!(id), id.as_str());
            assert_eq!(id.as_str().parse::<PlatformId>().unwrap(), id);
            assert_eq!(crate::find(id).spec().id, id);
            assert!(PLANNED.iter().all(|planned| planned.id != id.as_str()), "{id}");
        }
    }
}
