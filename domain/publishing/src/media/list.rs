//! The list of files.

use fanfare_core::{
    Act, Reply,
    error::{Error, Result, out_of_range},
    input,
    json_size::json_size,
    page::{self, Listed},
};
use fanfare_entities::{AssetId, media_asset, media_asset::AssetStatus};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::asset::Media;

/// The filters of a list of files.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaQuery {
    /// Only those that came through this drop session.
    #[serde(default)]
    pub drop_session_id: Option<Uuid>,
    /// 1 to 50, 10 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// In place of a cursor: the number of files before the page, 0 to 10,000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub offset: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Returns the files of the membership's workspace, newest first. A membership that is locked to brands sees the files
/// that its own user brought, since files have no brand.
///
/// # Errors
/// An invalid limit or cursor.
pub async fn list(act: &Act, query: MediaQuery) -> Result<Reply<Listed<MediaPage>>> {
    let limit = limit(query.limit)?;
    input::require_one_start(query.offset, query.cursor.as_deref())?;
    let offset = input::offset(query.offset)?;
    let before: Option<i64> = input::cursor(query.cursor.as_deref())?;
    let mut all = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .order_by_desc(media_asset::Column::Id);
    if act.membership.brands.is_some() {
        all = all.filter(media_asset::Column::CreatedBy.eq(act.caller.user_id));
    }
    let mut files = all.clone();
    if let Some(session) = query.drop_session_id {
        files = files.filter(media_asset::Column::DropSessionId.eq(session));
    }
    let is_later = offset > 0 || before.is_some();
    let from = |last: Option<&media_asset::Model>| {
        let before = last.map(|row| row.id).or(before.map(AssetId));
        let before = before.map(|before| media_asset::Column::Id.lt(before));
        // The offset is applied to the first read only; further reads continue after the rows read so far.
        before.map_or_else(
            || files.clone().offset((offset > 0).then_some(offset)),
            |before| files.clone().filter(before),
        )
    };
    let size = |row: &media_asset::Model| json_size(&Media::of(&act.cx, row));
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let why = page::why_empty(&act.cx.db.read, (page.rows.is_empty(), is_later), all).await?;
    let media = page.rows.iter().map(|row| Media::of(&act.cx, row)).collect();
    Reply::large(page.bytes, move || Listed::new(MediaPage { media, next_cursor }, why)).await
}

/// A page of files.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct MediaPage {
    pub media: Vec<Media>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

fn limit(asked: Option<i64>) -> Result<u64> {
    match asked {
        None => Ok(10),
        Some(limit @ 1..=50) => Ok(limit.unsigned_abs()),
        Some(other) => Err(Error::violation(out_of_range("limit", other, &(1..=50)))),
    }
}
