//! OAuth 2.1 for programs that act for persons: discovery, registration, consent, codes, tokens.
//!
//! All clients are public and prove themselves with PKCE (RFC 7636). What a person lets a client do is a grant (`grants.rs`), and
//! nothing is good for longer than its grant. Codes and tokens are random, and only their SHA-256 is kept. Everything is a row, so
//! that all processes know the same and a restart forgets nothing.

mod apps;
mod client;
mod consent;
mod document;
mod exchange;
mod grants;
mod pkce;
mod redirect_uri;
mod refresh;
mod refused;
mod registration;
mod request;
mod resource;
mod revoke;
mod scopes;
mod tokens;
mod upkeep;
pub mod views;

use fanfare_entities::Millis;

pub use apps::{App, AppChanges, NewApp, create_app, delete_app, list_apps, update_app};
pub use client::{CLI, Client, ClientKind, find as find_client, require_known};
pub use consent::{Decision, Place, allow, places};
pub use exchange::{CodeExchange, exchange};
pub(crate) use grants::end_in;
pub use grants::{Grant, end_grant, list_grants};
pub use redirect_uri::Destination;
pub use refresh::{Refresh, refresh};
pub use refused::{Answered, Flaw, OauthError, Refused};
pub use registration::{Registered, Registration, register};
pub(crate) use request::check as check_request;
pub use request::{AuthorizeRequest, NoRequest, Parameters, back, read as read_request};
pub use resource::{API, MCP_PATHS, issuer};
pub use revoke::revoke;
pub use scopes::{listed, words};
pub use tokens::{Issued, TokenWorkspace, authenticate};
pub(crate) use upkeep::prune;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// The time a code is good for, in ms.
pub const CODE_LASTS: Millis = MINUTE;

/// The time an access token is good for, in ms.
pub const ACCESS_LASTS: Millis = HOUR;

/// The time a refresh token is good for, in ms.
pub const REFRESH_LASTS: Millis = 30 * DAY;

/// After this time without a reply to the use of a code or token, in ms, there never was one: its process is gone.
const UNANSWERED: Millis = MINUTE;

/// Was something that is good once used again after its first use was answered? One that came before that only lost a race.
const fn is_reuse(arrived: Millis, used_at: Millis, answered_at: Option<Millis>) -> bool {
    match answered_at {
        Some(answered) => arrived > answered,
        None => arrived > used_at + UNANSWERED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_came_before_the_answer_is_no_second_use() {
        assert!(!is_reuse(10, 10, None) && !is_reuse(10 + UNANSWERED, 10, None));
        assert!(is_reuse(11 + UNANSWERED, 10, None), "the process that used it is gone");
        assert!(!is_reuse(12, 10, Some(12)) && !is_reuse(9, 10, Some(12)));
        assert!(is_reuse(13, 10, Some(12)));
    }
}
