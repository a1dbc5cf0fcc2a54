//! Addresses of servers that users enter: sites and instances.

use url::Url;

use crate::{Error, Result, text};

/// Normalizes the address given in the credential `field` for storage: adds a scheme and removes the user, query,
/// fragment and trailing slash.
///
/// # Errors
/// [`crate::ErrorKind::InvalidCredentials`] if it is not the address of a server.
pub fn normalized_url(field: &str, given: &str) -> Result<Url> {
    let wrong = || {
        Error::invalid_credentials(format!("{field} is not the address of a server."))
            .with_remedy("Give an address like https://name.example.")
    };
    let given = &text::clean_identifier(given);
    let with_scheme =
        if given.contains("://") { given.clone() } else { format!("https://{given}") };
    let mut url = Url::parse(&with_scheme).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::invalid_credentials(format!(
            "{field} must not hold a user name or password."
        ))
        .with_remedy("Give them in the fields of their own."));
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Returns the host, the port unless it is the default one, and the path: two servers may share a host.
pub fn host_and_path(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{host}{port}{}", address.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::{host_and_path, normalized_url};
    use crate::ErrorKind;

    #[test]
    fn a_server_is_known_by_one_address() {
        let cases = [
            (" https://Blog.example/ ", "https://blog.example/"),
            ("\u{feff}blog.example\u{200b}", "https://blog.example/"),
            ("blog.example", "https://blog.example/"),
            ("https://blog.example/news//", "https://blog.example/news"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("https://blog.example/?x=1#y", "https://blog.example/"),
        ];
        for (given, kept) in cases {
            assert_eq!(normalized_url("site_url", given).unwrap().as_str(), kept, "{given}");
        }
        for given in
            ["", "ftp://blog.example", "https://", "https://a:b@blog.example", "not a site"]
        {
            assert_eq!(
                normalized_url("site_url", given).unwrap_err().kind,
                ErrorKind::InvalidCredentials,
                "{given}"
            );
        }
        assert_eq!(
            host_and_path(&normalized_url("f", "https://a.example:8443/b/").unwrap()),
            "a.example:8443/b"
        );
    }
}
