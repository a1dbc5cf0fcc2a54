//! Facts about accounts that change on the network's side, such as the limits of a server or a plan.

use std::time::Duration;

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{self as platforms, PlatformId, Session};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};
use serde_json::Value;

/// The age, in ms, at which facts are read again.
const MAX_AGE: Millis = 24 * 3_600_000;
/// The longest wait for a network to return them.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads the facts of an account again if they are a day old, or if one is missing that should not wait. Facts that the network does not return keep their values,
/// and are requested again next time.
///
/// # Errors
/// The database's.
pub async fn renew(
    cx: &Domain,
    platform: PlatformId,
    row: &account::Model,
    session: &mut Session,
) -> Result<()> {
    let now = cx.clock.now();
    let Some(facts) = platforms::find(platform).account_facts() else { return Ok(()) };
    if now - row.updated_at < MAX_AGE && facts.are_known(&session.account.meta) {
        return Ok(());
    }
    let asked = tokio::time::timeout(PATIENCE, facts.read(session)).await;
    let Ok(Ok(fresh)) = asked else { return Ok(()) };
    session.account.meta.extend(fresh);
    account::Entity::update_many()
        .col_expr(account::Column::Meta, Expr::value(Value::Object(session.account.meta.clone())))
        .col_expr(account::Column::UpdatedAt, Expr::value(now))
        .filter(account::Column::Id.eq(row.id))
        // If a worker claimed the account meanwhile, its facts may be newer; the next session then writes them.
        .filter(account::Column::FencingToken.eq(row.fencing_token))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
