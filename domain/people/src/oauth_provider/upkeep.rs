//! Deletes expired codes, tokens, grants and clients.

use fanfare_core::{Domain, batches, error::Result};
use fanfare_entities::{
    Millis, oauth_client, oauth_client::ClientKind, oauth_code, oauth_grant, oauth_token,
};
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, IntoCondition},
};

use super::DAY;

/// The time for which a self-registered client without a grant is kept, in ms.
const UNUSED_CLIENT: i64 = 7 * DAY;

/// The most clients without a grant that are kept; of more, the oldest go. Strangers make them.
const MAX_UNUSED_CLIENTS: u64 = 20_000;

/// The time for which an ended grant is kept, in ms, and with it a client without other grants.
const ENDED_GRANT: i64 = 90 * DAY;

/// How far back clients without a grant are looked for, in ms: earlier ones were deleted then, unless no clean-up has
/// run for as long.
const LOOK_BACK: i64 = 30 * DAY;

/// Ends grants without a valid token, and deletes what ended long ago: codes and tokens after a day, grants after
/// ninety days, and then clients without a grant.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let now = cx.clock.now();
    let end = oauth_code::Column::ExpiresAt;
    let codes = batches::delete::<oauth_code::Entity>(cx, end, end.lte(now - DAY)).await?;
    end_grants(cx, now).await?;
    let end = oauth_token::Column::ExpiresAt;
    let tokens = batches::delete::<oauth_token::Entity>(cx, end, end.lte(now - DAY)).await?;
    let clients = delete_unused_clients(cx, now).await? + delete_excess_clients(cx, now).await?;
    Ok(codes + tokens + delete_grants(cx, now).await? + clients)
}

/// Ends grants without a valid token. One of their tokens has expired and is still there.
async fn end_grants(cx: &Domain, now: Millis) -> Result<()> {
    let expired = oauth_token::Entity::find()
        .select_only()
        .column(oauth_token::Column::GrantId)
        .filter(oauth_token::Column::ExpiresAt.lte(now));
    let live = oauth_token::Entity::find()
        .select_only()
        .column(oauth_token::Column::GrantId)
        .filter(oauth_token::Column::ExpiresAt.gt(now))
        .filter(oauth_token::Column::RevokedAt.is_null())
        .filter(oauth_token::Column::UsedAt.is_null())
        .filter(
            Expr::col((oauth_token::Entity, oauth_token::Column::GrantId))
                .equals((oauth_grant::Entity, oauth_grant::Column::Id)),
        );
    let open = oauth_grant::Column::EndedAt
        .is_null()
        .and(oauth_grant::Column::Id.in_subquery(expired.into_query()))
        .and(Expr::exists(live.into_query()).not());
    batches::update::<oauth_grant::Entity>(cx, oauth_grant::Column::Id, open, || {
        oauth_grant::Entity::update_many().col_expr(oauth_grant::Column::EndedAt, Expr::value(now))
    })
    .await?;
    Ok(())
}

/// Deletes grants that ended long ago, and the clients whose last ones they were.
async fn delete_grants(cx: &Domain, now: Millis) -> Result<u64> {
    let end = oauth_grant::Column::EndedAt;
    let old = end.lte(now - ENDED_GRANT).into_condition();
    batches::repeat(|| async {
        let rows = batches::first::<oauth_grant::Entity>(end, &old).all(&cx.db.write).await?;
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let clients = rows.iter().map(|row| row.client_id.clone());
        let clients = oauth_client::Column::ClientId.is_in(clients);
        let tx = cx.db.begin().await?;
        let gone = oauth_grant::Entity::delete_many()
            .filter(oauth_grant::Column::Id.is_in(ids))
            .exec(&tx)
            .await?;
        oauth_client::Entity::delete_many()
            .filter(clients)
            .filter(registered(0, now - UNUSED_CLIENT).or(described(0, now - DAY)))
            .filter(without_grant())
            .exec(&tx)
            .await?;
        tx.commit().await?;
        Ok(gone.rows_affected)
    })
    .await
}

/// Deletes clients that got no grant in the time for which they are kept. Those that had one go with it.
async fn delete_unused_clients(cx: &Domain, now: Millis) -> Result<u64> {
    let at = oauth_client::Column::CreatedAt;
    let old = registered(now - UNUSED_CLIENT - LOOK_BACK, now - UNUSED_CLIENT);
    let unused = old.and(without_grant());
    let gone = batches::delete::<oauth_client::Entity>(cx, at, unused).await?;
    let at = oauth_client::Column::FreshUntil;
    let unused = described(now - DAY - LOOK_BACK, now - DAY).and(without_grant());
    Ok(gone + batches::delete::<oauth_client::Entity>(cx, at, unused).await?)
}

/// Deletes the oldest of the clients without a grant that strangers made, if there are too many.
async fn delete_excess_clients(cx: &Domain, now: Millis) -> Result<u64> {
    let at = oauth_client::Column::CreatedAt;
    let kinds = [ClientKind::Registered, ClientKind::Document];
    let unused = oauth_client::Column::Kind.is_in(kinds).and(without_grant());
    let first_too_many: Option<Millis> = oauth_client::Entity::find()
        .select_only()
        .column(at)
        .filter(unused.clone().and(at.gte(now - UNUSED_CLIENT)))
        .order_by_desc(at)
        .offset(MAX_UNUSED_CLIENTS)
        .limit(1)
        .into_tuple()
        .one(&cx.db.write)
        .await?;
    match first_too_many {
        Some(oldest) => {
            let old = unused.and(at.between(oldest - LOOK_BACK, oldest));
            batches::delete::<oauth_client::Entity>(cx, at, old).await
        }
        None => Ok(0),
    }
}

/// Returns the condition for clients that registered themselves then.
fn registered(from: Millis, to: Millis) -> Expr {
    let kind = oauth_client::Column::Kind.eq(ClientKind::Registered);
    kind.and(oauth_client::Column::CreatedAt.between(from, to))
}

/// Returns the condition for clients whose document was fresh until then.
fn described(from: Millis, to: Millis) -> Expr {
    let kind = oauth_client::Column::Kind.eq(ClientKind::Document);
    kind.and(oauth_client::Column::FreshUntil.between(from, to))
}

fn without_grant() -> Expr {
    let grants = oauth_grant::Entity::find().select_only().expr(Expr::val(1)).filter(
        Expr::col((oauth_grant::Entity, oauth_grant::Column::ClientId))
            .equals((oauth_client::Entity, oauth_client::Column::ClientId)),
    );
    Expr::exists(grants.into_query()).not()
}
