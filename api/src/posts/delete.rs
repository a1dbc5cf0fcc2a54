//! Deleting posts.

use fanfare_core::{Code, Deleted, Error, Reply, Result};
use fanfare_publishing::posts;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::Call;

/// The group to delete, and the confirmation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupQuery {
    /// Must be true.
    #[serde(default)]
    pub confirm: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    #[expect(dead_code, reason = "the place of a request is looked at before its whole query")]
    pub workspace_id: Option<Uuid>,
}

/// Deletes a draft or scheduled post.
pub async fn delete(call: Call) -> Result<Reply<Deleted>> {
    posts::delete(&call.act, call.post()?).await
}

/// Deletes the posts of a group that can be deleted.
pub async fn delete_group(mut call: Call) -> Result<Reply<posts::GroupDeleted>> {
    let query: GroupQuery = call.query()?;
    if query.confirm != Some(true) {
        let entry = Code::ConfirmRequired.entry();
        return Err(Error::field(Code::ConfirmRequired, "confirm", entry.cause, entry.remedy));
    }
    posts::delete_group(&call.act, call.path("group")).await
}
