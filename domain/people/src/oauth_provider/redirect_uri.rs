//! Redirect URIs: which ones may be registered, and whether a requested one is registered.

use url::{Host, Url};

/// Schemes of programs on the user's machine that may be used although they contain no dot.
static SCHEMES: &str = include_str!("schemes.txt");

/// The longest address, in bytes.
const MAX_BYTES: usize = 2_000;

/// The hosts of the user's own machine (RFC 8252).
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Fails if this redirect URI is not allowed: it must be https, http on the user's own machine, or the scheme of a
/// program.
///
/// # Errors
/// The reason why it is refused, for developers.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > MAX_BYTES {
        return Err(format!("A redirect URI has 1 to {MAX_BYTES} characters."));
    }
    if text.to_ascii_lowercase().contains("%2a") {
        return Err("A redirect URI is compared as a text and cannot contain \"*\".".to_owned());
    }
    let odd = |byte: u8| !byte.is_ascii_graphic() || b"\"<>\\^`{|}*".contains(&byte);
    if let Some(bad) = text.bytes().find(|byte| odd(*byte)) {
        let bad = char::from(bad);
        return Err(format!("A redirect URI is compared as a text and cannot contain {bad:?}."));
    }
    if text.contains('#') {
        return Err("A redirect URI has no fragment.".to_owned());
    }
    // On the user's own machine the port is the program's affair.
    let portless = without_port(text);
    let text = portless.as_deref().unwrap_or(text);
    let url = Url::parse(text).map_err(|_| "A redirect URI must be an absolute URI.".to_owned())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("A redirect URI names no user.".to_owned());
    }
    let read = url.as_str();
    if read != text && read.strip_suffix('/') != Some(text) {
        return Err(format!("A browser reads this redirect URI as {read}; send that."));
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if url.host_str().is_some_and(|host| LOOPBACK.contains(&host)) => Ok(()),
        "http" => Err("http is taken for 127.0.0.1, [::1] and localhost only; use https.".into()),
        scheme if scheme.contains('.') || is_listed(scheme) => Ok(()),
        scheme => Err(format!(
            "The scheme {scheme} is not taken. Use https, or a private scheme with a dot like com.example.app."
        )),
    }
}

fn is_listed(scheme: &str) -> bool {
    SCHEMES.lines().any(|known| known == scheme)
}

/// Returns true if an address is one of the registered ones: the same text or, on the user's own machine, the same
/// except for the port, whether one was registered or not (RFC 8252 section 7.3).
pub(super) fn is_registered(registered: &[String], asked: &str) -> bool {
    let plain = |text: &str| without_port(text).unwrap_or_else(|| text.to_owned());
    let plain_asked = plain(asked);
    registered.iter().any(|known| known == asked || plain(known) == plain_asked)
}

/// Returns true if an address is http on the user's own machine, with any port and path.
pub(super) fn is_loopback_http(text: &str) -> bool {
    check(text).is_ok() && text.starts_with("http://")
}

/// Returns an http address on the user's own machine without its port.
fn without_port(text: &str) -> Option<String> {
    let rest = text.strip_prefix("http://")?;
    let host = LOOPBACK
        .into_iter()
        .find(|host| rest.strip_prefix(host).is_some_and(|after| after.starts_with(':')))?;
    let after = &rest[host.len() + 1..];
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let port: Option<u16> = after[..end].parse().ok();
    port.filter(|_| after[..end].bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(format!("http://{host}{}", &after[end..]))
}

/// Where a redirect URI leads, as the consent page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Another site.
    Site(String),
    /// A program that listens on the user's own machine.
    ThisComputer,
    /// A program that has this scheme.
    Program(String),
}

impl Destination {
    /// Returns where an address leads.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let Ok(url) = Url::parse(text) else { return Self::Program(String::new()) };
        match (url.scheme(), url.host()) {
            ("http", _) => Self::ThisComputer,
            ("https", Some(Host::Domain("localhost"))) => Self::ThisComputer,
            ("https", Some(Host::Ipv4(address))) if address.is_loopback() => Self::ThisComputer,
            ("https", Some(host)) => Self::Site(host.to_string()),
            (scheme, _) => Self::Program(scheme.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_leads_to_the_persons_machine() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://example.com:8443/cb?x=1",
            "http://127.0.0.1:33418/",
            "http://127.0.0.1/cb",
            "http://[::1]:7/cb",
            "http://localhost:1/",
            "cursor://anysphere.cursor-retrieval/oauth/callback",
            "vscode://ms.example/did-authenticate",
            "com.example.app:/oauth",
            "https://example.com",
            "http://localhost:80/cb",
            "http://127.0.0.1:7777",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/cb",
            "example.com/cb",
            "http://example.com/cb",
            "http://localhost.example.com/cb",
            "http://127.0.0.2/cb",
            "http://127.1/ cb",
            "https://example.com/*",
            "https://*.example.com/cb",
            "https://example.com/cb#x",
            "https://user@example.com/cb",
            "https://exämple.com/cb",
            "https://example.com/a b",
            "https://example.com/\r\nx",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "urn:ietf:wg:oauth:2.0:oob",
            "ftp://example.com/cb",
            "myapp://cb",
            "https:///cb",
            "https:h/cb",
            "https://@h/cb",
            "https://h/%2a",
            "https://%2A.example.com/cb",
            "https://h/cb/../x",
            "https://h/cb/%2e%2e/x",
            "https://0x7f.1/cb",
            "http://0x7f.1/cb",
            "http://127.1/cb",
            "https://h:/cb",
            "https://h:443/cb",
            "HTTPS://h/cb",
            "https://H/cb",
            "https:/h/cb",
            "h:/cb",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check(&format!("https://example.com/{}", "x".repeat(1_981))).is_err());
    }

    #[test]
    fn addresses_are_compared_as_texts_but_for_a_port_of_this_machine() {
        let known = ["http://127.0.0.1/cb", "http://localhost:7/cb", "https://example.com/cb"];
        let known = known.map(str::to_owned);
        for good in [
            "http://127.0.0.1/cb",
            "http://127.0.0.1:54321/cb",
            "http://localhost:7/cb",
            "http://localhost:8/cb",
            "http://localhost/cb",
            "https://example.com/cb",
        ] {
            assert!(is_registered(&known, good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:54321/cb/",
            "http://127.0.0.1:54321/CB",
            "http://127.0.0.1:54321/cb?x",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:99999/cb",
            "http://127.0.0.1:+7/cb",
            "http://127.0.0.1:7@evil.example/cb",
            "http://localhost/cb/",
            "http://[::1]/cb",
            "https://example.com:8443/cb",
            "https://example.com/cb?x=1",
            "https://EXAMPLE.com/cb",
            "https://example.com/cb%2F",
            "https://example.com/x/../cb",
            "https://evil.example/cb",
        ] {
            assert!(!is_registered(&known, bad), "{bad}");
        }
    }

    #[test]
    fn people_are_told_where_an_address_leads() {
        let to = Destination::of;
        assert_eq!(to("https://claude.ai/cb"), Destination::Site("claude.ai".into()));
        assert_eq!(to("http://[::1]:7/"), Destination::ThisComputer);
        assert_eq!(to("cursor://x/y"), Destination::Program("cursor".into()));
    }
}
