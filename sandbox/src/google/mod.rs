//! Code shared by Google's networks: the consent page, codes, tokens, and error responses.
//!
//! <https://developers.google.com/identity/protocols/oauth2/web-server>

pub(crate) mod access;
pub(crate) mod failure;
pub(crate) mod login;

use crate::network::Network;

/// A network that uses Google's OAuth.
pub(crate) trait Google: Network {
    /// The scopes that an app may request, without [`access::PREFIX`].
    const SCOPES: &'static [&'static str];
    /// Returns the tokens in an account's state.
    fn logins(state: &Self::State) -> &login::Logins;
    /// Wraps a change of the tokens.
    fn login(change: login::Change) -> Self::Change;
}
