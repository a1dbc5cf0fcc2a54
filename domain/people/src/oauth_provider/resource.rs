//! The resources that tokens are valid for (RFC 8707), and the issuer names of this service.

use fanfare_core::Settings;
use url::{Host, Url};

use super::refusal::{OauthError, OauthFlaw};

/// The path of the API.
pub const API: &str = "/api/v1";

/// The paths of the Model Context Protocol.
pub const MCP_PATHS: [&str; 2] = ["/mcp", "/api/mcp"];

/// Returns the issuer name of this service for requests with this `host`. On a user's own machine all names of the
/// machine are equal, and replies use the requested one; elsewhere there is one name.
#[must_use]
pub fn issuer(settings: &Settings, host: Option<&str>) -> String {
    let asked = host.and_then(|host| Url::parse(&format!("http://{host}/")).ok());
    match (asked, Url::parse(&settings.base_url)) {
        (Some(asked), Ok(base)) if is_same_machine(settings, &asked, &base) => {
            asked.origin().ascii_serialization()
        }
        _ => settings.base_url.clone(),
    }
}

/// Returns true if both are names of the machine on which this service is reached, with the same port.
fn is_same_machine(settings: &Settings, asked: &Url, base: &Url) -> bool {
    settings.is_on_loopback()
        && asked.scheme() == base.scheme()
        && asked.port_or_known_default() == base.port_or_known_default()
        && asked.host().is_some_and(|host| is_loopback(&host))
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Returns the path below which a token for these resources is valid; empty for all, which is the default. A token for
/// several resources, of which none contains the others, is valid for all.
///
/// # Errors
/// One of them is not a resource of this service.
pub(super) fn path<'a>(
    settings: &Settings,
    asked: impl Iterator<Item = &'a str>,
) -> Result<&'static str, OauthFlaw> {
    let mut covering: Option<&'static str> = None;
    for text in asked {
        let path = one(settings, text)?;
        covering = Some(match covering {
            None => path,
            Some(before) if covers(before, path) => before,
            Some(before) if covers(path, before) => path,
            Some(_) => "",
        });
    }
    Ok(covering.unwrap_or_default())
}

fn one(settings: &Settings, text: &str) -> Result<&'static str, OauthFlaw> {
    known(settings, text).ok_or_else(|| {
        let base = &settings.base_url;
        let description = format!(
            "This is no resource of this service. Send {base}, {base}{API} or {base}{}, or leave it out.",
            MCP_PATHS[0]
        );
        OauthFlaw::new(OauthError::InvalidTarget, "resource", description)
    })
}

fn known(settings: &Settings, text: &str) -> Option<&'static str> {
    let (url, base) = (Url::parse(text).ok()?, Url::parse(&settings.base_url).ok()?);
    let plain = url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if !plain || (url.origin() != base.origin() && !is_same_machine(settings, &url, &base)) {
        return None;
    }
    // Clients add a slash to the address that people type.
    match url.path().strip_suffix('/').unwrap_or(url.path()) {
        "" => Some(""),
        path => [API].into_iter().chain(MCP_PATHS).find(|known| *known == path),
    }
}

/// Returns the path that a later request may narrow a resource to.
///
/// # Errors
/// It is not a resource of this service, or not within what was granted.
pub(super) fn narrowed(
    settings: &Settings,
    granted: &str,
    asked: &[&str],
) -> Result<String, OauthFlaw> {
    if asked.is_empty() {
        return Ok(granted.to_owned());
    }
    let path = path(settings, asked.iter().copied())?;
    if covers(granted, path) {
        return Ok(path.to_owned());
    }
    let description = "The person let the client in for another resource.";
    Err(OauthFlaw::new(OauthError::InvalidTarget, "resource", description))
}

/// Returns true if a token that is valid for the granted path is valid for this path.
pub(super) fn covers(granted: &str, path: &str) -> bool {
    path.strip_prefix(granted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_path_covers_what_is_below_it() {
        assert!(covers("", "/api/v1/posts") && covers("", ""));
        assert!(covers("/mcp", "/mcp") && covers("/mcp", "/mcp/signup"));
        assert!(
            !covers("/mcp", "/mcpx") && !covers("/mcp", "/api/v1/posts") && !covers("/mcp", "")
        );
    }
}
