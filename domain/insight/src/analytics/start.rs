//! Starts and stops the reading of numbers when accounts are connected and disconnected and posts are published.

use fanfare_core::{Domain, batches, db::statement, error::Result};
use fanfare_entities::{
    AccountId, Millis, account, account_day, analytics_sync, performance_profile, post_numbers,
    post_reading, suggestion_round,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter, QuerySelect, QueryTrait,
    sea_query::{Expr, IntoCondition, OnConflict},
};
use serde_json::json;

use super::{
    analytics_of, pace,
    pace::{DAY, HOUR},
    reader_of, sync, zone,
};

/// The time for which numbers are kept.
const RETENTION: Millis = 800 * DAY;

/// The time for which numbers are kept after a disconnect.
const RETENTION_DISCONNECTED: Millis = 30 * DAY;

/// The platform whose numbers are kept after a disconnect.
const ARCHIVED_PLATFORM: &str = "instagram";

/// Returns true if the numbers of this account are kept after a disconnect.
pub(crate) fn is_archived(row: &account::Model) -> bool {
    row.platform == ARCHIVED_PLATFORM
}

/// Starts or resumes the reading of an account's numbers, in the transaction that connects it.
pub(crate) async fn on_connect<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &account::Model,
) -> Result<()> {
    if reader_of(cx, row).is_none() {
        return Ok(());
    }
    start_reading(conn, row, cx.clock.now()).await?;
    if analytics_of(cx, row).is_some() {
        start_suggesting(conn, row, cx.clock.now()).await
    } else {
        Ok(())
    }
}

