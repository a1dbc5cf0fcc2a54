//! OAuth, for every network that uses it; the differences between networks are data.
//!
//! [`Oauth`] describes the endpoints and variations; the functions here make the calls. The caller stores state,
//! verifier and tokens. What data cannot express is a method of [`crate::Platform`]: `app_registration`, `identities`,
//! `revoke`.

mod flow;
#[cfg(test)]
mod tests;
mod token_response;
mod tokens;

use std::time::Duration;

use secrecy::SecretString;

use crate::CredentialField;

pub use flow::{AuthorizationRequest, authorize_url, exchange_code, refresh_tokens, revoke};
pub use tokens::{
    ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET, INSTANCE, REFRESH_TOKEN, access_token_expiry,
    granted_permissions, missing_permissions, refresh_token_expiry,
};

/// The way in which a user authorizes an app on one network.
#[derive(Debug, Clone, Copy)]
pub struct Oauth {
    /// The consent page.
    pub authorize: Endpoint,
    /// Further parameters of that page, for example `("access_type", "offline")`.
    pub authorize_extra: &'static [(&'static str, &'static str)],
    /// The permissions (scopes) that every app requests.
    pub permissions: &'static [Permission],
    /// The permissions that the operator adds, because the app was approved for them.
    pub added_permissions: fn() -> &'static [Permission],
    /// The separator between the names of permissions.
    pub separator: &'static str,
    /// True to use PKCE (RFC 7636) with S256, which makes an intercepted code useless.
    pub pkce: bool,
    /// The endpoint that exchanges a code for tokens, and a refresh token for fresh ones.
    pub token: Endpoint,
    /// The way in which the token endpoint is called.
    pub token_call: TokenCall,
    /// Further parameters of the exchange of a code.
    pub exchange_extra: &'static [(&'static str, &'static str)],
    /// The way in which the app authenticates.
    pub client_auth: ClientAuth,
    /// The network's parameter name for the app's id.
    pub client_id_name: &'static str,
    /// The exchange of the first, short-lived token for a long-lived one, if there is one.
    pub long_lived: Option<TokenExchange>,
    /// The way in which tokens are refreshed.
    pub renewal: TokenRenewal,
    /// True if one login covers several accounts that share the same tokens, which are refreshed together.
    pub shares_tokens: bool,
    /// The endpoint that revokes a token, if it needs only the token and the app.
    pub revoke: Option<Endpoint>,
    /// The field in which the user enters the address of the account's own server before authorizing. Only for networks
    /// of many servers; its name is [`INSTANCE`], and each [`Endpoint`] without a host is on that server.
    pub instance: Option<CredentialField>,
}

impl Oauth {
    /// The defaults of most networks. A descriptor sets the addresses and what differs.
    pub const DEFAULTS: Self = Self {
        authorize: Endpoint::on_instance("/oauth/authorize"),
        authorize_extra: &[],
        permissions: &[],
        added_permissions: || &[],
        separator: " ",
        pkce: false,
        token: Endpoint::on_instance("/oauth/token"),
        token_call: TokenCall::Form,
        exchange_extra: &[],
        client_auth: ClientAuth::Body,
        client_id_name: "client_id",
        long_lived: None,
        renewal: TokenRenewal::Never,
        shares_tokens: false,
        revoke: None,
        instance: None,
    };
}

impl Oauth {
    /// Returns all permissions that are requested.
    pub fn permissions(&self) -> impl Iterator<Item = &'static Permission> + use<> {
        self.permissions.iter().chain((self.added_permissions)())
    }
}

/// An address in two parts, so that a configured base can replace the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme and host, and a prefix if there is one; empty: the account's own server.
    pub host: &'static str,
    /// Path, which starts with a slash. `{graph_version}` stands for the version of Meta's API that is used.
    pub path: &'static str,
}

impl Endpoint {
    /// Creates an endpoint of the network.
    #[must_use]
    pub const fn at(host: &'static str, path: &'static str) -> Self {
        Self { host, path }
    }

    /// Creates an endpoint on the account's own server.
    #[must_use]
    pub const fn on_instance(path: &'static str) -> Self {
        Self { host: "", path }
    }
}

/// A permission (scope) that is requested.
#[derive(Debug, Clone, Copy)]
pub struct Permission {
    /// The network's name for it.
    pub name: &'static str,
    /// The description for the user who is asked: `Publish posts`.
    pub doc: &'static str,
    /// True if nothing works without it.
    pub required: bool,
}

impl Permission {
    /// Creates a permission without which nothing works.
    #[must_use]
    pub const fn required(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, required: true }
    }

    /// Creates a permission that the user may decline.
    #[must_use]
    pub const fn optional(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, required: false }
    }
}

/// The way in which the token endpoint is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCall {
    /// POST with a form, as RFC 6749 has it.
    Form,
    /// GET with a query.
    Query,
}

/// The way in which the app authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// Id and secret among the other parameters.
    Body,
    /// Id and secret as HTTP Basic.
    Basic,
}

/// A GET request that exchanges a token for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenExchange {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// `grant_type`.
    pub grant_type: &'static str,
    /// The token's name in the query.
    pub token_name: &'static str,
    /// True if the app's id is sent too.
    pub with_client_id: bool,
    /// True if the app's secret is sent too.
    pub with_client_secret: bool,
}

/// The way in which tokens are refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRenewal {
    /// Tokens do not expire, or the user has to connect again.
    Never,
    /// `grant_type=refresh_token` at the token endpoint, where the network gave a refresh token.
    RefreshToken {
        /// A refresh token that is unused for this long may be invalid, unless the token response states its lifetime.
        idle: Duration,
    },
    /// The access token itself is exchanged for a fresh one while it is still valid.
    Exchange(TokenExchange),
}

/// The app that is registered with a network.
#[derive(Debug, Clone)]
pub struct App {
    /// Its public id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
}
