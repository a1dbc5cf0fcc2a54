//! Photos and videos of business profiles.

mod change;
mod check;
mod limits;
mod view;

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    input,
    page::{self, Listed},
};
use fanfare_entities::{
    AccountId,
    business_media::{self, BusinessMediaStatus, Column},
};
use schemars::JsonSchema;
use sea_orm::{ActiveEnum, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Deserialize;
use uuid::Uuid;

use self::check::parse_category;
use super::{selected_accounts, why_empty};
use crate::inbox::{ListPosition, older_than};

pub(crate) use self::limits::{FileFacts, LEAST_PHOTO};
pub use self::{
    change::{MediaDeleted, MediaRef, NewMedia, add, delete},
    view::{MediaPage, Medium, OneMedia},
};

/// The filter of a list of media.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only of the location of this number.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub location_id: Option<String>,
    /// Only of this category, or of these, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub category: Option<String>,
    /// Only in this status, or in these, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub status: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

fn parse_status(name: &str) -> Result<BusinessMediaStatus> {
    BusinessMediaStatus::try_from_value(&name.to_owned()).map_err(|_| {
        let message = format!("There is no status called {name:?}.");
        let remedy = "Use queued, sending, in_review, live, rejected, failed or unknown.";
        Error::field(Code::InvalidField, "status", message, remedy)
    })
}

/// Lists media, including those added outside this service, newest first.
///
/// # Errors
/// An invalid filter.
pub async fn list(act: &Act, filter: MediaFilter) -> Result<Reply<Listed<MediaPage>>> {
    let limit = input::limit(filter.limit)?;
    let accounts = selected_accounts(act, filter.account_id, filter.location_id.as_deref()).await?;
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let all = business_media::Entity::find().filter(Column::AccountId.is_in(ids));
    let mut query = all.clone().order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
    if let Some(categories) = input::several(filter.category.as_deref(), parse_category)? {
        query = query.filter(input::one_of(Column::Category, categories));
    }
    if let Some(statuses) = input::several(filter.status.as_deref(), parse_status)? {
        query = query.filter(input::one_of(Column::Status, statuses));
    }
    let cursor: Option<ListPosition> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&business_media::Model>| match last
        .map(|row| ListPosition(row.created_at, row.id.0))
        .or(cursor)
    {
        Some(place) => query.clone().filter(older_than(Column::CreatedAt, Column::Id, place)),
        None => query.clone(),
    };
    let page = page::read(&act.cx.db.read, limit, from, |_| 2_000).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.created_at, row.id));
    for account in &accounts {
        super::sync::request_sync_if_stale(act, account).await?;
    }
    let why = if page.rows.is_empty() {
        let any = page::count_up_to(&act.cx.db.read, all, 1).await? > 0;
        Some(why_empty(act, &accounts, (any, cursor.is_some())).await?)
    } else {
        None
    };
    let media = page.rows.into_iter().filter_map(|row| {
        let account = accounts.iter().find(|account| account.id == row.account_id)?;
        Some(Medium::of(row, account))
    });
    let listed = MediaPage { media: media.collect(), next_cursor };
    Ok(Reply::ok(&Listed::new(listed, why)))
}
