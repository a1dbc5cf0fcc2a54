//! Creates several posts in one request, each on its own.

use std::sync::Arc;

use fanfare_core::{
    Act, Reply,
    access::{Membership, Role},
    error::refusal::RefusalReason,
    error::{Code, Error, Result},
    idempotency::{self, Owner, ReserveOutcome},
    input::strict,
    limits,
    remedies::{self, AccountRef, RequestContext},
};
use fanfare_entities::Millis;
use fanfare_platforms::Warning;
use futures_util::future;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use tokio_util::task::AbortOnDropHandle;

use super::{
    alike,
    compared::Compared,
    create::{self, Prepared},
    duplicates,
    input::{NewPost, NewPostBatch},
    view::{Checked, Created, PlannedPost, Post},
    workspace::WorkspaceOfPost,
    write::{NewPostRow, PostWriter},
};
use crate::accounts::by_name;

/// The most items of a batch.
pub const MAX_ITEMS: usize = 25;

/// Creates the valid posts of a batch, in the order of the body, and returns what is wrong with the others. With an `Idempotency-Key` item *i*
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
        let mut broken = fanfare_core::error::violation(
            Code::TooManyItems,
            "posts",
            message,
            format!("Send 1 to {MAX_ITEMS} posts at a time."),
        );
        broken.limit = Some(MAX_ITEMS.into());
        broken.actual = Some(count.into());
        broken.unit = Some("posts");
        return Err(Error::violation(broken));
    }
    let dry_run = batch.dry_run == Some(true);
    // One time for all, since posts without a time are due now, and are published in the order of their times.
    let now = act.cx.clock.now();
    let items = batch.posts.into_iter().enumerate().map(|(index, body)| async move {
        let key = key.map(|key| item_key(key, index));
        prepare_item(act, key, body, (index, dry_run, now)).await
    });
    let mut items = future::join_all(items).await;
    let warnings = alike::compare_items(&mut items);
    let ready = items.iter().filter_map(|item| match item {
        Ok(Item::Ready(item)) => Some(Arc::clone(&item.row)),
        _ => None,
    });
    let mut written =
        act.cx.feature::<PostWriter>().write_in_order(ready.collect()).await.into_iter();
    let mut outcomes = Vec::with_capacity(count);
    for item in items {
        outcomes.push(match item {
            Ok(Item::Answered(reply)) => Ok(reply),
            Ok(Item::Checked(item)) => Ok(item.reply),
            Ok(Item::Ready(item)) => {
                let written = written.next();
                let none = || Err(Error::internal("a new post had no answer"));
                item.finish(written.map_or_else(none, |reply| reply.map(Reply::cast))).await
            }
            Err(error) => Err(error),
        });
    }
    batch_reply(outcomes, warnings).await
}

/// An item of a batch before any post is written.
pub(super) enum Item {
    /// It was made before.
    Answered(Reply),
    /// It was only checked.
    Checked(Box<CheckedItem>),
    /// It can be written.
    Ready(ReadyItem),
}

impl Item {
    /// Returns what is compared of it.
    pub fn compared(&self) -> Option<&Compared> {
        match self {
            Self::Answered(_) => None,
            Self::Checked(item) => Some(&item.compared),
            Self::Ready(item) => Some(&item.compared),
        }
    }
}

/// An item that was only checked.
pub(super) struct CheckedItem {
    index: usize,
    body: Value,
    act: Act,
    reply: Reply,
    pub compared: Box<Compared>,
}

impl CheckedItem {
    /// Returns the refusal of the item because of an earlier one.
    pub fn refused(&self, earlier: &alike::Earlier) -> Error {
        let error = duplicates::refuse_item(earlier.place, earlier.kind);
        with_remedies(&self.act, error, self.body.clone(), self.index)
    }
}

/// An item that can be written.
pub(super) struct ReadyItem {
    index: usize,
    body: Value,
    pub row: Arc<NewPostRow>,
    pub compared: Box<Compared>,
    kept: Option<AbortOnDropHandle<()>>,
}

