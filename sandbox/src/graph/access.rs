//! The owner and the validity of tokens.

use std::sync::Arc;

use super::login::PersonToken;
use super::{Graph, below_version, failure};
use crate::call::Call;
use crate::env::utc;
use crate::network::{Cx, Identity, Network};
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The name of a page's token among an identity's private values.
pub(crate) const PAGE_TOKEN: &str = "access_token";

const PERSON: &str = "EAAU";
const PAGE: &str = "EAAP";

/// Returns a new user token. It contains the id of the first account, so that the account can be found by it.
pub(crate) fn person_token(remote_id: &str) -> String {
    format!("{PERSON}{remote_id}Z{}", random::text(BASE62, 80))
}

/// Returns a new page token.
pub(crate) fn page_token(remote_id: &str) -> String {
    format!("{PAGE}{remote_id}Z{}", random::text(BASE62, 80))
}

fn account_of<N: Network>(sim: &Sim<N>, token: &str) -> Option<Arc<Account<N>>> {
    let rest = token.strip_prefix(PERSON).or_else(|| token.strip_prefix(PAGE))?;
    sim.account(rest.split_once('Z')?.0)
}

/// Returns the first account of a code.
pub(crate) fn of_code<N: Network>(sim: &Sim<N>, code: &str) -> Option<Arc<Account<N>>> {
    sim.account(code.strip_prefix("AQ")?.split_once('.')?.0)
}

/// Returns the token of a request, from the header or a parameter.
pub(crate) fn token(call: &Call) -> Option<String> {
    let header = call.header("authorization").and_then(|header| header.split_once(' '));
    if let Some((scheme, token)) = header
        && ["bearer", "oauth"].contains(&scheme.to_ascii_lowercase().as_str())
    {
        return Some(token.trim().to_owned());
    }
    Params::read(call).ok()?.filled("access_token")
}

/// Returns the account of a request: by its token, its code, or the account in its path.
pub(crate) fn caller<N: Graph>(sim: &Sim<N>, call: &Call) -> Option<Arc<Account<N>>> {
    if let Some(account) = token(call).and_then(|token| account_of(sim, &token)) {
        return Some(account);
    }
    if call.path.ends_with("oauth/access_token") {
        let params = Params::read(call).ok()?;
        let short = params.filled("fb_exchange_token");
        let by_code = params.filled("code").and_then(|code| of_code(sim, &code));
        return short.and_then(|token| account_of(sim, &token)).or(by_code);
    }
    let segments = call.segments();
    sim.account(below_version(&segments).first()?)
}

fn broken() -> Reply {
    failure::graph(401, 190, 0, "Invalid OAuth access token - Cannot parse access token")
}

fn ended(now_ms: i64) -> Reply {
    let now = utc(now_ms).format("%A, %d-%b-%y %H:%M:%S UTC");
    let message = format!(
        "Error validating access token: Session has expired on {now}. The current time is {now}."
    );
    failure::graph(400, 190, 463, &message)
}

fn access_revoked() -> Reply {
    failure::graph(
        400,
        190,
        458,
        "Error validating access token: The user has not authorized application.",
    )
}

/// Returns the required token of the request.
pub(crate) fn required_token(call: &Call) -> Result<String, Reply> {
    token(call).ok_or_else(|| {
        failure::graph(400, 104, 0, "An access token is required to request this resource.")
    })
}

/// Returns the account of the request's valid page token.
pub(crate) fn page<N: Graph>(cx: &Cx<N>) -> Result<Arc<Account<N>>, Reply> {
    let token = required_token(&cx.call)?;
    let account = account_of(&cx.sim, &token).ok_or_else(broken)?;
    if token.starts_with(PERSON) {
        person_of(cx, &token)?;
        let message = "A page access token is required to request this resource.";
        return Err(failure::graph(403, 190, 2_069_032, message));
    }
    if token != account.identity.private(PAGE_TOKEN) {
        return Err(broken());
    }
    let (expired, revoked) = account.read(|state| {
        let logins = N::logins(state);
        (logins.expired, logins.revoked)
    });
    match (expired, revoked) {
        (_, true) => Err(access_revoked()),
        (true, _) => Err(ended(cx.now_ms())),
        _ => Ok(account),
    }
}

/// Returns the first account of the request's valid user token, and what the user granted.
pub(crate) fn person_of<N: Graph>(
    cx: &Cx<N>,
    token: &str,
) -> Result<(Arc<Account<N>>, PersonToken), Reply> {
    let account = account_of(&cx.sim, token).ok_or_else(broken)?;
    let known = account.read(|state| N::logins(state).tokens.get(token).cloned());
    match known {
        None if account.read(|state| N::logins(state).revoked) => Err(access_revoked()),
        None => Err(broken()),
        Some(life) if life.expires_ms <= cx.now_ms() => Err(ended(life.expires_ms)),
        Some(life) => Ok((account, life)),
    }
}

/// Returns true if the request has a user token.
pub(crate) fn is_person(call: &Call) -> bool {
    token(call).is_some_and(|token| token.starts_with(PERSON))
}

/// Returns the account if `named` refers to it: `me`, its page or its own id.
pub(crate) fn named<N: Graph>(cx: &Cx<N>, named: &str) -> Result<Arc<Account<N>>, Reply> {
    let account = page(cx)?;
    let is_it = |identity: &Identity| {
        named == "me" || named == identity.remote_id || named == N::page_id(identity)
    };
    if is_it(&account.identity) { Ok(account) } else { Err(failure::missing(named)) }
}
