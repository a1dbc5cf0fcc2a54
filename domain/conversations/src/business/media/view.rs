//! Photos and videos as replies show them.

use fanfare_core::clock::Time;
use fanfare_entities::{
    AccountId, BrandId, BusinessMediaId, account,
    business_media::{self, BusinessMediaStatus},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A photo or video of a location.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Medium {
    id: BusinessMediaId,
    /// The network's name for it; null until it is known.
    media_name: Option<String>,
    account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    workspace_client_id: Option<BrandId>,
    location_id: String,
    category: String,
    /// The requested category, if the network uses another name for it.
    requested_category: Option<String>,
    /// `PHOTO` or `VIDEO`.
    media_format: &'static str,
    url: Option<String>,
    thumbnail_url: Option<String>,
    width: Option<i64>,
    height: Option<i64>,
    view_count: Option<i64>,
    status: BusinessMediaStatus,
    /// The reason why it failed.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    error: Option<Value>,
    /// The name of the file that it replaces.
    replaces: Option<String>,
    /// The time at which it was added; null if it is not known.
    created_at: Option<Time>,
}

/// A page of media.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct MediaPage {
    pub(super) media: Vec<Medium>,
    /// The cursor of the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// One photo or video.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneMedia {
    pub(super) media: Medium,
}

impl Medium {
    pub(super) fn of(row: business_media::Model, account: &account::Model) -> Self {
        let profile = row.name.as_ref().is_some_and(|name| name.ends_with("/media/profile"));
        let ours = row.requested_category.is_some() || row.source_url.is_some();
        let created = row.added_at.or((ours && !profile).then_some(row.created_at));
        Self {
            id: row.id,
            media_name: row.name,
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            location_id: account.remote_id.clone(),
            category: row.category,
            requested_category: row.requested_category,
            media_format: if row.video { "VIDEO" } else { "PHOTO" },
            url: row.url,
            thumbnail_url: row.thumbnail_url,
            width: row.width,
            height: row.height,
            view_count: row.view_count,
            status: row.status,
            error: row.error,
            replaces: row.replaces,
            created_at: created.map(Time),
        }
    }
}
