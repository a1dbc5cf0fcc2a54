//! Tokens: their owner and lifetime.

use std::sync::Arc;

use super::failure::unauthorized;
use super::{Cx, X};
use crate::call::Call;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The lifetime of an access token: two hours, in milliseconds.
pub(super) const LIFE_MS: i64 = 2 * 3_600_000;

/// The private values of an identity that hold the initial tokens.
pub(super) const ACCESS: &str = "access_token";
pub(super) const REFRESH: &str = "refresh_token";

/// Returns a new token or code. It contains the user's id, so that the account can be found by it.
pub(super) fn new_token(user_id: &str) -> String {
    format!("{user_id}-{}", random::text(BASE62, 60))
}

/// Returns the account that a token or code belongs to.
pub(super) fn owner(sim: &Sim<X>, token: &str) -> Option<Arc<Account<X>>> {
    sim.account(token.split_once('-')?.0)
}

/// Returns the account of a request: by its token, or by the code or token in its body.
pub(super) fn caller(sim: &Sim<X>, call: &Call) -> Option<Arc<Account<X>>> {
    if let Some(token) = call.bearer() {
        return owner(sim, token);
    }
    let params = Params::read(call).ok()?;
    let named = ["code", "refresh_token", "token"].iter().find_map(|name| params.filled(name))?;
    owner(sim, &named)
}

/// Returns the account of the request's valid token.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<X>>, Reply> {
    let token = cx.call.bearer().ok_or_else(unauthorized)?;
    let account = owner(&cx.sim, token).ok_or_else(unauthorized)?;
    let identity = &account.identity;
    let first = (token == identity.private(ACCESS)).then_some(identity.created_ms + LIFE_MS);
    let now_ms = cx.now_ms();
    let good = account.read(|state| {
        let first = first.filter(|_| state.spent.is_empty());
        let ends = state.access.get(token).copied().or(first);
        !state.expired && !state.revoked && ends.is_some_and(|ends_ms| now_ms < ends_ms)
    });
    if good { Ok(account) } else { Err(unauthorized()) }
}
