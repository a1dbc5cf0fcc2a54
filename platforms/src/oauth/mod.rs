//! Permission given in a browser, for every network that works so: what they differ in is data.
//!
//! [`Oauth`] says where and how; the functions here walk the way, and who keeps state, verifier and tokens is the
//! caller's affair. Whatever data cannot say is a method of [`crate::Platform`]: `app_registration`, `identities`, `revoke`.

mod answer;
mod flow;
#[cfg(test)]
mod tests;
mod tokens;

use std::time::Duration;

use secrecy::SecretString;

use crate::CredentialField;

pub use flow::{Leave, authorize_url, exchange, renew, revoke};
pub use tokens::{
    ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET, INSTANCE, REFRESH_TOKEN, ends, missing, refresh_ends,
};

/// The way a person lets an app act for an account.
#[derive(Debug, Clone, Copy)]
pub struct Oauth {
    /// The page on which a person grants.
    pub authorize: Endpoint,
    /// Further parameters of that page, for example `("access_type", "offline")`.
    pub authorize_extra: &'static [(&'static str, &'static str)],
    /// The numbers that are asked for.
    pub permissions: &'static [Permission],
    /// The separator of permissions' names.
    pub separator: &'static str,
    /// RFC 7636 with S256: a code is worth nothing to whoever sees it pass.
    pub pkce: bool,
    /// The endpoint that exchanges a code for tokens, and a refresh token for fresh ones.
    pub token: Endpoint,
    /// The way it is called.
    pub token_call: TokenCall,
    /// Further parameters of the exchange of a code.
    pub exchange_extra: &'static [(&'static str, &'static str)],
    /// The way the app authenticates.
    pub client_auth: ClientAuth,
    /// The network's name of the app's id.
    pub client_id_name: &'static str,
    /// The first token lives for a moment and is traded at once for one that lasts.
    pub long_lived: Option<Trade>,
    /// The way tokens are kept fresh.
    pub renewal: Renewal,
    /// One login reaches several accounts, which hold the same tokens: they are exchanged for all of them together.
    pub shared: bool,
    /// The endpoint that revokes a token, if that needs nothing but the token and the app.
    pub revoke: Option<Endpoint>,
    /// The question before a person leaves: the address of the account's own server. Only for networks of many servers;
    /// its name is [`INSTANCE`], and each [`Endpoint`] without a host is on it.
    pub instance: Option<CredentialField>,
}

impl Oauth {
    /// The practice of most networks. An entry gives what differs, and the addresses.
    pub const USUAL: Self = Self {
        authorize: Endpoint::on_instance("/oauth/authorize"),
        authorize_extra: &[],
        permissions: &[],
        separator: " ",
        pkce: false,
        token: Endpoint::on_instance("/oauth/token"),
        token_call: TokenCall::Form,
        exchange_extra: &[],
        client_auth: ClientAuth::Body,
        client_id_name: "client_id",
        long_lived: None,
        renewal: Renewal::Never,
        shared: false,
        revoke: None,
        instance: None,
    };
}

/// An address in two parts, so that a configured base can take the place of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme and host, and a prefix if there is one; empty: the account's own server.
    pub host: &'static str,
    /// Path, which starts with a slash.
    pub path: &'static str,
}

impl Endpoint {
    /// An address of the network.
    #[must_use]
    pub const fn at(host: &'static str, path: &'static str) -> Self {
        Self { host, path }
    }

    /// An address of the account's own server.
    #[must_use]
    pub const fn on_instance(path: &'static str) -> Self {
        Self { host: "", path }
    }
}

/// One thing that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Permission {
    /// The network's name for it.
    pub name: &'static str,
    /// The permission in words for the person who is asked: `Publish posts`.
    pub doc: &'static str,
    /// Nothing works without it.
    pub needed: bool,
}

impl Permission {
    /// One without which nothing works.
    #[must_use]
    pub const fn needed(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, needed: true }
    }

    /// One that a person may keep back.
    #[must_use]
    pub const fn wanted(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, needed: false }
    }
}

/// The way the token endpoint is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCall {
    /// POST with a form, as RFC 6749 has it.
    Form,
    /// GET with a query.
    Query,
}

/// The way the app authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// Id and secret among the other parameters.
    Body,
    /// Id and secret as HTTP Basic.
    Basic,
}

/// A GET that gives a token for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trade {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// `grant_type`.
    pub grant_type: &'static str,
    /// The token's name in the query.
    pub token_name: &'static str,
    /// The app's id is sent too.
    pub with_client_id: bool,
    /// The app's secret is sent too.
    pub with_client_secret: bool,
}

/// The way tokens are kept fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Tokens do not end, or a person has to connect again.
    Never,
    /// `grant_type=refresh_token` at the token endpoint, where the network gave a refresh token.
    RefreshToken {
        /// A refresh token that is not used for this long may be dead; what a token answer says comes first.
        idle: Duration,
    },
    /// The access token itself is traded for a fresh one while it is still good.
    Trade(Trade),
}

/// The app that we have registered with a network.
#[derive(Debug, Clone)]
pub struct App {
    /// Its public id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
}
