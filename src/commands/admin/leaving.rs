//! `fanfare admin workspace delete`.

use anyhow::{Context as _, Result};
use fanfare_core::Domain;
use fanfare_ops::{
    ops::audit::{self, ShellAct},
    workspace_deletion as deletions,
};
use serde_json::json;

use super::WorkspaceCommand;
use crate::commands::{say, shell_actor};

/// Runs the command. Its entry in the audit log names the workspace by its id, since names go with workspaces.
pub(super) async fn run(cx: &Domain, command: WorkspaceCommand) -> Result<()> {
    let WorkspaceCommand::Delete { workspace, now, reason, dry_run } = command;
    let found = deletions::find(cx, &workspace).await?;
    let action = if dry_run { "look_up" } else { "workspace_deleted" };
    let act = ShellAct {
        action,
        target: format!("workspace:{}", found.id),
        details: json!({"now": now, "reason": reason}),
    };
    let work = async {
        let shown = if dry_run {
            serde_json::to_string_pretty(&deletions::preview(cx, &found).await?)
        } else {
            serde_json::to_string_pretty(&deletions::delete(cx, found.id, now).await?)
        };
        say(shown.context("the answer is no JSON")?);
        Ok::<_, anyhow::Error>(())
    };
    audit::record(cx, &shell_actor(), act, Box::pin(work)).await
}
