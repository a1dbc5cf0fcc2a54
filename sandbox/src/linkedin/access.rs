//! Tokens: their owner, lifetime and scopes.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::state::{State, Token};
use super::{Cx, Linkedin, failure};
use crate::call::Call;
use crate::network::Identity;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::Reply;
use crate::sim::{Account, Sim};

/// The lifetimes of access and refresh tokens: 60 days and a year, in milliseconds.
pub(super) const ACCESS_MS: i64 = 60 * 86_400_000;
pub(super) const REFRESH_MS: i64 = 365 * 86_400_000;
/// The number of characters of a member's id.
pub(super) const SUB: usize = 10;
/// The scopes that this app was approved for, and that a new account has granted.
pub(super) const SCOPES: &str = "openid profile w_member_social r_organization_social \
     w_organization_social rw_organization_admin r_member_postAnalytics";
const PREFIX: &str = "AQ";

/// Returns a new token or code of a member. It contains the member's id, so that the account can be found by it.
pub(super) fn new_token(sub: &str) -> String {
    format!("{PREFIX}{sub}{}", random::text(BASE62, 90))
}

/// Returns the member of a token, code or file.
pub(super) fn owner(sim: &Sim<Linkedin>, token: &str) -> Option<Arc<Account<Linkedin>>> {
    sim.find(token.strip_prefix(PREFIX)?.get(..SUB)?)
}

/// Returns the account of a request: by its token, by the file it uploads, or by the code it exchanges.
pub(super) fn caller(sim: &Sim<Linkedin>, call: &Call) -> Option<Arc<Account<Linkedin>>> {
    if let Some(token) = call.bearer() {
        return owner(sim, token);
    }
    match call.segments().as_slice() {
        ["dms-uploads", file, ..] => owner(sim, file),
        ["oauth", "v2", _] => {
            let params = Params::read(call).ok()?;
            let names = ["code", "refresh_token", "token"];
            names.iter().find_map(|name| owner(sim, &params.filled(name)?))
        }
        _ => None,
    }
}

/// Returns a token of the member's account.
pub(super) fn find_token(identity: &Identity, state: &State, token: &str) -> Option<Token> {
    let born = |name, life, refresh| {
        let is_it = token == identity.private(name);
        let expires_ms = identity.created_ms + life;
        is_it.then(|| Token { expires_ms, scope: SCOPES.to_owned(), refresh })
    };
    born("access_token", ACCESS_MS, false)
        .or_else(|| born("refresh_token", REFRESH_MS, true))
        .or_else(|| state.tokens.get(token).cloned())
}

/// Returns the account of the request's valid token, and the token's scopes.
pub(super) fn account(cx: &Cx) -> Result<(Arc<Account<Linkedin>>, String), Reply> {
    let token =
        cx.call.bearer().filter(|token| !token.is_empty()).ok_or_else(|| {
            failure::token(65_604, "EMPTY_ACCESS_TOKEN", "Empty oauth2 access token")
        })?;
    let invalid = || failure::token(65_600, "INVALID_ACCESS_TOKEN", "Invalid access token");
    let account = owner(&cx.sim, token).ok_or_else(invalid)?;
    let (found, expired, revoked) = account.read(|state| {
        (find_token(&account.identity, state, token), state.expired, state.revoked.contains(token))
    });
    let found = found.filter(|found| !found.refresh).ok_or_else(invalid)?;
    if revoked {
        let message = "The token used in the request has been revoked by the user";
        return Err(failure::token(65_601, "REVOKED_ACCESS_TOKEN", message));
    }
    if expired || found.expires_ms <= cx.now_ms() {
        let message = "The token used in the request has expired";
        return Err(failure::token(65_602, "EXPIRED_ACCESS_TOKEN", message));
    }
    Ok((account, found.scope))
}

/// Returns the account, if its token has one of these scopes.
pub(super) fn account_with_scope(
    cx: &Cx,
    scopes: &[&str],
    what: &str,
) -> Result<Arc<Account<Linkedin>>, Reply> {
    let (account, granted) = account(cx)?;
    let has = granted.split([' ', ',']).any(|scope| scopes.contains(&scope));
    let refused = || failure::denied(&format!("Not enough permissions to access: {what}"));
    has.then_some(account).ok_or_else(refused)
}

/// Returns the URN of the member.
pub(super) fn person(identity: &Identity) -> String {
    format!("urn:li:person:{}", identity.private("sub"))
}

/// Returns the URN of the page that the member administers.
pub(super) fn page(identity: &Identity) -> String {
    format!("urn:li:organization:{}", identity.private("organization_id"))
}

/// Returns the account, if it may post as `author`.
pub(super) fn author(cx: &Cx, author: &str, what: &str) -> Result<Arc<Account<Linkedin>>, Reply> {
    let is_page = author.starts_with("urn:li:organization:");
    let scope = if is_page { "w_organization_social" } else { "w_member_social" };
    let account = account_with_scope(cx, &[scope], what)?;
    if author == person(&account.identity) || author == page(&account.identity) {
        return Ok(account);
    }
    Err(failure::denied(
        "Field Value validation failed in REQUEST_BODY: Data Processing Exception while processing fields [/author]",
    ))
}

/// Checks that a versioned call names a version that is active. Each lives for a year, from the middle of its month:
/// in November 2026 that of November 2025 has gone, and 202608 was the newest.
pub(super) fn version(cx: &Cx) -> Result<(), Reply> {
    const ACTIVE: RangeInclusive<u32> = 202_512..=202_608;
    let Some(named) = cx.call.header("linkedin-version") else {
        let message = "A version must be present. Please specify a version by adding the LinkedIn-Version header.";
        return Err(failure::error(400, "VERSION_MISSING", message));
    };
    let month: Option<u32> = named.parse().ok().filter(|_| named.len() == 6);
    if month.is_some_and(|month| ACTIVE.contains(&month) && (1..=12).contains(&(month % 100))) {
        return Ok(());
    }
    let message = format!("Requested version {named} is not active");
    Err(failure::error(426, "NONEXISTENT_VERSION", &message))
}
