//! Leaving: the deletion of a workspace.

use fanfare_core::{Code, Reply, Result, WorkspaceId};
use fanfare_ops::workspace_deletion::{self as deletions, OneDeletion};

use crate::{Call, call};

/// Starts the deletion of a workspace.
pub async fn delete(mut call: Call) -> Result<Reply<OneDeletion>> {
    let confirmation = call.query()?;
    deletions::start(&call.act, workspace(&call)?, &confirmation).await
}

/// Shows the deletion of a workspace.
pub async fn get_deletion(call: Call) -> Result<Reply<OneDeletion>> {
    deletions::show(&call.act, workspace(&call)?).await
}

/// Stops the deletion of a workspace.
pub async fn stop_deletion(call: Call) -> Result<Reply<OneDeletion>> {
    deletions::stop(&call.act, workspace(&call)?).await
}

/// Returns the workspace in the path.
fn workspace(call: &Call) -> Result<WorkspaceId> {
    call::parse(call.path("id"), Code::WorkspaceNotFound).map(WorkspaceId)
}
