//! Applies the outcome of a change to the stored reviews and media of business profiles.

use fanfare_core::{Tx, clock::to_rfc3339, error::Result};
use fanfare_entities::{
    BusinessMediaId, Millis, ReviewId, business_media, business_media::BusinessMediaStatus,
    business_profile, business_review,
};
use fanfare_platforms::RemoteChange;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    sea_query::Expr,
};
use serde_json::json;

use super::target::OutgoingOutcome;
use crate::business;

/// The time after which a new video is first looked for, in ms.
const FIRST_LOOK: Millis = 5 * 60_000;

/// Applies the outcome of a reply to a review, or of its deletion.
pub(super) async fn apply_to_review<C: ConnectionTrait>(
    conn: &C,
    id: ReviewId,
    made: &RemoteChange,
    known: &OutgoingOutcome,
    now: Millis,
) -> Result<()> {
    if !matches!(known, OutgoingOutcome::Sent(_)) {
        return Ok(());
    }
    let reply = match made {
        RemoteChange::ReviewReply { text, .. } => Some(json!({
            "text": text, "state": "pending", "policy_violation": null, "updated_at": to_rfc3339(now),
        })),
        _ => None,
    };
    let change = business_review::ActiveModel { reply: Set(reply), ..Default::default() };
    business_review::Entity::update_many()
        .set(change)
        .filter(business_review::Column::Id.eq(id))
        .exec(conn)
        .await?;
    Ok(())
}

/// Applies the outcome of adding a photo or video.
pub(super) async fn apply_to_added_media(
    tx: &Tx,
    id: BusinessMediaId,
    known: &OutgoingOutcome,
) -> Result<()> {
    use business_media::Column;
    let row = business_media::Entity::find_by_id(id).one(tx.conn()).await?;
    let Some(row) = row else { return Ok(()) };
    business::sync::lock(tx, row.account_id).await?;
    let mut change = business_media::ActiveModel { id: Set(id), ..Default::default() };
    match known {
        OutgoingOutcome::Unknown => change.status = Set(BusinessMediaStatus::Unknown),
        OutgoingOutcome::Failed(error) => {
            change.status = Set(BusinessMediaStatus::Failed);
            change.error = Set(Some(error.clone()));
        }
        OutgoingOutcome::Sent(name) => {
            // The photo that it replaces has the same name, or is deleted; so has one that a reading found before this.
            let mut replaced: Vec<String> = row.replaces.clone().into_iter().collect();
            replaced.push(name.clone());
            let others = business_media::Entity::delete_many()
                .filter(Column::AccountId.eq(row.account_id))
                .filter(Column::Name.is_in(replaced))
                .filter(Column::Id.ne(id))
                .exec_with_returning(tx.conn())
                .await?;
            // A reading that goes on deletes what it has not seen: it has seen this one under the other row.
            let seen = others.iter().filter(|other| other.name.as_deref() == Some(name.as_str()));
            let seen_at = seen.map(|other| other.seen_at).max();
            change.name = Set(Some(name.clone()).filter(|name| !name.is_empty()));
            change.status = Set(match row.video {
                true => BusinessMediaStatus::InReview,
                false => BusinessMediaStatus::Live,
            });
            change.seen_at = Set(seen_at.map_or(tx.now(), |at| at.max(tx.now())));
            if row.video {
                read_profile_soon(tx, &row).await?;
            }
        }
    }
    change.update(tx.conn()).await?;
    Ok(())
}

/// Makes the profile due when the video may be there.
async fn read_profile_soon(tx: &Tx, row: &business_media::Model) -> Result<()> {
    let at = tx.now() + FIRST_LOOK;
    business_profile::Entity::update_many()
        .col_expr(business_profile::Column::DueAt, Expr::value(at))
        .filter(business_profile::Column::AccountId.eq(row.account_id))
        .filter(business_profile::Column::DueAt.gt(at))
        .filter(business_profile::Column::LeaseExpirations.eq(0))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// Applies the outcome of deleting a photo or video.
pub(super) async fn apply_to_deleted_media<C: ConnectionTrait>(
    conn: &C,
    id: BusinessMediaId,
    known: &OutgoingOutcome,
) -> Result<()> {
    if matches!(known, OutgoingOutcome::Sent(_)) {
        business_media::Entity::delete_by_id(id).exec(conn).await?;
    }
    Ok(())
}