impl ReadyItem {
    /// Ends the item with what became of its post.
    async fn finish(self, written: Result<Reply>) -> Result<Reply> {
        drop(self.kept);
        let act = &self.row.act;
        if written.is_err() {
            limits::uncount_created(act).await;
            abandon(act).await?;
        }
        written.map_err(|error| with_remedies(act, error, self.body, self.index))
    }
}

/// Adds warnings to a list of them.
fn with_warnings(list: &RawValue, warnings: &[Warning]) -> Result<Box<RawValue>> {
    let mut all: Vec<Value> = serde_json::from_str(list.get()).map_err(Error::internal)?;
    all.extend(warnings.iter().map(|warning| json!(warning)));
    serde_json::value::to_raw_value(&all).map_err(Error::internal)
}

/// Frees the key of an item that made nothing.
async fn abandon(act: &Act) -> Result<()> {
    match &act.reservation {
        Some(reservation) => reservation.abandon(&act.cx).await,
        None => Ok(()),
    }
}

/// Adds the remedies to the error of an item, with fixes that apply to the body of the whole batch.
fn with_remedies(act: &Act, error: Error, item: Value, index: usize) -> Error {
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        account: act.membership.account.as_deref().map(AccountRef::from),
        body: Some(item),
        body_pointer: format!("/posts/{index}"),
        // What an item can be repeated by.
        request: Some(("create_post", "POST", "/api/v1/posts".to_owned())),
        rights: Some(remedies::Rights::of(act)),
        ..RequestContext::default()
    };
    remedies::add_remedies(error, &situation)
}

async fn prepare_item(
    act: &Act,
    key: Option<String>,
    mut item: Value,
    (index, dry_run, now): (usize, bool, Millis),
) -> Result<Item> {
    let mut act = act.clone();
    let keyed = key.map(|key| (key, item_fingerprint(&item)));
    if let Some((key, print)) = &keyed
        && let Some(reply) = idempotency::stored_reply(&act.cx, &act.caller, key, print).await?
    {
        return Ok(Item::Answered(reply));
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
            ReserveOutcome::Replay(reply) => return Ok(Item::Answered(reply)),
            ReserveOutcome::Acquired(reservation) => act.reservation = Some(reservation),
        }
    }
    let kept = act.reservation.as_ref().map(|reservation| reservation.keep_renewed(&act.cx));
    let prepared = prepare_post(&act, item.clone(), dry_run, now).await;
    let mut body = item;
    if let Some(fields) = body.as_object_mut().filter(|_| dry_run) {
        // An item that is repeated by itself is only checked again, too.
        fields.entry("dry_run").or_insert(true.into());
    }
    if let Ok(Prepared::Ready(row, compared)) = prepared {
        return Ok(Item::Ready(ReadyItem { index, body, row: Arc::from(row), compared, kept }));
    }
    drop(kept);
    abandon(&act).await?;
    match prepared {
        Ok(Prepared::Checked(reply, compared)) => {
            let item = CheckedItem { index, body, act, reply: reply.cast(), compared };
            Ok(Item::Checked(Box::new(item)))
        }
        Ok(Prepared::Ready(..)) => Err(Error::internal("a post that is ready was not written")),
        Err(error) => Err(with_remedies(&act, error, body, index)),
    }
}

