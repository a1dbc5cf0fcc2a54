//! Scopes in OAuth requests and replies.

use super::refusal::{OauthError, OauthFlaw};
use crate::access::Scope;

/// Returns scopes as a space-separated list, as requests and replies have them.
#[must_use]
pub fn join_scopes(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the scopes in a space-separated list.
pub(super) fn parse_scopes(text: &str) -> Vec<Scope> {
    text.split(' ').filter_map(Scope::named).collect()
}

/// Returns the known scopes among the requested ones, each once and in our order; `usual` if none are requested.
///
/// Unknown ones are dropped, as RFC 6749 section 3.3 allows: clients ask for `offline_access` and others out of habit.
///
/// # Errors
/// None of them is known.
pub(super) fn requested_scopes(
    text: Option<&str>,
    usual: &[Scope],
) -> Result<Vec<Scope>, OauthFlaw> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(usual.to_vec());
    };
    let named = parse_scopes(text);
    let known: Vec<_> = Scope::ALL.into_iter().filter(|scope| named.contains(scope)).collect();
    if known.is_empty() {
        let description =
            format!("None of the scopes is known here. Known are: {}.", join_scopes(&Scope::ALL));
        return Err(OauthFlaw::new(OauthError::InvalidScope, "scope", description));
    }
    Ok(known)
}

/// Returns what a scope allows, as the consent page shows it.
#[must_use]
pub const fn scope_description(scope: Scope) -> &'static str {
    match scope {
        Scope::AccountsRead => "See your connected accounts and brands",
        Scope::AccountsWrite => "Connect and disconnect accounts",
        Scope::PostsRead => "See posts, comments and messages",
        Scope::PostsWrite => "Publish, schedule, change and delete posts, and reply",
        Scope::MediaWrite => "Upload pictures and videos",
        Scope::AnalyticsRead => "See how posts and accounts perform",
        Scope::BillingRead => "See your subscription and credits",
        Scope::BillingWrite => "Cancel, pause or downgrade your subscription",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_scopes_are_dropped_and_some_must_be_left() {
        let six = Scope::default_set();
        let good =
            requested_scopes(Some("openid posts:write offline_access posts:read posts:read"), &six);
        assert_eq!(good.unwrap(), [Scope::PostsRead, Scope::PostsWrite]);
        assert_eq!(requested_scopes(None, &six).unwrap(), six);
        assert_eq!(requested_scopes(Some("  "), &six).unwrap(), six);
        for bad in ["offline_access", "Posts:read", "posts:read,posts:write", "*"] {
            assert_eq!(
                requested_scopes(Some(bad), &six).unwrap_err().error,
                OauthError::InvalidScope,
                "{bad}"
            );
        }
    }
}
