//! Parts that Google's networks share: the page on which a person consents, codes, tokens, and the words of refusals.
//!
//! <https://developers.google.com/identity/protocols/oauth2/web-server>

pub(crate) mod access;
pub(crate) mod failure;
pub(crate) mod login;

use crate::network::Network;

/// A network that a Google account lets an app act on.
pub(crate) trait Google: Network {
    /// Everything an app may ask for here, without [`access::PREFIX`].
    const SCOPES: &'static [&'static str];
    /// Returns the tokens in an account's state.
    fn logins(state: &Self::State) -> &login::Logins;
    /// A change of them.
    fn login(change: login::Change) -> Self::Change;
}
