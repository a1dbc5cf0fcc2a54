//! Tokens: their owner, lifetime and scopes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Google;
use super::login::{Logins, Token};
use crate::call::Call;
use crate::env::rfc3339;
use crate::network::{Cx, Identity, Network};
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::sim::{Account, Sim};

/// The lifetimes of access and refresh tokens: an hour and half a year, in milliseconds.
pub(crate) const ACCESS_MS: i64 = 3_600_000;
pub(crate) const REFRESH_MS: i64 = 180 * 86_400_000;
/// The prefix of scopes.
pub(crate) const PREFIX: &str = "https://www.googleapis.com/auth/";
/// Names of an account's initial tokens.
const ACCESS: &str = "access_token";
const REFRESH: &str = "refresh_token";

/// Returns a new token, code or upload id of an account, which contains the account's id, so that the account can be
/// found by it.
pub(crate) fn new_token(prefix: &str, remote_id: &str) -> String {
    format!("{prefix}.{remote_id}!{}", random::text(BASE62, 48))
}

/// Returns the initial tokens of an account.
pub(crate) fn initial_tokens(remote_id: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        (ACCESS.to_owned(), new_token("ya29", remote_id)),
        (REFRESH.to_owned(), new_token("1//03", remote_id)),
    ])
}

/// Returns the initial tokens as credentials.
pub(crate) fn credentials(identity: &Identity) -> Map<String, Value> {
    Map::from_iter([
        (ACCESS.to_owned(), json!(identity.private(ACCESS))),
        (REFRESH.to_owned(), json!(identity.private(REFRESH))),
        ("expires_at".to_owned(), json!(rfc3339(identity.created_ms + ACCESS_MS))),
    ])
}

/// Returns the account of a token, code or upload id.
pub(crate) fn owner<N: Network>(sim: &Sim<N>, token: &str) -> Option<Arc<Account<N>>> {
    let (_, rest) = token.split_once('.')?;
    sim.account(rest.split('!').next()?)
}

/// Returns the account of a request: by its token, or by the code it exchanges.
pub(crate) fn caller<N: Google>(sim: &Sim<N>, call: &Call) -> Option<Arc<Account<N>>> {
    if let Some(token) = call.bearer() {
        return owner(sim, token);
    }
    if !matches!(call.segments().as_slice(), ["token" | "revoke"]) {
        return None;
    }
    let params = Params::read(call).ok()?;
    let names = ["code", REFRESH, "token"];
    names.iter().find_map(|name| owner(sim, &params.filled(name)?))
}

/// Returns a token of the account.
pub(crate) fn find_token<N: Google>(
    identity: &Identity,
    logins: &Logins,
    token: &str,
) -> Option<Token> {
    let born = |name, life, refresh| {
        let scope: Vec<_> = N::SCOPES.iter().map(|scope| format!("{PREFIX}{scope}")).collect();
        let expires_ms = identity.created_ms + life;
        let scope = scope.join(" ");
        (token == identity.private(name)).then_some(Token { expires_ms, scope, refresh })
    };
    let given = logins.tokens.get(token).cloned();
    let found = given
        .or_else(|| born(ACCESS, ACCESS_MS, false))
        .or_else(|| born(REFRESH, REFRESH_MS, true));
    found.filter(|_| !logins.is_dead(token))
}

/// Why a request is not authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessError {
    /// Its token is missing or invalid.
    Token,
    /// Its token lacks the scope.
    Scope,
}

/// Returns the account of a valid token with one of these scopes.
pub(crate) fn account_with_scope<N: Google>(
    cx: &Cx<N>,
    scopes: &[&str],
) -> Result<Arc<Account<N>>, AccessError> {
    let token = cx.call.bearer().ok_or(AccessError::Token)?;
    let account = owner(&cx.sim, token).ok_or(AccessError::Token)?;
    let (found, expired) = account.read(|state| {
        let logins = N::logins(state);
        (find_token::<N>(&account.identity, logins, token), logins.expired)
    });
    let found = found.filter(|found| !found.refresh && !expired && found.expires_ms > cx.now_ms());
    let found = found.ok_or(AccessError::Token)?;
    let is_for = |scope: &str| scopes.contains(&scope.strip_prefix(PREFIX).unwrap_or(scope));
    if found.scope.split(' ').any(is_for) { Ok(account) } else { Err(AccessError::Scope) }
}
