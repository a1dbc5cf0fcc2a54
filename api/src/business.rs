//! Business profiles.

use fanfare_conversations::business;
use fanfare_core::{Listed, Reply, Result};
use fanfare_insight::ai::{prices::Priced, review_reply};

use crate::Call;

/// Lists reviews.
pub async fn list_reviews(mut call: Call) -> Result<Reply<Listed<business::ReviewPage>>> {
    let filter = call.query()?;
    business::list_reviews(&call.act, filter).await
}

/// Answers a review.
pub async fn reply(mut call: Call) -> Result<Reply<business::OneReview>> {
    let new = call.body()?;
    business::reply(&call.act, new).await
}

/// Deletes the answer to a review.
pub async fn delete_reply(mut call: Call) -> Result<Reply<business::OneReview>> {
    let named = call.query()?;
    business::delete_reply(&call.act, named).await
}

/// Suggests answers to a review.
pub async fn suggest_reply(
    mut call: Call,
) -> Result<Reply<Priced<review_reply::SuggestedReplies>>> {
    let new = call.body()?;
    review_reply::suggest(&call.act, new).await
}

/// Shows the review links of locations.
pub async fn review_link(mut call: Call) -> Result<Reply<Listed<business::ReviewLinkList>>> {
    let wanted = call.query()?;
    business::links(&call.act, wanted).await
}

/// Shows the audits of locations.
pub async fn audit(mut call: Call) -> Result<Reply<Listed<business::AuditList>>> {
    let wanted = call.query()?;
    business::audit(&call.act, wanted).await
}

/// Lists media.
pub async fn list_media(mut call: Call) -> Result<Reply<Listed<business::MediaPage>>> {
    let filter = call.query()?;
    business::list_media(&call.act, filter).await
}

/// Adds a photo or video.
pub async fn add_media(mut call: Call) -> Result<Reply<business::OneMedia>> {
    let new = call.body()?;
    business::add_media(&call.act, new).await
}

/// Deletes a photo or video.
pub async fn delete_media(mut call: Call) -> Result<Reply<business::MediaDeleted>> {
    let named = call.query()?;
    business::delete_media(&call.act, named).await
}
