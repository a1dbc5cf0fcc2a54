//! The owner of a token, and the owner's locations.

use std::sync::Arc;

use super::places::{self, LOCATIONS};
use super::{Cx, GoogleBusiness, failure};
use crate::google::access::{self, Refused};
use crate::rate_limit::Limit;
use crate::reply::Reply;
use crate::sim::Account;

/// The scope that an app needs.
pub(super) const MANAGE: &str = "business.manage";

/// Returns the account of a valid token.
pub(super) fn with(cx: &Cx) -> Result<Arc<Account<GoogleBusiness>>, Reply> {
    access::with(cx, &[MANAGE]).map_err(|refused| match refused {
        Refused::Token => failure::unauthenticated(),
        Refused::Scope => failure::scope(),
    })
}

/// Returns the account and the full name of the location in the path, which the user must manage.
pub(super) fn location(cx: &Cx) -> Result<(Arc<Account<GoogleBusiness>>, String), Reply> {
    let account = with(cx)?;
    let name = cx.call.segments()[1..].iter().take(4).copied().collect::<Vec<_>>().join("/");
    let is_it = |which: &str| places::location(&account.identity, which) == name;
    if LOCATIONS.iter().any(|(which, ..)| is_it(which)) {
        return Ok((account, name));
    }
    let others = cx.sim.all();
    let exists = others.iter().any(|one| {
        LOCATIONS.iter().any(|(which, ..)| places::location(&one.identity, which) == name)
    });
    Err(if exists { failure::denied() } else { failure::missing() })
}

/// Counts a change of a location: ten per minute.
pub(super) fn edit(cx: &Cx, account: &Account<GoogleBusiness>, name: &str) -> Result<(), Reply> {
    const fn edits(name: &'static str) -> Limit {
        Limit { name, units: 10, span_ms: 60_000 }
    }
    if !cx.sim.env.rate_limits() {
        return Ok(());
    }
    let found =
        LOCATIONS.iter().find(|(which, ..)| places::location(&account.identity, which) == name);
    let which = found.map_or("main", |(which, ..)| *which);
    let allowed = account.count(edits(which), 1, cx.now_ms()).allowed;
    if allowed { Ok(()) } else { Err(failure::exhausted()) }
}
