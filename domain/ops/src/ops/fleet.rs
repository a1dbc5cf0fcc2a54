//! The worker processes, as their heartbeats report them.

use fanfare_core::{
    Domain, Tx, batches,
    durable::LEASE,
    error::{Code, Error, Result},
    processes,
};
use fanfare_entities::{Millis, worker};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryOrder, sea_query::OnConflict};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Preview;

/// The time without a heartbeat after which a worker's row is deleted, in ms.
const FORGET_AFTER: Millis = 24 * 3_600_000;

/// The heartbeat of a worker.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// Unique in the fleet.
    pub name: String,
    /// Machine.
    pub host: String,
    /// Process id.
    pub pid: i64,
    /// Version of the service.
    pub version: &'static str,
    /// Queues, separated by commas.
    pub queues: String,
    /// Posts that are with their networks at once.
    pub slots: i32,
    /// The oldest running jobs.
    pub running: Vec<RunningJob>,
    /// The number of running jobs.
    pub running_count: i32,
    /// The time at which it started.
    pub started_at: Millis,
}

/// A row that a worker is working on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunningJob {
    /// Kind of work.
    pub kind: String,
    /// The row.
    pub id: i64,
    /// The time at which the work began.
    pub since: Millis,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It takes work.
    Working,
    /// It takes no more work, and finishes its current work.
    Draining,
    /// It takes no work and has none.
    Drained,
    /// It has sent no heartbeat lately; its work is taken over when its leases expire.
    Dead,
}

impl WorkerState {
    /// Returns its name for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Draining => "draining",
            Self::Drained => "drained",
            Self::Dead => "dead",
        }
    }
}

/// A worker as pages show it.
#[derive(Debug, Clone, Serialize)]
pub struct Worker {
    /// Unique in the fleet.
    pub name: String,
    /// Machine.
    pub host: String,
    /// Process id.
    pub pid: i64,
    /// Version of the service.
    pub version: String,
    /// Queues, separated by commas.
    pub queues: String,
    /// Posts that are with their networks at once.
    pub slots: i32,
    /// Its state.
    pub state: WorkerState,
    /// The number of running jobs.
    pub running_count: i32,
    /// The oldest running jobs; none of a dead worker once its leases have ended.
    pub running: Vec<RunningJob>,
    /// The time at which it started.
    pub started_at: Millis,
    /// The time of its last heartbeat.
    pub seen_at: Millis,
}

/// Writes a heartbeat; returns true if the worker must take no more work.
///
/// # Errors
/// The database's.
pub async fn write_heartbeat(cx: &Domain, beat: &Heartbeat) -> Result<bool> {
    use worker::Column;
    let row = worker::ActiveModel {
        name: Set(beat.name.clone()),
        host: Set(beat.host.clone()),
        pid: Set(beat.pid),
        version: Set(beat.version.to_owned()),
        queues: Set(beat.queues.clone()),
        slots: Set(beat.slots),
        running: Set(json!(beat.running)),
        running_count: Set(beat.running_count),
        started_at: Set(beat.started_at),
        seen_at: Set(cx.clock.now()),
        drain_at: Set(None),
    };
    // A worker does not change the columns that operators set.
    let again = OnConflict::column(Column::Name)
        .update_columns([Column::Running, Column::RunningCount, Column::SeenAt])
        .to_owned();
    let row =
        worker::Entity::insert(row).on_conflict(again).exec_with_returning(&cx.db.write).await?;
    Ok(row.drain_at.is_some())
}

/// Deletes the row of a worker that has ended.
///
/// # Errors
/// The database's.
pub async fn remove(cx: &Domain, name: &str) -> Result<()> {
    worker::Entity::delete_by_id(name).exec(&cx.db.write).await?;
    Ok(())
}

/// Deletes the rows of workers that died long ago.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let seen = worker::Column::SeenAt;
    batches::delete::<worker::Entity>(cx, seen, seen.lt(cx.clock.now() - FORGET_AFTER)).await
}

