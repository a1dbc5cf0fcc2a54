//! The processes that answer requests, and which of them are alive.
//!
//! On SQLite there is one process, so nothing is written there.

use std::{sync::Arc, time::Duration};

use fanfare_entities::{Millis, api_process};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, sea_query::OnConflict};
use uuid::Uuid;

use crate::{Domain, batches, error::Result};

/// The time of silence after which a process counts as dead, in ms.
pub const DEAD_AFTER: Millis = 15_000;

/// The time of silence after which a process may be dead, in ms: it has missed a heartbeat.
pub(crate) const SUSPICIOUS_AFTER: Millis = 5_000;

/// The interval at which a process writes a heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);

/// Starts writing heartbeats of this process, until the last clone of `cx` is dropped.
pub fn start_heartbeat(cx: &Domain) {
    if !cx.db.is_postgres() {
        return;
    }
    let inner = Arc::downgrade(&cx.0);
    tokio::spawn(async move {
        while let Some(inner) = inner.upgrade() {
            if let Err(error) = write_heartbeat(&Domain(inner)).await {
                tracing::warn!(%error, "this process could not say that it is alive");
            }
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        }
    });
}

async fn write_heartbeat(cx: &Domain) -> Result<()> {
    let row = api_process::ActiveModel { id: Set(cx.process), seen_at: Set(cx.clock.now()) };
    let again = OnConflict::column(api_process::Column::Id)
        .update_column(api_process::Column::SeenAt)
        .to_owned();
    api_process::Entity::insert(row)
        .on_conflict(again)
        .exec_without_returning(&cx.db.write)
        .await?;
    Ok(())
}

/// Returns when a process was last seen.
pub(crate) async fn last_seen(cx: &Domain, id: Uuid) -> Result<Option<Millis>> {
    let row = api_process::Entity::find_by_id(id).one(&cx.db.write).await?;
    Ok(row.map(|row| row.seen_at))
}

/// Deletes the rows of processes that died long ago.
pub async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    let seen = api_process::Column::SeenAt;
    batches::delete::<api_process::Entity>(cx, seen, seen.lt(before)).await
}
