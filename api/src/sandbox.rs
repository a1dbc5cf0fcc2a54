//! Accounts on the simulated networks.

use fanfare_core::{AccountId, Listed, Reply, Result, input::number_or_text};
use fanfare_publishing::accounts;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::{Call, discovery::WorkspaceQuery};

/// The query that names an account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostsQuery {
    /// The account on the simulated network.
    #[serde(deserialize_with = "number_or_text")]
    pub account_id: i64,
    /// The workspace, for a key without one. The account must be in it.
    #[serde(default)]
    #[expect(dead_code, reason = "the place of a request is looked at before its whole query")]
    pub workspace_id: Option<Uuid>,
}

/// Creates an account on a simulated network and connects it.
pub async fn create_account(mut call: Call) -> Result<Reply<accounts::SandboxAccountMade>> {
    let new = call.body()?;
    accounts::create_sandbox(&call.act, new).await
}

/// Lists the posts of an account on a simulated network.
pub async fn list_posts(mut call: Call) -> Result<Reply<Listed<accounts::SandboxPosts>>> {
    let platform = call.platform()?;
    let query: PostsQuery = call.query()?;
    accounts::sandbox_posts(&call.act, platform, AccountId(query.account_id)).await
}

/// Sets the faults that a simulated network shows for an account.
pub async fn set_faults(mut call: Call) -> Result<Reply<accounts::SandboxFaults>> {
    let platform = call.platform()?;
    let faults = call.body()?;
    accounts::set_faults(&call.act, platform, faults).await
}

/// Lists the faults that the next calls of an account will meet.
pub async fn list_faults(mut call: Call) -> Result<Reply<Listed<accounts::SandboxFaults>>> {
    let platform = call.platform()?;
    let query: PostsQuery = call.query()?;
    accounts::list_faults(&call.act, platform, AccountId(query.account_id)).await
}

/// Removes the faults of an account.
pub async fn reset_faults(mut call: Call) -> Result<Reply<accounts::SandboxFaults>> {
    let platform = call.platform()?;
    let query: PostsQuery = call.query()?;
    accounts::reset_faults(&call.act, platform, AccountId(query.account_id)).await
}

/// Shows the clock of the simulated networks of a workspace.
pub async fn show_clock(mut call: Call) -> Result<Reply<accounts::SandboxClock>> {
    let _: WorkspaceQuery = call.query()?;
    accounts::show_clock(&call.act).await
}

/// Sets the clock of the simulated networks of a workspace.
pub async fn set_clock(mut call: Call) -> Result<Reply<accounts::SandboxClock>> {
    let new = call.body()?;
    accounts::set_clock(&call.act, new).await
}

/// Creates a message, comment or review for an account on a simulated network.
pub async fn create_item(mut call: Call) -> Result<Reply<accounts::SandboxItemCreated>> {
    let platform = call.platform()?;
    let new = call.body()?;
    accounts::create_item(&call.act, platform, new).await
}

/// Lists the messages, comments and reviews of an account on a simulated network.
pub async fn list_inbox(mut call: Call) -> Result<Reply<Listed<accounts::SandboxInbox>>> {
    let platform = call.platform()?;
    let query: PostsQuery = call.query()?;
    accounts::sandbox_inbox(&call.act, platform, AccountId(query.account_id)).await
}

/// Changes a message, comment or review on a simulated network.
pub async fn update_item(mut call: Call) -> Result<Reply<accounts::SandboxItem>> {
    let (platform, id) = (call.platform()?, call.path("id").to_owned());
    let changes = call.body()?;
    accounts::change_item(&call.act, platform, &id, changes).await
}

/// Deletes a message, comment or review on a simulated network.
pub async fn delete_item(mut call: Call) -> Result<Reply<accounts::SandboxItem>> {
    let (platform, id) = (call.platform()?, call.path("id").to_owned());
    let query: PostsQuery = call.query()?;
    accounts::delete_item(&call.act, platform, &id, AccountId(query.account_id)).await
}

/// Sets how a simulated network moderates answers to reviews, and how it processes videos.
pub async fn set_decisions(mut call: Call) -> Result<Reply<accounts::SandboxDecisions>> {
    let platform = call.platform()?;
    let new = call.body()?;
    accounts::set_decisions(&call.act, platform, new).await
}

/// Sets how a simulated network takes videos.
pub async fn set_video(mut call: Call) -> Result<Reply<accounts::SandboxVideoSet>> {
    let platform = call.platform()?;
    let new = call.body()?;
    accounts::set_video(&call.act, platform, new).await
}

/// Sets the metrics that a simulated network reports for an account.
pub async fn set_numbers(mut call: Call) -> Result<Reply<accounts::SandboxNumbers>> {
    let platform = call.platform()?;
    let numbers = call.body()?;
    accounts::set_numbers(&call.act, platform, numbers).await
}

/// Creates a post on a simulated network, as if it was made outside of this service.
pub async fn post_elsewhere(mut call: Call) -> Result<Reply<accounts::ExternalPost>> {
    let platform = call.platform()?;
    let new = call.body()?;
    accounts::create_external_post(&call.act, platform, new).await
}

/// Deletes a post on a simulated network, as if it was done outside of this service.
pub async fn delete_elsewhere(mut call: Call) -> Result<Reply<accounts::ExternalPostDeleted>> {
    let platform = call.platform()?;
    let query: PostsQuery = call.query()?;
    let id = AccountId(query.account_id);
    accounts::delete_external_post(&call.act, platform, (id, call.path("id"))).await
}
