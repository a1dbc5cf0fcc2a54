//! Events of networks on their way into the database: those that arrive together are written together.

use std::{collections::BTreeMap, sync::Arc};

use fanfare_entities::{
    AccountId, InboundId, WorkspaceId,
    inbound_event::{ActiveModel, Column, Entity},
};
use fanfare_jobs::JobKind;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, sea_query::OnConflict};

use crate::{
    Domain, Tx,
    batcher::{Batcher, MAX_DELAY},
    error::{Error, Result},
};

/// The most rows of one statement.
const ROWS: usize = 500;

/// An event that arrived, as its row, and the key that two deliveries of it share.
pub(super) struct Arrival {
    pub(super) workspace_id: WorkspaceId,
    pub(super) account_id: AccountId,
    pub(super) key: String,
    pub(super) row: ActiveModel,
}

/// What one request of a network brought.
struct Delivery {
    cx: Domain,
    arrivals: Vec<Arrival>,
}

/// The events on their way. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Arrivals(Batcher<(), Delivery, ()>);

impl Default for Arrivals {
    fn default() -> Self {
        let flush = |deliveries: Vec<Arc<Delivery>>| async move { flush(&deliveries).await };
        Self(Batcher::new("inbound", MAX_DELAY, flush))
    }
}

impl Arrivals {
    /// Writes down what one request brought. What is known already changes nothing.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn write(&self, cx: &Domain, arrivals: Vec<Arrival>) -> Result<()> {
        if arrivals.is_empty() {
            return Ok(());
        }
        self.0.call((), Delivery { cx: cx.clone(), arrivals }).await
    }
}

async fn flush(deliveries: &[Arc<Delivery>]) -> Result<Vec<()>> {
    let first = deliveries.first().ok_or_else(|| Error::internal("no events"))?;
    let mut tx = Tx::begin(&first.cx).await?;
    let mut arrivals: Vec<&Arrival> = deliveries.iter().flat_map(|one| &one.arrivals).collect();
    // Processes that write the same events at once wait for one another in this order, and never for each other.
    arrivals.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    for part in arrivals.chunks(ROWS) {
        let known = OnConflict::column(Column::DedupKey).do_nothing().to_owned();
        Entity::insert_many(part.iter().map(|arrival| arrival.row.clone()))
            .on_conflict(known)
            .exec_without_returning(tx.conn())
            .await?;
    }
    let accounts: BTreeMap<AccountId, WorkspaceId> =
        arrivals.iter().map(|arrival| (arrival.account_id, arrival.workspace_id)).collect();
    enqueue(&mut tx, &accounts).await?;
    tx.commit().await?;
    Ok(vec![(); deliveries.len()])
}

/// Enqueues one job of each account, which applies all of its events that are due.
async fn enqueue(tx: &mut Tx, accounts: &BTreeMap<AccountId, WorkspaceId>) -> Result<()> {
    let now = tx.now();
    let due: Vec<(InboundId, AccountId)> = Entity::find()
        .select_only()
        .column_as(Column::Id.min(), "first")
        .column(Column::AccountId)
        .filter(Column::AccountId.is_in(accounts.keys().copied()))
        .filter(Column::DueAt.lte(now))
        .group_by(Column::AccountId)
        .into_tuple()
        .all(tx.conn())
        .await?;
    for (id, account) in due {
        if let Some(workspace) = accounts.get(&account) {
            tx.enqueue(JobKind::ApplyInbound, *workspace, id.0, now);
        }
    }
    Ok(())
}
