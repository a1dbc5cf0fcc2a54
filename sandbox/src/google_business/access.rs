//! The owner of a token, and the owner's locations.

use std::sync::Arc;

use super::locations::{self, LOCATIONS};
use super::{Cx, GoogleBusiness, failure};
use crate::google::access::{self, AccessError};
use crate::rate_limit::Limit;
use crate::reply::Reply;
use crate::sim::Account;

/// The scope that an app needs.
pub(super) const MANAGE: &str = "business.manage";

/// Returns the account of a valid token.
pub(super) fn account_with_scope(cx: &Cx) -> Result<Arc<Account<GoogleBusiness>>, Reply> {
    access::account_with_scope(cx, &[MANAGE]).map_err(|refused| match refused {
        AccessError::Token => failure::unauthenticated(),
        AccessError::Scope => failure::scope(),
    })
}

/// Returns the account and the full name of the location in the path, which the user must manage.
pub(super) fn location(cx: &Cx) -> Result<(Arc<Account<GoogleBusiness>>, String), Reply> {
    let account = account_with_scope(cx)?;
    let name = cx.call.segments()[1..].iter().take(4).copied().collect::<Vec<_>>().join("/");
    let is_it = |which: &str| locations::location(&account.identity, which) == name;
    if LOCATIONS.iter().any(|(which, ..)| is_it(which)) {
        return Ok((account, name));
    }
    let others = cx.sim.all();
    let exists = others.iter().any(|one| {
        LOCATIONS.iter().any(|(which, ..)| locations::location(&one.identity, which) == name)
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
        LOCATIONS.iter().find(|(which, ..)| locations::location(&account.identity, which) == name);
    let which = found.map_or("main", |(which, ..)| *which);
    let allowed = account.take_units(edits(which), 1, cx.now_ms()).allowed;
    if allowed { Ok(()) } else { Err(failure::exhausted()) }
}
