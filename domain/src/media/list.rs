//! Which files there are.

use fanfare_entities::{AssetId, media_asset, media_asset::AssetStatus};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::asset;
use crate::{
    Act, Reply,
    error::{Code, Error, Result},
    input,
};

/// Which files to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaQuery {
    /// Only those that came through this drop session.
    #[serde(default)]
    pub drop_session_id: Option<Uuid>,
    /// 1 to 50, 10 if left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The files of the membership's workspace, newest first. A membership that is locked to brands sees those that its own person
/// brought: files have no brand.
///
/// # Errors
/// A limit or cursor that is none.
pub async fn list(act: &Act, query: MediaQuery) -> Result<Reply> {
    let limit = limit(query.limit)?;
    let before: Option<i64> = input::cursor(query.cursor.as_deref())?;
    let mut find = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .order_by_desc(media_asset::Column::Id)
        .limit(limit + 1);
    if let Some(before) = before {
        find = find.filter(media_asset::Column::Id.lt(AssetId(before)));
    }
    if let Some(session) = query.drop_session_id {
        find = find.filter(media_asset::Column::DropSessionId.eq(session));
    }
    if act.membership.brands.is_some() {
        find = find.filter(media_asset::Column::CreatedBy.eq(act.caller.user_id));
    }
    let mut rows = find.all(&act.cx.db.read).await?;
    let more = rows.len() as u64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
    let media: Vec<_> = rows.iter().map(|row| asset::view(&act.cx, row)).collect();
    Ok(Reply::ok(json!({ "media": media, "next_cursor": next })))
}

fn limit(asked: Option<i64>) -> Result<u64> {
    match asked {
        None => Ok(10),
        Some(limit @ 1..=50) => Ok(limit.unsigned_abs()),
        Some(other) => Err(Error::field(
            Code::InvalidField,
            "limit",
            format!("limit is {other}; it may be 1 to 50."),
            "Send a number from 1 to 50.",
        )),
    }
}
