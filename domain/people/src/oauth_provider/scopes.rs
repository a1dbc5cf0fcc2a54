//! Scopes in OAuth requests and replies.

use std::collections::HashSet;

use fanfare_core::access::Scope;

/// Returns scopes as a space-separated list, as requests and replies have them.
#[must_use]
pub fn join_scopes(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the scopes in a space-separated list.
pub(super) fn parse_scopes(text: &str) -> Vec<Scope> {
    text.split(' ').filter_map(Scope::named).collect()
}

/// Returns the known scopes among the requested ones, each once and in our order; `usual` if there are none.
///
/// Unknown ones are ignored, as RFC 6749 section 3.3 allows: clients ask for `openid`, `offline_access` and others out of
/// habit, some for nothing else.
pub(super) fn requested_scopes(text: Option<&str>, usual: &[Scope]) -> Vec<Scope> {
    let named: HashSet<&str> = text.unwrap_or_default().split(' ').collect();
    let known = Scope::ALL.into_iter().filter(|scope| named.contains(scope.as_str()));
    Some(known.collect())
        .filter(|known: &Vec<_>| !known.is_empty())
        .unwrap_or_else(|| usual.to_vec())
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
        Scope::BillingRead => "See the credits of the workspace",
        Scope::BillingWrite => "Nothing more: a tool does not change your subscription",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_scopes_are_ignored_and_without_known_ones_the_usual_are_meant() {
        let six = Scope::default_set();
        let good =
            requested_scopes(Some("openid posts:write offline_access posts:read posts:read"), &six);
        assert_eq!(good, [Scope::PostsRead, Scope::PostsWrite]);
        let none = ["", "  ", "openid email profile", "offline_access", "Posts:read", "*"];
        for usual in none.map(Some).into_iter().chain([None]) {
            assert_eq!(requested_scopes(usual, &six), six, "{usual:?}");
        }
    }
}
