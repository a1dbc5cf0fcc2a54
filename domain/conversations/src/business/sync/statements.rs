//! What a reading of a profile stores.

use fanfare_core::{Domain, Tx, error::Result};
use fanfare_entities::{
    AccountId, Millis, ProfileId, account,
    business_media::{self, BusinessMediaStatus},
    business_profile, business_review,
};
use fanfare_platforms::{RemoteMedia, RemoteReview};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;

use super::{
    HOUR,
    store::{store_medium, store_review},
};
use crate::inbox::{factor, shortened};

/// The time after which a video that the network does not show counts as rejected.
const REVIEW_MAX: Millis = 72 * HOUR;

/// The time for which a file stays that was seen but is not on a list, in ms.
const JUST_SEEN: Millis = 60_000;

/// Stores a page of reviews as they were at `read_at`. Those from before the account was connected, which are not
/// `live`, emit no events.
///
/// # Errors
/// The database's.
pub async fn store_reviews(
    cx: &Domain,
    account: &account::Model,
    reviews: Vec<RemoteReview>,
    (read_at, live): (Millis, bool),
) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    for review in reviews {
        store_review(&mut tx, account, review, (read_at, live)).await?;
    }
    tx.commit().await
}

/// Ends a reading of reviews: stores what the network counts, and deletes what a whole list did not show.
///
/// # Errors
/// The database's.
pub async fn end_reviews(
    cx: &Domain,
    row: &business_profile::Model,
    (average_rating, total_reviews): (Option<f64>, Option<i64>),
    whole_at: Option<Millis>,
) -> Result<()> {
    if let Some(read_at) = whole_at {
        business_review::Entity::delete_many()
            .filter(business_review::Column::AccountId.eq(row.account_id))
            .filter(business_review::Column::SeenAt.lt(read_at))
            .exec(&cx.db.write)
            .await?;
    }
    let change = business_profile::ActiveModel {
        average_rating: Set(average_rating),
        total_reviews: Set(total_reviews),
        ..Default::default()
    };
    let id: ProfileId = row.id;
    business_profile::Entity::update_many()
        .set(change)
        .filter(business_profile::Column::Id.eq(id))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

/// Locks an account's profile: a photo of our own whose outcome is written while a reading finds it is one row, not two.
///
/// # Errors
/// The database's.
pub(crate) async fn lock(tx: &Tx, account: AccountId) -> Result<()> {
    business_profile::Entity::find()
        .filter(business_profile::Column::AccountId.eq(account))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    Ok(())
}

/// Stores a page of media as they were at `read_at`.
///
/// # Errors
/// The database's.
pub async fn store_media(
    cx: &Domain,
    account: &account::Model,
    media: Vec<RemoteMedia>,
    read_at: Millis,
) -> Result<()> {
    let tx = Tx::begin(cx).await?;
    lock(&tx, account.id).await?;
    for medium in media {
        store_medium(&tx, account, medium, read_at).await?;
    }
    tx.commit().await
}

/// Deletes live media that are not listed any more, and rejects videos that were under review for too long.
///
/// # Errors
/// The database's.
pub async fn settle_media(cx: &Domain, account: &account::Model, read_at: Millis) -> Result<()> {
    use business_media::Column as Of;
    // A list may lack what was added while it was read.
    business_media::Entity::delete_many()
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Status.eq(BusinessMediaStatus::Live))
        .filter(Of::SeenAt.lt(read_at - JUST_SEEN))
        .exec(&cx.db.write)
        .await?;
    let patience = shortened(REVIEW_MAX, factor(cx, account));
    let error = json!({"code": "content_refused", "message": "Google did not show it within 72 hours.", "retry_safe": true});
    let change = business_media::ActiveModel {
        status: Set(BusinessMediaStatus::Rejected),
        error: Set(Some(error)),
        ..Default::default()
    };
    business_media::Entity::update_many()
        .set(change)
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Status.eq(BusinessMediaStatus::InReview))
        .filter(Of::CreatedAt.lt(read_at - patience))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
