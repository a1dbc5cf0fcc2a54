//! The OAuth 2.1 provider for programs that act for users: discovery, registration, consent, codes, tokens.
//!
//! All clients are public and use PKCE (RFC 7636). What a user allows a client to do is a grant (`grants.rs`), and
//! nothing outlives its grant. Codes and tokens are random, and only their SHA-256 is stored. Everything is a row, so
//! all processes have the same state and a restart loses nothing.

mod apps;
mod client;
mod consent;
mod document;
mod exchange;
mod grants;
mod pkce;
mod redirect_uri;
mod refresh;
mod refusal;
mod registration;
mod request;
mod resource;
pub mod return_urls;
mod revoke;
mod scopes;
mod tokens;
mod upkeep;
pub mod views;

use fanfare_entities::Millis;

pub use apps::{App, AppChanges, NewApp, create_app, delete_app, list_apps, update_app};
pub use client::{CLI, Client, ClientKind, find as find_client, require_known};
pub use consent::{ConsentDecision, ConsentWorkspace, allow, consent_workspaces};
pub use exchange::{CodeExchange, exchange};
pub(crate) use grants::end_in_workspace;
pub use grants::{Grant, end_grant, list_grants};
pub use redirect_uri::Destination;
pub use refresh::{RefreshRequest, refresh};
pub use refusal::{OauthError, OauthFlaw, OauthRefusal, OauthResult};
pub use registration::{ClientRegistration, RegisteredClient, register};
pub(crate) use request::check as check_request;
pub use request::{
    AuthorizeError, AuthorizeRequest, ErrorRedirect, Parameters, callback_url, read as read_request,
};
pub use resource::{API, MCP_PATHS, issuer};
pub use revoke::revoke;
pub use scopes::{join_scopes, scope_description};
pub use tokens::{IssuedTokens, TokenWorkspace, authenticate, for_tools};
pub use upkeep::prune;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// The time for which a code is valid, in ms.
pub const CODE_LIFETIME: Millis = MINUTE;

/// The time for which an access token is valid, in ms.
pub const ACCESS_TOKEN_LIFETIME: Millis = HOUR;

/// The time for which a refresh token is valid, in ms.
pub const REFRESH_TOKEN_LIFETIME: Millis = 30 * DAY;

/// The time after which a use of a code or token that is not marked as answered never was answered, in ms: its process
/// has died.
const REPLY_TIMEOUT: Millis = MINUTE;

/// Returns true if a single-use code or token was used again after its first use was answered. A request that came
/// before that only lost a race.
const fn is_reuse(arrived: Millis, used_at: Millis, answered_at: Option<Millis>) -> bool {
    match answered_at {
        Some(answered) => arrived > answered,
        None => arrived > used_at + REPLY_TIMEOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_came_before_the_answer_is_no_second_use() {
        assert!(!is_reuse(10, 10, None) && !is_reuse(10 + REPLY_TIMEOUT, 10, None));
        assert!(is_reuse(11 + REPLY_TIMEOUT, 10, None), "the process that used it is gone");
        assert!(!is_reuse(12, 10, Some(12)) && !is_reuse(9, 10, Some(12)));
        assert!(is_reuse(13, 10, Some(12)));
    }
}
