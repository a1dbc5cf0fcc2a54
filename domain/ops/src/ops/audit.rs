//! The audit log: who did what, when and why. Entries of orders are written in the transaction of the change, those of acts
//! at a shell before it; refused log-ins are counted. Entries of acts in workspaces are written by `audit_trail`.

use fanfare_core::{
    Domain, Tx,
    error::{Error, Result},
};
use fanfare_entities::{Millis, WorkspaceId, audit_entry};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, OnConflict},
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Actor, Order};

/// The number of entries on a page.
const PAGE: u64 = 50;

/// An entry of the audit log.
#[derive(Debug, Clone, Serialize)]
pub struct AuditEntry {
    /// The id; later entries have higher ids.
    pub id: i64,
    /// The time of the action.
    pub at: Millis,
    /// The operator; for an act in a workspace the kind and the id of its author, such as `key:…`.
    pub operator: String,
    /// The action.
    pub action: String,
    /// The target of the action.
    pub target: String,
    /// The workspace whose change it is, if it is one's.
    pub workspace_id: Option<WorkspaceId>,
    /// The reason that was given.
    pub reason: String,
    /// The result.
    pub outcome: String,
    /// The affected rows.
    pub details: Value,
    /// The request, for the logs.
    pub request_id: String,
}

/// A page of entries, and where the next one begins.
#[derive(Debug, Clone, Serialize)]
pub struct AuditPage {
    /// The entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// The value of `before` for the next page.
    pub next: Option<i64>,
}

/// Returns a page of the log, newest first; `before` is the id at which the previous page ended.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain, before: Option<i64>) -> Result<AuditPage> {
    let mut query =
        audit_entry::Entity::find().order_by_desc(audit_entry::Column::Id).limit(PAGE + 1);
    if let Some(before) = before {
        query = query.filter(audit_entry::Column::Id.lt(before));
    }
    let mut rows = query.all(&cx.db.read).await?;
    let more = rows.len() as u64 > PAGE;
    rows.truncate(usize::try_from(PAGE).unwrap_or(usize::MAX));
    let next = rows.last().filter(|_| more).map(|row| row.id);
    Ok(AuditPage { entries: rows.into_iter().map(AuditEntry::from).collect(), next })
}

impl From<audit_entry::Model> for AuditEntry {
    fn from(row: audit_entry::Model) -> Self {
        Self {
            id: row.id,
            at: row.created_at,
            operator: row.operator,
            action: row.action,
            target: row.target,
            workspace_id: row.workspace_id,
            reason: row.reason,
            outcome: row.outcome,
            details: row.details,
            request_id: row.request_id,
        }
    }
}

/// Returns the entry of an order, if it was carried out.
///
/// # Errors
/// The database's.
pub async fn find_by_order(cx: &Domain, action_id: Uuid) -> Result<Option<AuditEntry>> {
    let found = audit_entry::Entity::find()
        .filter(audit_entry::Column::ActionId.eq(action_id))
        .one(&cx.db.read)
        .await?;
    Ok(found.map(AuditEntry::from))
}

/// Inserts the entry of an order before it is carried out; returns false if it was carried out already. A concurrent
/// request with the same order waits here for the first one.
pub(super) async fn begin(tx: &Tx, actor: &Actor, order: &Order) -> Result<bool> {
    let row = audit_entry::ActiveModel {
        action_id: Set(order.id),
        operator: Set(actor.name.clone()),
        action: Set(order.action.verb().to_owned()),
        target: Set(order.action.target()),
        reason: Set(order.reason.clone()),
        outcome: Set(String::new()),
        details: Set(Value::Null),
        request_id: Set(actor.request_id.clone()),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    let once = OnConflict::column(audit_entry::Column::ActionId).do_nothing().to_owned();
    let written = audit_entry::Entity::insert(row)
        .on_conflict(once)
        .exec_without_returning(tx.conn())
        .await?;
    Ok(written == 1)
}

/// Writes the outcome of an order.
pub(super) async fn end(tx: &Tx, order: &Order, outcome: &str, details: &Value) -> Result<()> {
    let row = audit_entry::ActiveModel {
        outcome: Set(outcome.to_owned()),
        details: Set(details.clone()),
        ..Default::default()
    };
    audit_entry::Entity::update_many()
        .set(row)
        .filter(audit_entry::Column::ActionId.eq(order.id))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// An act of somebody at a shell, for its entry.
#[derive(Debug, Clone)]
pub struct ShellAct {
    /// The action, such as `plan`.
    pub action: &'static str,
    /// What it is done to.
    pub target: String,
    /// What it was asked to do.
    pub details: Value,
}

/// Carries out an act of somebody at a shell. Its entry is written before it begins, so that nothing is done without
/// one; the outcome is added when it has ended. An entry without an outcome is of an act that was interrupted.
///
/// # Errors
/// The database's, and then nothing was done; or those of the act.
pub async fn record<T, E>(
    cx: &Domain,
    actor: &Actor,
    act: ShellAct,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E>
where
    E: From<Error> + std::fmt::Display,
{
    let action_id = Uuid::now_v7();
    let row = audit_entry::ActiveModel {
        action_id: Set(action_id),
        operator: Set(actor.name.clone()),
        action: Set(act.action.to_owned()),
        target: Set(act.target),
        reason: Set(String::new()),
        outcome: Set(String::new()),
        details: Set(act.details),
        request_id: Set(actor.request_id.clone()),
        created_at: Set(cx.clock.now()),
        ..Default::default()
    };
    let written = audit_entry::Entity::insert(row).exec_without_returning(&cx.db.write).await;
    written.map_err(Error::from)?;
    let done = work.await;
    let outcome = match &done {
        Ok(_) => "Done.".to_owned(),
        Err(error) => format!("Refused: {error}"),
    };
    let ended = audit_entry::Entity::update_many()
        .col_expr(audit_entry::Column::Outcome, Expr::value(outcome))
        .filter(audit_entry::Column::ActionId.eq(action_id))
        .exec(&cx.db.write)
        .await;
    if let Err(error) = ended {
        // What was done is done: its entry then lacks the outcome alone.
        tracing::warn!(%error, "the outcome of an act is not in its audit entry");
    }
    done
}

/// Writes an entry for an event that is not an [`Order`]: a log-in, a new operator.
pub(super) async fn insert<C: ConnectionTrait>(
    conn: &C,
    actor: &Actor,
    (action, target, outcome): (&str, &str, &str),
    now: Millis,
) -> Result<()> {
    let row = audit_entry::ActiveModel {
        action_id: Set(Uuid::now_v7()),
        operator: Set(actor.name.clone()),
        action: Set(action.to_owned()),
        target: Set(target.to_owned()),
        reason: Set(String::new()),
        outcome: Set(outcome.to_owned()),
        details: Set(Value::Null),
        request_id: Set(actor.request_id.clone()),
        created_at: Set(now),
        ..Default::default()
    };
    audit_entry::Entity::insert(row).exec_without_returning(conn).await?;
    Ok(())
}
