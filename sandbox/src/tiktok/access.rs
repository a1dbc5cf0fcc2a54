//! Tokens: their owner, lifetime and scopes.

use std::sync::Arc;

use super::state::{State, Token};
use super::{Cx, Tiktok, failure};
use crate::call::Call;
use crate::network::Identity;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The lifetimes of access and refresh tokens: a day and a year, in milliseconds.
pub(super) const ACCESS_MS: i64 = 86_400_000;
pub(super) const REFRESH_MS: i64 = 365 * 86_400_000;
/// The scopes that an app may request.
pub(super) const SCOPES: &str =
    "user.info.basic,user.info.profile,user.info.stats,video.publish,video.upload,video.list";

/// Returns a new token or code of a creator, which contains the creator's id, so that the account can be found by it.
pub(super) fn new_token(prefix: &str, open_id: &str) -> String {
    format!("{prefix}.{open_id}!{}", random::text(BASE62, 48))
}

/// Returns the creator of a token, a code or a post that is being made.
pub(super) fn owner(sim: &Sim<Tiktok>, token: &str) -> Option<Arc<Account<Tiktok>>> {
    let (_, rest) = token.split_once('.')?;
    sim.account(rest.split('!').next()?)
}

/// Returns the account of a request: by its token, by the video it sends, or by the code it exchanges.
pub(super) fn caller(sim: &Sim<Tiktok>, call: &Call) -> Option<Arc<Account<Tiktok>>> {
    if let Some(token) = call.bearer() {
        return owner(sim, token);
    }
    match call.segments().as_slice() {
        ["video"] => owner(sim, &call.query_value("upload_id")?),
        ["v2", "oauth", _] => {
            let params = Params::read(call).ok()?;
            let names = ["code", "refresh_token", "token"];
            names.iter().find_map(|name| owner(sim, &params.filled(name)?))
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
    let found = born("access_token", ACCESS_MS, false)
        .or_else(|| born("refresh_token", REFRESH_MS, true))
        .or_else(|| state.tokens.get(token).cloned());
    found.filter(|_| !state.is_dead(token))
}

/// Returns the account of a valid token with this scope.
pub(super) fn account_with_scope(cx: &Cx, scope: &str) -> Result<Arc<Account<Tiktok>>, Reply> {
    let refused = || {
        let message = "The access token is invalid or not found in the request.";
        failure::error(401, "access_token_invalid", message)
    };
    let token = cx.call.bearer().ok_or_else(refused)?;
    let account = owner(&cx.sim, token).ok_or_else(refused)?;
    let (found, expired) =
        account.read(|state| (find_token(&account.identity, state, token), state.expired));
    let found = found.filter(|found| !found.refresh && !expired).ok_or_else(refused)?;
    if found.expires_ms <= cx.now_ms() {
        return Err(refused());
    }
    if !found.scope.split([',', ' ']).any(|one| one == scope) {
        let message = format!(
            "The user did not authorize the scope {scope} required for completing this request."
        );
        return Err(failure::error(401, "scope_not_authorized", &message));
    }
    Ok(account)
}
