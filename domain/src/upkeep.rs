//! What is swept away after its time: one recurring row of work.

use std::time::Duration;

use fanfare_entities::{Millis, chore, event, idempotency_key, secret, webhook_delivery};
use fanfare_jobs::Kind;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, sea_query::OnConflict};
use uuid::Uuid;

use crate::{
    Domain,
    error::Result,
    idempotency::KEPT,
    media, ops,
    work::{self, Hold},
};

/// How often it is done.
pub const EVERY: Duration = Duration::from_secs(15 * 60);

/// Name of the one chore.
const NAME: &str = "clean_up";

const DAY: Millis = 24 * 3_600_000;

/// Makes the chore's row if there is none; it is due at once.
///
/// # Errors
/// The database's.
pub async fn ensure(cx: &Domain) -> Result<()> {
    let row = chore::ActiveModel {
        name: Set(NAME.to_owned()),
        due_at: Set(Some(cx.clock.now())),
        rung_at: Set(None),
        fence: Set(0),
        attempts: Set(0),
        laps: Set(0),
        ..Default::default()
    };
    let known = OnConflict::column(chore::Column::Name).do_nothing().to_owned();
    chore::Entity::insert(row).on_conflict(known).exec_without_returning(&cx.db.write).await?;
    Ok(())
}

/// Takes the chore, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, id: i64) -> Result<Option<chore::Model>> {
    let taken = work::claim(&cx.db.write, Kind::CleanUp, &[id], cx.clock.now(), "").await?;
    Ok(taken.into_iter().next())
}

/// Deletes what is past its time: idempotency keys after a day, events and ended deliveries after thirty, failed copies
/// after one, and what only operators look at after a day.
///
/// # Errors
/// The database's.
pub async fn clean_up(cx: &Domain) -> Result<u64> {
    let (now, db) = (cx.clock.now(), &cx.db.write);
    let mut gone = 0;
    let old_keys = idempotency_key::Column::CreatedAt.lt(now - KEPT);
    let sealed: Vec<_> = idempotency_key::Entity::find()
        .filter(old_keys.clone())
        .filter(idempotency_key::Column::SecretId.is_not_null())
        .all(db)
        .await?;
    let sealed = sealed.into_iter().filter_map(|row| row.secret_id);
    gone += secret::Entity::delete_many()
        .filter(secret::Column::Id.is_in(sealed))
        .exec(db)
        .await?
        .rows_affected;
    gone += idempotency_key::Entity::delete_many().filter(old_keys).exec(db).await?.rows_affected;
    gone += webhook_delivery::Entity::delete_many()
        .filter(webhook_delivery::Column::DueAt.is_null())
        .filter(webhook_delivery::Column::UpdatedAt.lt(now - 30 * DAY))
        .exec(db)
        .await?
        .rows_affected;
    gone += event::Entity::delete_many()
        .filter(event::Column::Id.lt(first_id_at(now - 30 * DAY)))
        .exec(db)
        .await?
        .rows_affected;
    gone += media::forget_failed(cx, now - DAY).await?;
    gone += ops::samples::prune(cx).await?;
    gone += ops::fleet::prune(cx).await?;
    gone += ops::sessions::prune(cx).await?;
    Ok(gone)
}

/// The smallest id that was made then: ids begin with their time.
fn first_id_at(time: Millis) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(time.max(0).unsigned_abs(), &[0; 10]).into_uuid()
}

/// Gives the chore back until its next time.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, hold: Hold) -> Result<()> {
    let every = Millis::try_from(EVERY.as_millis()).unwrap_or(DAY);
    work::release(cx, Kind::CleanUp, &[hold], cx.clock.now() + every).await
}