/// Returns all workers; dead ones come last.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<Worker>> {
    let now = cx.clock.now();
    let rows = worker::Entity::find()
        .order_by_asc(worker::Column::Host)
        .order_by_asc(worker::Column::StartedAt)
        .all(&cx.db.read)
        .await?;
    let mut fleet: Vec<_> = rows.into_iter().map(|row| view(row, now)).collect();
    fleet.sort_by_key(|worker| worker.state == WorkerState::Dead);
    Ok(fleet)
}

fn view(row: worker::Model, now: Millis) -> Worker {
    let state = if now - row.seen_at > processes::DEAD_AFTER {
        WorkerState::Dead
    } else if row.drain_at.is_none() {
        WorkerState::Working
    } else if row.running_count > 0 {
        WorkerState::Draining
    } else {
        WorkerState::Drained
    };
    // What a dead worker held has been taken over by the time at which its last lease ended.
    let is_gone = now - row.seen_at > LEASE;
    let running =
        if is_gone { Vec::new() } else { serde_json::from_value(row.running).unwrap_or_default() };
    Worker {
        state,
        running,
        name: row.name,
        host: row.host,
        pid: row.pid,
        version: row.version,
        queues: row.queues,
        slots: row.slots,
        running_count: if is_gone { 0 } else { row.running_count },
        started_at: row.started_at,
        seen_at: row.seen_at,
    }
}

/// Returns the worker of this name, or an error if there is none.
pub(super) async fn find(cx: &Domain, name: &str) -> Result<Worker> {
    let found = worker::Entity::find_by_id(name).one(&cx.db.read).await?;
    found.map(|row| view(row, cx.clock.now())).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    let message = format!("There is no worker called {name:?}.");
    Error::field(Code::NotFound, "worker", message, "Use a name from the fleet page.")
}

/// Returns the preview of draining a worker.
pub(super) async fn preview_drain(cx: &Domain, name: &str) -> Result<Preview> {
    let (this, fleet) = (find(cx, name).await?, list(cx).await?);
    let shares = |queue: &str| {
        let mut others =
            fleet.iter().filter(|one| one.name != name && one.state == WorkerState::Working);
        others.any(|one| one.queues.split(',').any(|other| other == queue))
    };
    let alone: Vec<_> = this.queues.split(',').filter(|queue| !shares(queue)).collect();
    let then = match (this.state, alone.is_empty()) {
        (WorkerState::Dead, _) => {
            "It has not reported lately: it takes no work now, and would take none if it came back."
                .to_owned()
        }
        (_, true) => "The other workers take its share.".to_owned(),
        (_, false) => format!(
            "No other worker serves {}: its work waits until one does. Nothing is lost.",
            alone.join(", ")
        ),
    };
    let first = "It takes no more work, finishes its current work, and idles until it is resumed or stopped.";
    Ok(Preview {
        question: format!("Drain the worker {name}?"),
        consequences: vec![first.to_owned(), then],
        rows: Vec::new(),
    })
}

/// Makes a worker take no more work, or take work again; returns the outcome as a sentence.
pub(super) async fn set_drained(tx: &Tx, name: &str, drained: bool) -> Result<String> {
    let found = worker::Entity::find_by_id(name).one(tx.conn()).await?;
    let found = found.ok_or_else(|| missing(name))?;
    if found.drain_at.is_some() == drained {
        let state = if drained { "draining already" } else { "not draining" };
        return Ok(format!("{name} was {state}."));
    }
    let row = worker::ActiveModel {
        name: Set(found.name.clone()),
        drain_at: Set(drained.then(|| tx.now())),
        ..Default::default()
    };
    worker::Entity::update(row).exec(tx.conn()).await?;
    let is_dead = view(found, tx.now()).state == WorkerState::Dead;
    Ok(match (is_dead, drained) {
        (true, true) => format!(
            "{name} has not reported lately: other workers take its work over, and it takes none if it comes back."
        ),
        (true, false) => {
            format!("{name} has not reported lately; it takes work again if it comes back.")
        }
        (false, true) => format!("{name} takes no more work and finishes its current work."),
        (false, false) => format!("{name} takes work again."),
    })
}
