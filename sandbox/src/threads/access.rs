//! Access tokens: their owner and lifetime.

use std::sync::Arc;

use super::state::State;
use super::{Cx, Threads, below_version, failure};
use crate::call::Call;
use crate::env::utc;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The lifetimes of long-lived and short-lived tokens: 60 days and one hour, in milliseconds.
pub(super) const LONG_MS: i64 = 60 * 86_400_000;
pub(super) const SHORT_MS: i64 = 3_600_000;
const PREFIX: &str = "THAA";

/// Returns a new token of a user. It contains the user's id, so that the account can be found by it.
pub(super) fn new_token(user_id: &str) -> String {
    format!("{PREFIX}{user_id}Z{}", random::text(BASE62, 80))
}

fn user_of(token: &str) -> Option<&str> {
    Some(token.strip_prefix(PREFIX)?.split_once('Z')?.0)
}

/// Returns the token of a request, from the header or a parameter.
pub(super) fn token(call: &Call) -> Option<String> {
    if let Some(token) = call.bearer() {
        return Some(token.to_owned());
    }
    Params::read(call).ok()?.filled("access_token")
}

/// Returns the account of a request: by its token, its code, or the user in its path.
pub(super) fn caller(sim: &Sim<Threads>, call: &Call) -> Option<Arc<Account<Threads>>> {
    if let Some(account) = token(call).and_then(|token| sim.account(user_of(&token)?)) {
        return Some(account);
    }
    if call.path.ends_with("access_token") {
        let code = Params::read(call).ok()?.filled("code")?;
        return sim.account(code.split('.').next()?);
    }
    let segments = call.segments();
    sim.account(below_version(&segments).first()?)
}

/// Returns when a token expires and when it was issued, in milliseconds since 1970; `None` for an unknown token.
pub(super) fn life(account: &Account<Threads>, state: &State, token: &str) -> Option<(i64, i64)> {
    let identity = &account.identity;
    if token == identity.private("access_token") {
        return Some((identity.created_ms, identity.created_ms + LONG_MS));
    }
    state.tokens.get(token).map(|token| (token.issued_ms, token.expires_ms))
}

/// Returns the account of the request's valid token.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<Threads>>, Reply> {
    let token = token(&cx.call);
    let token = token.ok_or_else(|| {
        failure::graph(400, 104, 0, "An access token is required to request this resource.")
    })?;
    checked(cx, &token)
}

/// Returns the account of a token, if it is still valid.
pub(super) fn checked(cx: &Cx, token: &str) -> Result<Arc<Account<Threads>>, Reply> {
    let broken =
        || failure::graph(401, 190, 0, "Invalid OAuth access token - Cannot parse access token");
    let account = user_of(token).and_then(|user| cx.sim.account(user)).ok_or_else(broken)?;
    let now_ms = cx.now_ms();
    let (known, expired) = account.read(|state| (life(&account, state, token), state.expired));
    let (_, expires_ms) = known.ok_or_else(broken)?;
    if expired || expires_ms <= now_ms {
        let time = |ms: i64| utc(ms).format("%A, %d-%b-%y %H:%M:%S UTC");
        let end = if expired { now_ms } else { expires_ms };
        let message = format!(
            "Error validating access token: Session has expired on {}. The current time is {}.",
            time(end),
            time(now_ms)
        );
        return Err(failure::graph(400, 190, 463, &message));
    }
    Ok(account)
}

/// Returns the account, if the user in the path is `me` or its id.
pub(super) fn user(cx: &Cx) -> Result<Arc<Account<Threads>>, Reply> {
    let account = account(cx)?;
    let segments = cx.call.segments();
    let named = below_version(&segments).first().copied().unwrap_or_default();
    if named == "me" || named == account.identity.remote_id {
        return Ok(account);
    }
    Err(failure::missing(named))
}
