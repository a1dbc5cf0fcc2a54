//! The networks by their names, and their descriptions.

use fanfare_core::{
    Reply,
    error::{Code, Error, Result, violation},
};
use fanfare_platforms::{
    self as platforms, Description, Fix, PLANNED, Planned, PlatformId, Violation, excerpt,
    fix::closest_name,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The platforms.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Platforms {
    /// The networks that can be used.
    platforms: Vec<Description>,
    /// With `include_planned`: the networks that are announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<&'static [Planned]>,
}

/// Returns the platform that a row names.
///
/// # Errors
/// The row names a platform that this version does not know.
pub fn from_row(name: &str) -> Result<PlatformId> {
    name.parse().map_err(|_| Error::internal(format!("a row has the unknown platform {name:?}")))
}

/// Returns these networks, named with commas between them, or all with a connector; on request those that are announced
/// too.
///
/// # Errors
/// [`Code::InvalidField`] for an unknown name.
pub fn list(only: Option<&str>, include_planned: bool) -> Result<Reply<Platforms>> {
    let asked = only.map(|names| names.split(',').map(|name| parse("platform", name.trim())));
    let asked = asked.map(Iterator::collect::<Result<Vec<_>>>).transpose()?;
    let is_asked = |id: &PlatformId| asked.as_ref().is_none_or(|asked| asked.contains(id));
    Ok(Reply::ok(&Platforms {
        platforms: ids().filter(is_asked).map(description).collect(),
        planned: include_planned.then_some(PLANNED),
    }))
}

/// Returns the networks with a connector.
pub fn ids() -> impl Iterator<Item = PlatformId> {
    platforms::all().iter().map(|platform| platform.spec().id)
}

/// Returns the network that a filter names.
///
/// # Errors
/// [`Code::InvalidField`] for this field.
pub fn parse(field: &str, name: &str) -> Result<PlatformId> {
    name.parse().map_err(|_| Error::violation(unknown(field, name)))
}

/// Returns the network that a field of a body names. The error for a misspelt name has a fix.
///
/// # Errors
/// [`Code::InvalidField`] for this field.
pub fn parse_with_fix(field: &str, name: &str) -> Result<PlatformId> {
    let fix =
        || closest_name(name, ids().map(PlatformId::as_str)).map(|id| Fix::replace(field, id));
    name.parse().map_err(|_| Error::violation(unknown(field, name).with_fix(fix())))
}

fn unknown(field: &str, name: &str) -> Violation {
    let message = format!("There is no platform called {:?}.", excerpt(name));
    violation(Code::InvalidField, field, message, "GET /api/v1/platforms lists them.")
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
        assert!(!list(None, false).unwrap().body().contains("planned"));
        assert!(list(None, true).unwrap().body().contains("planned"));
    }

    #[test]
    fn platforms_are_chosen_by_name() {
        let some = list(Some("x, bluesky"), false).unwrap();
        let some: serde_json::Value = serde_json::from_str(some.body()).unwrap();
        assert_eq!(some["platforms"].as_array().unwrap().len(), 2);
        assert!(list(Some("x,nowhere"), false).is_err());
    }
}
