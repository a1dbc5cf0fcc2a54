//! Discovery: the caller, and the platforms.

use fanfare_domain::{Reply, Result, keys, platforms};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::Call;

/// The filter of the platform list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformsQuery {
    /// Also list the platforms that are announced but cannot be used yet.
    #[serde(default)]
    pub include_planned: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    #[expect(dead_code, reason = "the place of a request is looked at before its whole query")]
    pub workspace_id: Option<Uuid>,
}

/// The query of operations that accept nothing but a workspace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceQuery {
    /// The workspace, for a key without one.
    #[serde(default)]
    #[expect(dead_code, reason = "the place of a request is looked at before its whole query")]
    pub workspace_id: Option<Uuid>,
}

/// Shows the caller, the key and the workspaces it reaches.
pub async fn whoami(call: Call) -> Result<Reply<keys::Whoami>> {
    keys::whoami(&call.act.cx, &call.act.caller).await
}

/// Lists what each platform accepts.
pub async fn list_platforms(mut call: Call) -> Result<Reply<platforms::Platforms>> {
    let query: PlatformsQuery = call.query()?;
    Ok(platforms::list(query.include_planned == Some(true)))
}
