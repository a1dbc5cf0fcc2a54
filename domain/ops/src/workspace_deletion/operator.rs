//! The deletion of a workspace by the operator, who may skip the grace.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain, Tx,
    error::{Code, Error, Result, refusal::DeletionBlocker},
};
use fanfare_entities::{
    WorkspaceId, workspace, workspace_deletion, workspace_deletion::DeletionState,
};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, QuerySelect};
use serde::Serialize;

use super::{
    GRACE, absent, begin_grace, blockers, files, open_of, require_unblocked, rows, set_end,
    view::Deletion,
};

/// What a deletion would remove.
#[derive(Debug, Serialize)]
pub struct Preview {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// What keeps it.
    pub blockers: Vec<DeletionBlocker>,
    /// The number of rows, by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// The number of files.
    pub files: u64,
}

/// A deletion that was started.
#[derive(Debug, Serialize)]
pub struct Announcement {
    /// The deletion.
    pub deletion: Deletion,
}

/// Finds a workspace by its id or its name.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], or [`Code::InvalidField`] if several have the name.
pub async fn find(cx: &Domain, text: &str) -> Result<workspace::Model> {
    let mut found = rows::find(cx, text).await?;
    if found.len() > 1 {
        let message = "Several workspaces have this name.";
        return Err(Error::field(Code::InvalidField, "workspace", message, "Name it by its id."));
    }
    found.pop().ok_or_else(absent)
}

/// Says what the deletion of a workspace would remove, and removes nothing.
///
/// # Errors
/// The database's or the store's.
pub async fn preview(cx: &Domain, own: &workspace::Model) -> Result<Preview> {
    Ok(Preview {
        workspace_id: own.id,
        name: own.name.clone(),
        blockers: blockers(&cx.db.read, own).await?,
        rows: rows::count(cx, own.id).await?.into_iter().collect(),
        files: files::count(cx, own.id).await?,
    })
}

/// Starts the deletion of a workspace, or brings the one forward that waits. With `now` it begins at once.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], [`Code::WorkspaceDeletionBlocked`].
pub async fn delete(cx: &Domain, id: WorkspaceId, now: bool) -> Result<Announcement> {
    let mut tx = Tx::begin(cx).await?;
    let own = workspace::Entity::find_by_id(id).lock_exclusive().one(tx.conn()).await?;
    let own = own.ok_or_else(absent)?;
    let row = match open_of(tx.conn(), id).await? {
        Some(open) if now => bring_forward(&mut tx, open).await?,
        Some(open) => open,
        None => {
            require_unblocked(tx.conn(), &own).await?;
            begin_grace(&mut tx, &own, None, if now { 0 } else { GRACE }).await?
        }
    };
    tx.commit().await?;
    Ok(Announcement { deletion: Deletion::of(&row)? })
}

async fn bring_forward(
    tx: &mut Tx,
    row: workspace_deletion::Model,
) -> Result<workspace_deletion::Model> {
    let now = tx.now();
    if row.state != DeletionState::Waiting || row.ends_at <= now {
        return Ok(row);
    }
    let sooner = workspace_deletion::ActiveModel {
        id: Set(row.id),
        ends_at: Set(now),
        due_at: Set(Some(now)),
        fencing_token: Set(row.fencing_token + 1),
        lease_expirations: Set(0),
        updated_at: Set(now),
        ..Default::default()
    };
    let sooner = sooner.update(tx.conn()).await?;
    set_end(tx.conn(), sooner.workspace_id, Some(now)).await?;
    tx.enqueue_global(JobKind::DeleteWorkspace, sooner.id.0, now);
    Ok(sooner)
}