/// Returns the key and the digest of each item of a batch's body.
#[must_use]
pub fn item_requests(key: &str, body: &Value) -> Vec<(String, String)> {
    let items = body["posts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let items = items.iter().take(MAX_ITEMS).enumerate();
    items.map(|(index, item)| (item_key(key, index), item_fingerprint(item))).collect()
}

fn item_key(key: &str, index: usize) -> String {
    format!("{key}:{index}")
}

/// Returns the digest of an item, by which a repeated item is recognised.
fn item_fingerprint(item: &Value) -> String {
    idempotency::fingerprint("POST", "/api/v1/posts/batch/item", Some(item))
}

async fn prepare_post(act: &Act, item: Value, dry_run: bool, now: Millis) -> Result<Prepared> {
    let (mut new, flaws): (NewPost, _) = strict::read_partial(item)?;
    new.dry_run = Some(dry_run || new.dry_run == Some(true));
    create::prepare(act, new, flaws, now).await
}

/// Returns the membership for the item's account, which may be in another workspace than the batch's own.
async fn item_membership(act: &Act, item: &Value) -> Result<Membership> {
    let id = item.get("account_id");
    let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
    let Some(id) = id else { return Ok(act.membership.clone()) };
    let membership = fanfare_core::access::membership_for_account(
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
    #[schemars(with = "Vec<ItemSchema>")]
    posts: Vec<BatchItem>,
    /// The items that were refused.
    errors: Vec<BatchError>,
}

/// An item of a batch that was made or checked.
#[derive(Debug, Serialize)]
struct BatchItem {
    outcome: &'static str,
    index: usize,
    replayed: bool,
    post: Box<RawValue>,
    warnings: Box<RawValue>,
    workspace: Box<RawValue>,
}

/// An item of a batch that was made, or checked.
#[derive(JsonSchema)]
#[schemars(rename = "BatchItem", untagged)]
#[expect(dead_code, reason = "it describes JSON text that was written before")]
enum ItemSchema {
    Created(ItemOf<Created, Post>),
    Checked(ItemOf<Checked, PlannedPost>),
}

/// An item of a batch with this outcome, and the post that was made or would be.
#[derive(JsonSchema)]
#[schemars(rename = "{O}Item")]
#[expect(dead_code, reason = "it describes JSON text that was written before")]
struct ItemOf<O, P> {
    outcome: O,
    /// The place in the request, from 0.
    index: usize,
    /// True if an earlier request with the same `Idempotency-Key` made it.
    replayed: bool,
    post: P,
    /// Effects that the post does not get although it was accepted.
    warnings: Vec<Warning>,
    workspace: WorkspaceOfPost,
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

async fn batch_reply(
    outcomes: Vec<Result<Reply>>,
    warnings: Vec<Vec<Warning>>,
) -> Result<Reply<PostBatch>> {
    let mut batch = PostBatch { total: outcomes.len(), ..PostBatch::default() };
    let (mut all_replayed, mut bytes) = (true, 0);
    for (index, (outcome, more)) in outcomes.into_iter().zip(warnings).enumerate() {
        match outcome {
            Ok(reply) => {
                all_replayed &= reply.replayed;
                batch.replayed += usize::from(reply.replayed);
                batch.created += usize::from(reply.status == 201 && !reply.replayed);
                bytes += reply.body().len();
                batch.posts.push(BatchItem::of(index, &reply, &more)?);
            }
            Err(error) => {
                all_replayed = false;
                batch.failed += 1;
                let (status, reason) = (error.status(), error.reason());
                batch.errors.push(BatchError { index, status, reason });
            }
        }
    }
    let changed = batch.created > 0;
    let mut reply = Reply::large(bytes, || batch).await?;
    (reply.replayed, reply.changed) = (all_replayed, changed);
    Ok(reply)
}

impl BatchItem {
    /// Creates the item of a reply.
    fn of(index: usize, reply: &Reply, more: &[Warning]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Parts {
            post: Box<RawValue>,
            warnings: Box<RawValue>,
            workspace: Box<RawValue>,
        }
        let Parts { post, mut warnings, workspace } =
            serde_json::from_str(reply.body()).map_err(Error::internal)?;
        if !more.is_empty() {
            warnings = with_warnings(&warnings, more)?;
        }
        let outcome = if reply.status == 201 { "created" } else { "checked" };
        Ok(Self { outcome, index, replayed: reply.replayed, post, warnings, workspace })
    }
}
