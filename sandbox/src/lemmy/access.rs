//! Logging in, and the owner of a token.

use std::sync::Arc;

use serde_json::json;

use super::state::Change;
use super::{Cx, Lemmy};
use crate::call::Call;
use crate::random::{self, BASE64URL};
use crate::reply::{HandlerResult, Reply};
use crate::sim::{Account, Sim};

/// Returns an error in Lemmy's format.
pub(super) fn failure(status: u16, code: &str) -> Reply {
    Reply::json(status, &json!({ "error": code }))
}

/// Returns the token of a request: from the header, or the cookie of old versions.
fn token(call: &Call) -> Option<&str> {
    let cookie = || call.header("cookie")?.split("; ").find_map(|one| one.strip_prefix("jwt="));
    call.bearer().or_else(cookie)
}

/// Returns the account of a request: by its token, or by the name in a log-in.
pub(super) fn caller(sim: &Sim<Lemmy>, call: &Call) -> Option<Arc<Account<Lemmy>>> {
    if let Some(token) = token(call) {
        return sim.account(token.split('.').nth(1)?);
    }
    if !call.path.ends_with("user/login") {
        return None;
    }
    sim.find(&call.json().ok()?["username_or_email"].as_str()?.to_lowercase())
}

/// Returns the account that is logged in; `None` for a visitor.
pub(super) fn visitor(cx: &Cx) -> Option<Arc<Account<Lemmy>>> {
    let token = token(&cx.call)?;
    cx.account.clone().filter(|account| account.read(|state| state.tokens.contains(token)))
}

/// Returns the account, which must be logged in.
pub(super) fn account(cx: &Cx) -> Result<Arc<Account<Lemmy>>, Reply> {
    visitor(cx).ok_or_else(|| failure(401, "not_logged_in"))
}

/// `POST /user/login`
pub(super) fn login(cx: &Cx) -> HandlerResult {
    let body = cx.call.json().map_err(|_| failure(400, "Json deserialize error"))?;
    let account = cx.account.clone().ok_or_else(|| failure(401, "incorrect_login"))?;
    if body["password"] != account.identity.private("password") {
        return Err(failure(401, "incorrect_login"));
    }
    let end = random::text(BASE64URL, 43);
    let token = format!("eyJ0eXAiOiJKV1QifQ.{}.{end}", account.identity.remote_id);
    cx.sim.apply(&account, Change::LoggedIn { token: token.clone() });
    let reply = json!({"jwt": token, "registration_created": false, "verify_email_sent": false});
    Ok(Reply::ok(&reply))
}
