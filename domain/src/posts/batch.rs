//! Creates several posts in one request, each on its own.

use fanfare_platforms::Warning;
use futures_util::future;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    create::{CreateOutcome, create},
    input::{NewPost, NewPostBatch},
    view::{PlannedPost, Post},
    workspace::WorkspaceOfPost,
};
use crate::{
    Act, Reply,
    access::{Membership, Role},
    accounts::by_name,
    error::refusal::RefusalReason,
    error::{Code, Error, Result},
    idempotency::{self, Owner, ReserveOutcome},
    input::strict,
    remedies::{self, AccountRef, RequestContext},
};

/// The most items of a batch.
pub const MAX_ITEMS: usize = 25;

/// Creates the valid posts of a batch, and returns what is wrong with the others. With an `Idempotency-Key` item *i*
/// has the key `<key>:<i>`: a retry replays what succeeded and runs again what failed.
///
/// # Errors
/// Only errors of the batch as a whole.
pub async fn create_batch(
    act: &Act,
    key: Option<&str>,
    batch: NewPostBatch,
) -> Result<Reply<PostBatch>> {
    let count = batch.posts.len();
    if count == 0 || count > MAX_ITEMS {
        let message = format!("The batch has {count} posts; 1 to {MAX_ITEMS} are allowed.");
        let mut broken = crate::error::violation(
            Code::TooManyItems,
            "posts",
            message,
            format!("Send 1 to {MAX_ITEMS} posts at a time."),
        );
        broken.limit = Some(MAX_ITEMS.into());
        broken.actual = Some(count.into());
        return Err(Error::violation(broken));
    }
    let dry_run = batch.dry_run == Some(true);
    let items = batch.posts.into_iter().enumerate().map(|(index, item)| async move {
        let key = key.map(|key| format!("{key}:{index}"));
        create_item(act, key, item, (index, dry_run)).await
    });
    batch_reply(future::join_all(items).await).await
}

/// Adds the remedies to the error of an item, with fixes that apply to the body of the whole batch.
fn with_remedies(act: &Act, error: Error, item: Value, index: usize) -> Error {
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        account: act.membership.account.as_deref().map(AccountRef::from),
        body: Some(item),
        body_pointer: format!("/posts/{index}"),
        ..RequestContext::default()
    };
    remedies::add_remedies(error, &situation)
}

async fn create_item(
    act: &Act,
    key: Option<String>,
    mut item: Value,
    (index, dry_run): (usize, bool),
) -> Result<Reply> {
    let mut act = act.clone();
    let keyed = key.map(|key| (key, item_fingerprint(&item)));
    if let Some((key, print)) = &keyed
        && let Some(reply) = idempotency::stored_reply(&act.cx, &act.caller, key, print).await?
    {
        return Ok(reply);
    }
    if let Some(fields) = item.as_object_mut().filter(|fields| by_name::has_username(fields)) {
        let named = by_name::resolve_account_id(&act.cx, &act.membership, fields).await;
        named.map_err(|error| with_remedies(&act, error, item.clone(), index))?;
    }
    act.membership = item_membership(&act, &item)
        .await
        .map_err(|error| with_remedies(&act, error, item.clone(), index))?;
    if let Some((key, print)) = keyed {
        let owner = Owner::of(act.caller.user_id, act.membership.workspace_id);
        match idempotency::reserve(&act.cx, owner, &key, &print).await? {
            ReserveOutcome::Replay(reply) => return Ok(reply),
            ReserveOutcome::Acquired(reservation) => act.reservation = Some(reservation),
        }
    }
    let kept = act.reservation.as_ref().map(|reservation| reservation.keep_renewed(&act.cx));
    let made = create_post(&act, item.clone(), dry_run).await;
    let made = made.map_err(|error| with_remedies(&act, error, item, index));
    drop(kept);
    if let (Some(reservation), true) = (&act.reservation, made.is_err() || dry_run) {
        reservation.abandon(&act.cx).await?;
    }
    made
}

/// Returns the digest of an item, by which a repeated item is recognised.
fn item_fingerprint(item: &Value) -> String {
    idempotency::fingerprint("POST", "/api/v1/posts/batch/item", item.to_string().as_bytes())
}

