//! Replies to reviews.

use fanfare_core::{
    Act, RefusalDetails, Reply,
    error::{Code, Error, Result, violation},
};
use fanfare_entities::{
    ReviewId,
    account::{self, AccountStatus},
    business_review, outgoing,
};
use fanfare_platforms::RemoteChange;
use schemars::JsonSchema;
use sea_orm::{EntityTrait, QuerySelect};
use serde::Deserialize;
use uuid::Uuid;

use super::super::profile_of;
use super::{
    find,
    view::{OneReview, Review},
};
use crate::{
    inbox::{finish, outgoing_status},
    outgoing::{self as changes, NewOutgoing, OutgoingTarget},
};

/// The longest reply in bytes.
const REPLY_MAX: usize = 4_096;

/// An answer to a review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReviewReply {
    /// Id of the review, or its `review_name`.
    #[serde(deserialize_with = "text_or_number")]
    #[schemars(schema_with = "review_id")]
    pub review_id: String,
    /// The text, 1 to 4,096 bytes.
    #[schemars(length(max = 10_000))]
    pub text: String,
    /// Replace the existing reply.
    #[serde(default)]
    pub replace: Option<bool>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The name of a review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRef {
    /// Id of the review, or its `review_name`.
    #[serde(deserialize_with = "text_or_number")]
    #[schemars(schema_with = "review_id")]
    pub review_id: String,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Reads the id of a review, which callers also send as a number.
///
/// # Errors
/// It is neither text nor a number.
pub fn text_or_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Number(number) => number.to_string(),
        Either::Text(text) => text,
    })
}

/// Returns the schema of a review's id.
pub fn review_id(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["integer", "string"], "maxLength": 300,
        "description": "Id of the review, or its `review_name`.",
    })
}

/// The reply that a review must have, or must not have, for a change of it.
#[derive(Clone, Copy)]
enum Needed {
    NoReply,
    Reply,
    Either,
}

/// Replies to a review. Returns 201, 200 if it replaces an earlier reply, or 202 while the outcome is not known.
///
/// # Errors
/// [`Code::ReviewNotFound`], [`Code::ReplyExists`], or the network's refusal.
pub async fn reply(act: &Act, new: NewReviewReply) -> Result<Reply<OneReview>> {
    let (row, account) = find(act, &new.review_id).await?;
    act.cx.failpoint.reach("considered").await;
    let (made, replaces) = match changes::find_by_request(act).await? {
        Some(earlier) => (earlier, row.reply.is_some()),
        None => {
            if fanfare_platforms::text::is_blank(&new.text) || new.text.len() > REPLY_MAX {
                let message =
                    format!("text has {} bytes; it may have 1 to {REPLY_MAX}.", new.text.len());
                let remedy = "Shorten the text, or send one.";
                let broken = violation(Code::InvalidField, "text", message, remedy);
                let broken = broken.with_limit(REPLY_MAX, new.text.len()).in_unit("bytes");
                return Err(Error::violation(broken));
            }
            let replace = new.replace == Some(true);
            let needed = if replace { Needed::Either } else { Needed::NoReply };
            let change = RemoteChange::ReviewReply { review: row.name.clone(), text: new.text };
            make(act, &account, row.id, needed, change).await?
        }
    };
    let status = match outgoing_status(&made)? {
        201 if replaces => 200,
        status => status,
    };
    shown(act, row.id, &account, status).await
}

/// Deletes the reply to a review.
///
/// # Errors
/// [`Code::ReviewNotFound`], [`Code::ReplyNotFound`], or the network's refusal.
pub async fn delete_reply(act: &Act, named: ReviewRef) -> Result<Reply<OneReview>> {
    let (row, account) = find(act, &named.review_id).await?;
    act.cx.failpoint.reach("considered").await;
    let made = match changes::find_by_request(act).await? {
        Some(earlier) => earlier,
        None => {
            let change = RemoteChange::DeleteReviewReply { review: row.name };
            make(act, &account, row.id, Needed::Reply, change).await?.0
        }
    };
    let status = if outgoing_status(&made)? == 202 { 202 } else { 200 };
    shown(act, row.id, &account, status).await
}

/// Makes a change of a review's reply; returns it, and whether there was a reply before.
async fn make(
    act: &Act,
    account: &account::Model,
    id: ReviewId,
    needed: Needed,
    change: RemoteChange,
) -> Result<(outgoing::Model, bool)> {
    if account.status != AccountStatus::Connected {
        let message = "The account must be connected again first.";
        return Err(Error::new(Code::AccountReconnectRequired, message));
    }
    let mut tx = act.begin().await?;
    // The state of an earlier read may be over: another request may have replied in between.
    let row = business_review::Entity::find_by_id(id).lock_exclusive().one(tx.conn()).await?;
    let row = row.ok_or_else(absent)?;
    let scope = format!("review:{id}");
    changes::refuse_open(tx.conn(), &scope).await?;
    let replaces = row.reply.is_some();
    match needed {
        Needed::NoReply if replaces => {
            drop(tx);
            return Err(reply_exists(act, row, account).await?);
        }
        Needed::Reply if !replaces => {
            let message = "The review has no answer.";
            return Err(Error::new(Code::ReplyNotFound, message));
        }
        _ => {}
    }
    let new = NewOutgoing {
        workspace_id: account.workspace_id,
        account_id: account.id,
        target: OutgoingTarget::Review(id),
        scope,
        change,
    };
    let made = changes::insert(act, &mut tx, new).await?;
    Ok((changes::commit_and_wait(tx, made).await?, replaces))
}

/// Returns the refusal of a second reply, which shows the first one.
async fn reply_exists(
    act: &Act,
    row: business_review::Model,
    account: &account::Model,
) -> Result<Error> {
    let profile = profile_of(act, account.id).await?;
    let review = Review::of(row, account, profile.as_ref(), act.membership.role);
    let review = serde_json::to_value(review).map_err(Error::internal)?;
    let details = RefusalDetails { review: Some(review), ..RefusalDetails::default() };
    Ok(Error::new(Code::ReplyExists, "The review is answered already.").with_details(details))
}

fn absent() -> Error {
    Error::new(Code::ReviewNotFound, "There is no such review.")
}

async fn shown(
    act: &Act,
    id: ReviewId,
    account: &account::Model,
    status: u16,
) -> Result<Reply<OneReview>> {
    let row = business_review::Entity::find_by_id(id).one(&act.cx.db.write).await?;
    let row = row.ok_or_else(absent)?;
    let profile = profile_of(act, account.id).await?;
    let review = Review::of(row, account, profile.as_ref(), act.membership.role);
    finish(act, Reply::ok(&OneReview { review }).with_status(status)).await
}
