//! Business profiles: reviews and replies, review links, the audit, and media. Each account is one location.

mod audit;
mod links;
mod media;
mod reviews;
pub mod sync;

use fanfare_core::{
    Act,
    error::{Code, Error, Result},
    page::{self, EmptyBecause},
};
use fanfare_entities::{AccountId, account, business_profile};
use fanfare_publishing::accounts;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Deserialize;
use uuid::Uuid;

pub use audit::{AuditList, audit};
pub use links::{ReviewLinkList, links};
pub(crate) use media::{FileFacts, LEAST_PHOTO};
pub use media::{
    MediaDeleted, MediaFilter, MediaPage, MediaRef, NewMedia, OneMedia, add as add_media,
    delete as delete_media, list as list_media,
};
pub use reviews::{
    NewReviewReply, OneReview, Review, ReviewAction, ReviewFilter, ReviewPage, ReviewRef,
    ReviewReply, ReviewSummary, Reviewer, delete_reply, list as list_reviews, reply,
};
pub use reviews::{find as find_review, review_id, text_or_number};

/// The platform that has business profiles.
const PLATFORM: &str = "google_business";

/// The locations that a request is about.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocationFilter {
    /// Only this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only the location of this number.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub location_id: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Returns the accounts of the requested locations, or all that the membership can see if none is named.
pub(crate) async fn selected_accounts(
    act: &Act,
    account_id: Option<i64>,
    location_id: Option<&str>,
) -> Result<Vec<account::Model>> {
    if let Some(id) = account_id {
        let account = accounts::find(act, AccountId(id)).await?;
        if account.platform != PLATFORM {
            let message =
                format!("Account {id} is on {}, which has no business profiles.", account.platform);
            let remedy = "Name an account on google_business.";
            return Err(Error::field(Code::PlatformMismatch, "account_id", message, remedy));
        }
        if location_id.is_some_and(|location| location != account.remote_id) {
            return Err(no_location());
        }
        return Ok(vec![account]);
    }
    let mut all = accounts::visible(act).filter(account::Column::Platform.eq(PLATFORM));
    if let Some(location) = location_id {
        all = all.filter(account::Column::RemoteId.eq(location));
    }
    let all = all.order_by_asc(account::Column::Id).all(&act.cx.db.read).await?;
    if location_id.is_some() && all.is_empty() {
        return Err(no_location());
    }
    Ok(all)
}

/// Returns the one account that a change is about.
pub(crate) async fn selected_account(
    act: &Act,
    account_id: Option<i64>,
    location_id: Option<&str>,
) -> Result<account::Model> {
    let mut all = selected_accounts(act, account_id, location_id).await?;
    match (all.len(), all.pop()) {
        (1, Some(account)) => Ok(account),
        (0, _) => Err(no_location()),
        _ => {
            let message = "There are several locations; name one of them.";
            let remedy = "Send account_id or location_id.";
            Err(Error::field(Code::FieldRequired, "account_id", message, remedy))
        }
    }
}

/// Returns why a list of what was read from the locations of these accounts is empty; `any` is true if there is something
/// beyond its filter.
async fn why_empty(
    act: &Act,
    accounts: &[account::Model],
    (any, is_later): (bool, bool),
) -> Result<EmptyBecause> {
    if any {
        return Ok(EmptyBecause::of(any, is_later));
    }
    if accounts.is_empty() {
        return no_locations(act).await;
    }
    let ids = accounts.iter().map(|account| account.id);
    let read = business_profile::Entity::find()
        .filter(business_profile::Column::AccountId.is_in(ids))
        .filter(business_profile::Column::SyncedAt.is_not_null());
    let is_read = page::count_up_to(&act.cx.db.read, read, 1).await? > 0;
    Ok(if is_read { EmptyBecause::NothingYet } else { EmptyBecause::NotReadYet })
}

/// Returns why there are no locations: no account, or none on a platform that has them.
async fn no_locations(act: &Act) -> Result<EmptyBecause> {
    let any = page::count_up_to(&act.cx.db.read, accounts::visible(act), 1).await? > 0;
    Ok(if any { EmptyBecause::NotOffered } else { EmptyBecause::NoAccounts })
}

fn no_location() -> Error {
    Error::new(Code::LocationNotFound, "There is no such location.")
}

/// Returns the stored profile of an account's location.
pub async fn profile_of(act: &Act, account: AccountId) -> Result<Option<business_profile::Model>> {
    let found =
        business_profile::Entity::find().filter(business_profile::Column::AccountId.eq(account));
    Ok(found.one(&act.cx.db.write).await?)
}

/// Returns the name of a location for people.
pub fn title(profile: Option<&business_profile::Model>, account: &account::Model) -> String {
    let location = profile.and_then(|profile| profile.location.as_ref());
    let title = location.and_then(|location| location["title"].as_str());
    title.unwrap_or(&account.username).to_owned()
}
