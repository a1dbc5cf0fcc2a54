//! Tokens: their owner, lifetime and scopes.

use std::sync::Arc;

use super::state::{State, Token};
use super::{Cx, Pinterest, failure};
use crate::call::Call;
use crate::network::Identity;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The lifetimes of access and refresh tokens: 30 and 60 days, in milliseconds.
pub(super) const ACCESS_MS: i64 = 30 * 86_400_000;
pub(super) const REFRESH_MS: i64 = 60 * 86_400_000;
/// The scopes that an app may request.
pub(super) const SCOPES: &str = "user_accounts:read,boards:read,boards:write,pins:read,pins:write,\
     boards:read_secret,boards:write_secret,pins:read_secret,pins:write_secret";

/// Returns a new token or code of a user. It contains the user's id, so that the account can be found by it.
pub(super) fn new_token(prefix: &str, user: &str) -> String {
    format!("{prefix}_{user}_{}", random::text(BASE62, 60))
}

/// Returns the user of a token or code.
pub(super) fn owner(sim: &Sim<Pinterest>, token: &str) -> Option<Arc<Account<Pinterest>>> {
    sim.account(token.split('_').nth(1)?)
}

/// Returns the account of a request: by its token, by the upload in its path, or by the code it exchanges.
pub(super) fn caller(sim: &Sim<Pinterest>, call: &Call) -> Option<Arc<Account<Pinterest>>> {
    if let Some(token) = call.bearer() {
        return owner(sim, token);
    }
    match call.segments().as_slice() {
        ["upload", user, _] => sim.account(user),
        ["v5", "oauth", "token"] => {
            let params = Params::read(call).ok()?;
            ["code", "refresh_token"].iter().find_map(|name| owner(sim, &params.filled(name)?))
        }
        _ => None,
    }
}

/// Returns a token of the account.
pub(super) fn find_token(identity: &Identity, state: &State, token: &str) -> Option<Token> {
    let born = |name, life, refresh| {
        let expires_ms = identity.created_ms + life;
        let is_it = token == identity.private(name);
        is_it.then(|| Token { expires_ms, scope: SCOPES.to_owned(), refresh })
    };
    born("access_token", ACCESS_MS, false)
        .or_else(|| born("refresh_token", REFRESH_MS, true))
        .or_else(|| state.tokens.get(token).cloned())
}

/// Returns the account of a valid token with all of these scopes.
pub(super) fn account_with_scopes(
    cx: &Cx,
    scopes: &[&str],
) -> Result<Arc<Account<Pinterest>>, Reply> {
    let (account, granted) = account(cx)?;
    let lacks = |scope: &&&str| !granted.split([',', ' ']).any(|one| one == **scope);
    match scopes.iter().find(lacks) {
        Some(scope) => Err(failure::unpermitted(scope)),
        None => Ok(account),
    }
}

/// Returns the account of the request's valid token, and the token's scopes.
pub(super) fn account(cx: &Cx) -> Result<(Arc<Account<Pinterest>>, String), Reply> {
    let refused = failure::unauthenticated;
    let token = cx.call.bearer().ok_or_else(refused)?;
    let account = owner(&cx.sim, token).ok_or_else(refused)?;
    let (found, expired) =
        account.read(|state| (find_token(&account.identity, state, token), state.expired));
    let found = found.filter(|found| !found.refresh && !expired).ok_or_else(refused)?;
    if found.expires_ms <= cx.now_ms() {
        return Err(refused());
    }
    Ok((account, found.scope))
}
