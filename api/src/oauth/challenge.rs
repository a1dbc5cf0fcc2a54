//! `WWW-Authenticate` challenges for clients that are refused (RFC 6750 section 3, RFC 9728 section 5.1).

use fanfare_core::access::Scope;
use fanfare_people::oauth_provider::join_scopes;
use salvo::http::HeaderValue;

/// Returns the challenge of a 401. `resource` is the path of the protected resource, empty for the whole service;
/// `is_bad` says that an invalid token was sent.
#[must_use]
pub fn unauthorized(base_url: &str, resource: &str, is_bad: bool) -> HeaderValue {
    let error = if is_bad { r#", error="invalid_token""# } else { "" };
    // MCP clients request the scopes that are named here, and none otherwise.
    let scope = if resource.is_empty() {
        String::new()
    } else {
        format!(r#", scope="{}""#, join_scopes(&Scope::default_set()))
    };
    value(format!("{}{error}{scope}", bearer(base_url, resource)))
}

/// Returns the challenge of a 403: the token lacks these scopes, separated by spaces.
#[must_use]
pub fn insufficient_scope(base_url: &str, resource: &str, scopes: &str) -> HeaderValue {
    let bearer = bearer(base_url, resource);
    value(format!(r#"{bearer}, error="insufficient_scope", scope="{scopes}""#))
}

fn bearer(base_url: &str, resource: &str) -> String {
    let document = format!("{base_url}/.well-known/oauth-protected-resource{resource}");
    format!(r#"Bearer realm="fanfare", resource_metadata="{document}""#)
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_names_the_document_that_leads_on() {
        assert_eq!(
            unauthorized("https://f.example", "/mcp", true),
            r#"Bearer realm="fanfare", resource_metadata="https://f.example/.well-known/oauth-protected-resource/mcp", error="invalid_token", scope="accounts:read accounts:write posts:read posts:write media:write analytics:read""#
        );
        let refused = insufficient_scope("https://f.example", "", "posts:write");
        assert!(
            refused
                .to_str()
                .unwrap()
                .ends_with(r#"error="insufficient_scope", scope="posts:write""#)
        );
    }
}
