//! Stores reviews and media, in any order and any number of times.

use fanfare_core::{Tx, clock::to_rfc3339, error::Result};
use fanfare_entities::{
    Millis, account,
    business_media::{self, BusinessMediaStatus},
    business_review,
};
use fanfare_platforms::{RemoteMedia, RemoteReview};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
};
use serde_json::{Value, json};

use super::super::reviews;

fn stored_reply(review: &RemoteReview) -> Option<Value> {
    let reply = review.reply.as_ref()?;
    Some(json!({
        "text": reply.text, "state": reply.state, "policy_violation": reply.policy_violation,
        "updated_at": to_rfc3339(reply.updated_at.timestamp_millis()),
    }))
}

/// Stores a review, or what has changed about it.
pub(super) async fn store_review(
    tx: &mut Tx,
    account: &account::Model,
    mut review: RemoteReview,
    (read_at, live): (Millis, bool),
) -> Result<()> {
    review.bound();
    use business_review::Column as Of;
    let known = business_review::Entity::find()
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Name.eq(review.name.as_str()))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let reply = stored_reply(&review);
    let rejected =
        |reply: &Option<Value>| reply.as_ref().is_some_and(|one| one["state"] == "rejected");
    if let Some(row) = &known
        && rejected(&reply)
        && !rejected(&row.reply)
    {
        reviews::emit_review_event(
            tx,
            account,
            "review.reply_rejected",
            false,
            json!({"review_id": row.id}),
        );
    }
    let row = business_review::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        name: Set(review.name.clone()),
        reviewer: Set(review.reviewer.clone()),
        avatar_url: Set(review.avatar_url.clone()),
        rating: Set(review.rating),
        text: Set(review.text.clone()),
        media: Set(json!(review.media)),
        reply: Set(reply),
        reviewed_at: Set(review.created_at.timestamp_millis()),
        changed_at: Set(review.updated_at.timestamp_millis()),
        seen_at: Set(read_at),
        ..Default::default()
    };
    match known {
        Some(known) => {
            let change = business_review::ActiveModel { id: Set(known.id), ..row };
            change.update(tx.conn()).await?;
        }
        None => {
            let row = business_review::ActiveModel { created_at: Set(tx.now()), ..row };
            let row = business_review::Entity::insert(row).exec_with_returning(tx.conn()).await?;
            if live {
                let review = reviews::view_for_event(tx, account, row).await?;
                reviews::emit_review_event(
                    tx,
                    account,
                    "review.received",
                    true,
                    json!({ "review": review }),
                );
            }
        }
    }
    Ok(())
}

/// Stores a photo or video, including those added outside this service.
pub(super) async fn store_medium(
    tx: &Tx,
    account: &account::Model,
    medium: RemoteMedia,
    read_at: Millis,
) -> Result<()> {
    use business_media::Column as Of;
    let known = business_media::Entity::find()
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Name.eq(medium.name.as_str()))
        .one(tx.conn())
        .await?;
    let row = business_media::ActiveModel {
        category: Set(medium.category),
        video: Set(medium.video),
        url: Set(medium.url),
        thumbnail_url: Set(medium.thumbnail_url),
        width: Set(medium.width),
        height: Set(medium.height),
        view_count: Set(medium.view_count),
        status: Set(BusinessMediaStatus::Live),
        error: Set(None),
        seen_at: Set(read_at),
        ..Default::default()
    };
    if let Some(known) = known {
        let change = business_media::ActiveModel {
            id: Set(known.id),
            seen_at: Set(known.seen_at.max(read_at)),
            source_url: Set(medium.source_url.or(known.source_url)),
            added_at: Set(medium.created_at.map(|at| at.timestamp_millis()).or(known.added_at)),
            ..row
        };
        change.update(tx.conn()).await?;
        return Ok(());
    }
    let row = business_media::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        name: Set(Some(medium.name)),
        source_url: Set(medium.source_url),
        added_at: Set(medium.created_at.map(|at| at.timestamp_millis())),
        created_at: Set(tx.now()),
        ..row
    };
    business_media::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(())
}
