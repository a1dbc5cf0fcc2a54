//! Deletes expired codes, tokens, grants and clients.

use fanfare_entities::{
    oauth_client, oauth_client::ClientKind, oauth_code, oauth_grant, oauth_token,
};
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, Query},
};

use super::DAY;
use crate::{Domain, error::Result};

/// The time for which a self-registered client without a grant is kept, in ms.
const UNUSED_CLIENT: i64 = 7 * DAY;

/// The time for which an ended grant is kept, in ms, and with it a client without other grants.
const ENDED_GRANT: i64 = 90 * DAY;

/// Ends grants without a valid token, and deletes what ended long ago: codes and tokens after a day, grants after
/// ninety days, and then clients without a grant.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    let (now, db) = (cx.clock.now(), &cx.db.write);
    let old_codes = oauth_code::Column::ExpiresAt.lte(now - DAY);
    let mut gone =
        oauth_code::Entity::delete_many().filter(old_codes).exec(db).await?.rows_affected;
    let live = oauth_token::Entity::find()
        .select_only()
        .column(oauth_token::Column::GrantId)
        .filter(oauth_token::Column::ExpiresAt.gt(now))
        .filter(oauth_token::Column::RevokedAt.is_null())
        .filter(oauth_token::Column::UsedAt.is_null());
    oauth_grant::Entity::update_many()
        .col_expr(oauth_grant::Column::EndedAt, Expr::value(now))
        .filter(oauth_grant::Column::EndedAt.is_null())
        .filter(oauth_grant::Column::Id.not_in_subquery(sea_orm::QueryTrait::into_query(live)))
        .exec(db)
        .await?;
    let old_tokens = oauth_token::Column::ExpiresAt.lte(now - DAY);
    gone += oauth_token::Entity::delete_many().filter(old_tokens).exec(db).await?.rows_affected;
    let old_grants = oauth_grant::Column::EndedAt.lte(now - ENDED_GRANT);
    gone += oauth_grant::Entity::delete_many().filter(old_grants).exec(db).await?.rows_affected;
    Ok(gone + forget_clients(cx).await?)
}

async fn forget_clients(cx: &Domain) -> Result<u64> {
    let (now, db) = (cx.clock.now(), &cx.db.write);
    let let_in =
        Query::select().column(oauth_grant::Column::ClientId).from(oauth_grant::Entity).to_owned();
    let unused = oauth_client::Column::ClientId.not_in_subquery(let_in);
    let registered = oauth_client::Column::Kind
        .eq(ClientKind::Registered)
        .and(oauth_client::Column::CreatedAt.lte(now - UNUSED_CLIENT));
    let described = oauth_client::Column::Kind
        .eq(ClientKind::Document)
        .and(oauth_client::Column::FreshUntil.lte(now - DAY));
    let gone = oauth_client::Entity::delete_many()
        .filter(registered.or(described))
        .filter(unused)
        .exec(db)
        .await?;
    Ok(gone.rows_affected)
}
