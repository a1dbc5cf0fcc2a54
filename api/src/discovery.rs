//! Discovery: the caller, and the platforms.

use fanfare_core::{Reply, Result, limits};
use fanfare_people::{keys, room};
use fanfare_publishing::platforms;
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
    /// Only these platforms, with commas between their names.
    #[serde(default)]
    #[schemars(length(max = 400))]
    pub platform: Option<String>,
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
    let limits = room::of(&call.act.cx, &call.act.membership).await?;
    keys::whoami(&call.act.cx, &call.act.caller, limits).await
}

/// Shows all limits that count for the caller, and what is left of them.
pub async fn list_rate_limits(call: Call) -> Result<Reply<limits::RateLimits>> {
    Ok(limits::show(&call.act.cx, &call.act.caller).await)
}

/// Lists what each platform accepts.
pub async fn list_platforms(mut call: Call) -> Result<Reply<platforms::Platforms>> {
    let query: PlatformsQuery = call.query()?;
    platforms::list(query.platform.as_deref(), query.include_planned == Some(true))
}
