//! The rules of each network.

use fanfare_platforms::{self as platforms, Description, PLANNED, Planned, PlatformId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Reply;

/// The platforms.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Platforms {
    /// Those that can be used.
    platforms: Vec<Description>,
    /// With `include_planned`: those that are announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<&'static [Planned]>,
}

/// Every network with a connector, and on request those that are announced.
#[must_use]
pub fn list(include_planned: bool) -> Reply<Platforms> {
    let all = platforms::all().iter();
    Reply::ok(&Platforms {
        platforms: all.map(|platform| platforms::describe(platform.spec())).collect(),
        planned: include_planned.then_some(PLANNED),
    })
}

/// Returns the networks with a connector.
pub fn ids() -> impl Iterator<Item = PlatformId> {
    platforms::all().iter().map(|platform| platform.spec().id)
}

/// Returns the name of a network for people; the identifier itself if there is none.
#[must_use]
pub fn label(name: &str) -> &str {
    name.parse::<PlatformId>().map_or(name, |id| platforms::find(id).spec().label)
}

/// Returns what one network takes.
#[must_use]
pub fn description(platform: PlatformId) -> Description {
    platforms::describe(platforms::find(platform).spec())
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn the_backlog_is_shown_on_request_only() {
        assert!(!list(false).body().contains("planned"));
        assert!(list(true).body().contains("planned"));
    }
}