async fn start_reading<C: ConnectionTrait>(
    conn: &C,
    row: &account::Model,
    now: Millis,
) -> Result<()> {
    let sync = analytics_sync::ActiveModel {
        id: Set(row.id),
        workspace_id: Set(row.workspace_id),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        daily_at: Set(now),
        listed: Set(false),
        refused: Set(json!({})),
        missing_permissions: Set(json!([])),
        period_reach: Set(json!({})),
        changed_posts: Set(0),
        archived: Set(false),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    use analytics_sync::Column;
    let again = OnConflict::column(Column::Id)
        .update_columns([
            Column::DueAt,
            Column::Attempts,
            Column::LeaseExpirations,
            Column::DailyAt,
            Column::MissingPermissions,
            Column::Refused,
            Column::Archived,
            Column::PurgeAt,
            Column::UpdatedAt,
        ])
        .value(
            Column::FencingToken,
            Expr::col((analytics_sync::Entity, Column::FencingToken)).add(1),
        )
        .to_owned();
    analytics_sync::Entity::insert(sync).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

async fn start_suggesting<C: ConnectionTrait>(
    conn: &C,
    row: &account::Model,
    now: Millis,
) -> Result<()> {
    let round = suggestion_round::ActiveModel {
        id: Set(row.id),
        workspace_id: Set(row.workspace_id),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
    };
    use suggestion_round::Column as Round;
    let again = OnConflict::column(Round::Id)
        .update_columns([Round::DueAt, Round::Attempts, Round::LeaseExpirations])
        .value(
            Round::FencingToken,
            Expr::col((suggestion_round::Entity, Round::FencingToken)).add(1),
        )
        .to_owned();
    suggestion_round::Entity::insert(round).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Stops the reading in the transaction that disconnects an account: its numbers are kept, or deleted a month later.
pub(crate) async fn on_disconnect<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &account::Model,
) -> Result<()> {
    let now = cx.clock.now();
    let is_kept = is_archived(row);
    let purge_at = (!is_kept).then(|| now + pace(cx, row).shortened(RETENTION_DISCONNECTED));
    use analytics_sync::Column;
    analytics_sync::Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(purge_at))
        .col_expr(Column::PurgeAt, Expr::value(purge_at))
        .col_expr(Column::Archived, Expr::value(is_kept))
        .col_expr(Column::WakeAt, Expr::value(None::<Millis>))
        .col_expr(Column::NextDay, Expr::value(None::<String>))
        .col_expr(Column::LeaseExpirations, Expr::value(0))
        .col_expr(Column::FencingToken, Expr::col(Column::FencingToken).add(1))
        .filter(Column::Id.eq(row.id))
        .exec(conn)
        .await?;
    suggestion_round::Entity::delete_by_id(row.id).exec(conn).await?;
    if reader_of(cx, row).is_none() {
        // No work of its own deletes them later.
        purge(conn, row.id).await?;
    }
    Ok(())
}

/// Adds the posts that these accounts have just published to those with numbers, and wakes the accounts' rows in time for
/// the first reading.
///
/// # Errors
/// The database's. Then the next reading finds the posts.
pub async fn on_posts_published(cx: &Domain, accounts: &[AccountId]) -> Result<()> {
    let now = cx.clock.now();
    let conn = &cx.db.write;
    let rows = account::Entity::find()
        .filter(account::Column::Id.is_in(accounts.iter().copied()))
        .all(conn)
        .await?;
    for row in &rows {
        sync::posts::add_published(cx, row).await?;
        if reader_of(cx, row).is_none() {
            continue;
        }
        let at = now + pace(cx, row).shortened(HOUR);
        // A row that a worker holds is due at the end of its lease; the worker checks `wake_at` before that.
        let sql = "UPDATE analytics_syncs SET \
             wake_at = CASE WHEN wake_at IS NULL OR wake_at > $2 THEN $2 ELSE wake_at END, \
             due_at = CASE WHEN lease_expirations = 0 AND due_at > $2 THEN $2 ELSE due_at END WHERE id = $1";
        let woken = conn.execute_raw(statement(conn, sql, [row.id.into(), at.into()])).await?;
        if woken.rows_affected() == 0 {
            // It was connected before its network's posts were looked at.
            start_reading(conn, row, now).await?;
        }
    }
    Ok(())
}

/// Deletes all numbers of an account.
pub(super) async fn purge<C: ConnectionTrait>(conn: &C, id: AccountId) -> Result<()> {
    let of_account = post_numbers::Column::AccountId.eq(id);
    let posts = post_numbers::Entity::find()
        .filter(of_account.clone())
        .select_only()
        .column(post_numbers::Column::Id)
        .into_query();
    let readings = post_reading::Column::PostNumbersId.in_subquery(posts);
    post_reading::Entity::delete_many().filter(readings).exec(conn).await?;
    post_numbers::Entity::delete_many().filter(of_account).exec(conn).await?;
    account_day::Entity::delete_many()
        .filter(account_day::Column::AccountId.eq(id))
        .exec(conn)
        .await?;
    performance_profile::Entity::delete_by_id(id).exec(conn).await?;
    analytics_sync::Entity::delete_by_id(id).exec(conn).await?;
    Ok(())
}

/// Deletes expired numbers.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let now = cx.clock.now();
    let oldest = zone::date_at(chrono_tz::Tz::UTC, now - RETENTION).to_string();
    let day = account_day::Column::Day;
    let days = batches::delete::<account_day::Entity>(cx, day, day.lt(oldest)).await?;
    let at = post_numbers::Column::PublishedAt;
    let old = at.lt(now - RETENTION).into_condition();
    let posts = batches::repeat(|| async {
        let ids = batches::first::<post_numbers::Entity>(at, &old)
            .select_only()
            .column(post_numbers::Column::Id)
            .into_tuple::<i64>()
            .all(&cx.db.write)
            .await?;
        let tx = cx.db.begin().await?;
        let readings = post_reading::Column::PostNumbersId.is_in(ids.iter().copied());
        post_reading::Entity::delete_many().filter(readings).exec(&tx).await?;
        let posts = post_numbers::Column::Id.is_in(ids);
        let gone = post_numbers::Entity::delete_many().filter(posts).exec(&tx).await?;
        tx.commit().await?;
        Ok(gone.rows_affected)
    })
    .await?;
    Ok(days + posts + super::suggestions::prune(cx).await?)
}