async fn create_post(act: &Act, item: Value, dry_run: bool) -> Result<Reply> {
    let (mut new, flaws): (NewPost, _) = strict::read_partial(item)?;
    new.dry_run = Some(dry_run || new.dry_run == Some(true));
    Ok(match create(act, new, flaws).await? {
        CreateOutcome::Checked(reply) => reply.cast(),
        CreateOutcome::Created(reply) => reply.cast(),
    })
}

/// Returns the membership for the item's account, which may be in another workspace than the batch's own.
async fn item_membership(act: &Act, item: &Value) -> Result<Membership> {
    let id = item.get("account_id");
    let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
    let Some(id) = id else { return Ok(act.membership.clone()) };
    let membership = crate::access::membership_for_account(
        &act.cx,
        &act.caller,
        fanfare_entities::AccountId(id),
    );
    let membership = membership.await?;
    if !membership.api_addon {
        let message = "The workspace of this account has no API add-on.";
        return Err(Error::new(Code::ApiAddonRequired, message));
    }
    membership.require(Role::Publisher)?;
    Ok(membership)
}

/// The outcome of each item of a batch.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PostBatch {
    /// The number of items.
    total: usize,
    /// The number of posts that this request made.
    created: usize,
    /// The number of items that an earlier request with the same `Idempotency-Key` made.
    replayed: usize,
    /// The number of items that were refused.
    failed: usize,
    /// The items that were made, or checked.
    posts: Vec<BatchItem>,
    /// The items that were refused.
    errors: Vec<BatchError>,
}

/// An item of a batch that was made or checked.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchItem {
    /// The place in the request, from 0.
    index: usize,
    /// True if an earlier request with the same `Idempotency-Key` made it.
    replayed: bool,
    #[schemars(with = "PostOfItem")]
    post: Box<RawValue>,
    /// Effects that the post does not get although it was accepted.
    #[schemars(with = "Vec<Warning>")]
    warnings: Box<RawValue>,
    #[schemars(with = "WorkspaceOfPost")]
    workspace: Box<RawValue>,
}

/// The post that was made, or the one that a dry run would make.
#[derive(JsonSchema)]
#[schemars(inline, untagged)]
#[expect(dead_code, reason = "it describes JSON text that was written before")]
enum PostOfItem {
    Made(Post),
    Checked(PlannedPost),
}

/// An item of a batch that was refused: what the same post would be refused with by itself.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchError {
    /// The place in the request, from 0.
    index: usize,
    /// The HTTP status of that.
    status: u16,
    #[serde(flatten)]
    reason: RefusalReason,
}

async fn batch_reply(outcomes: Vec<Result<Reply>>) -> Result<Reply<PostBatch>> {
    let mut batch = PostBatch { total: outcomes.len(), ..PostBatch::default() };
    let (mut all_replayed, mut bytes) = (true, 0);
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(reply) => {
                all_replayed &= reply.replayed;
                batch.replayed += usize::from(reply.replayed);
                batch.created += usize::from(reply.status == 201 && !reply.replayed);
                bytes += reply.body().len();
                batch.posts.push(BatchItem::of(index, &reply)?);
            }
            Err(error) => {
                all_replayed = false;
                batch.failed += 1;
                let (status, reason) = (error.status(), error.reason());
                batch.errors.push(BatchError { index, status, reason });
            }
        }
    }
    let mut reply = Reply::large(bytes, || batch).await?;
    reply.replayed = all_replayed;
    Ok(reply)
}

impl BatchItem {
    /// Creates the item of a reply.
    fn of(index: usize, reply: &Reply) -> Result<Self> {
        #[derive(Deserialize)]
        struct Parts {
            post: Box<RawValue>,
            warnings: Box<RawValue>,
            workspace: Box<RawValue>,
        }
        let Parts { post, warnings, workspace } =
            serde_json::from_str(reply.body()).map_err(Error::internal)?;
        Ok(Self { index, replayed: reply.replayed, post, warnings, workspace })
    }
}
