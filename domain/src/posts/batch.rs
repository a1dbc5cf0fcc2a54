//! Making several posts in one request, each on its own.

use futures_util::future;
use serde_json::{Value, json};

use super::{
    create,
    input::{NewBatch, NewPost},
};
use crate::{
    Act, Reply,
    access::{Membership, Role},
    error::{Code, Error, Result},
    idempotency::{self, Owner, Reserved},
    input::strict,
};

/// Most items of a batch.
pub const MAX_ITEMS: usize = 25;

/// Makes the posts that are right and says of the others what is wrong. With an `Idempotency-Key` item *i* stands under
/// `<key>:<i>`: a retry replays what succeeded and runs again what failed.
///
/// # Errors
/// Only what is wrong with the batch as a whole.
pub async fn create_batch(act: &Act, key: Option<&str>, batch: NewBatch) -> Result<Reply> {
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
        one(act, key, item, dry_run).await
    });
    Ok(answer(future::join_all(items).await))
}

async fn one(act: &Act, key: Option<String>, item: Value, dry_run: bool) -> Result<Reply> {
    let mut act = act.clone();
    let keyed = key.map(|key| (key, print(&item)));
    if let Some((key, print)) = &keyed
        && let Some(reply) = idempotency::kept(&act.cx, &act.caller, key, print).await?
    {
        return Ok(reply);
    }
    act.membership = membership(&act, &item).await?;
    if let Some((key, print)) = keyed {
        let owner = Owner::of(act.caller.user_id, act.membership.workspace_id);
        match idempotency::reserve(&act.cx, owner, &key, &print).await? {
            Reserved::Replay(reply) => return Ok(reply),
            Reserved::Mine(reservation) => act.reservation = Some(reservation),
        }
    }
    let kept = act.reservation.as_ref().map(|reservation| reservation.kept(&act.cx));
    let made = make(&act, item, dry_run).await;
    drop(kept);
    if let (Some(reservation), true) = (&act.reservation, made.is_err() || dry_run) {
        reservation.abandon(&act.cx).await?;
    }
    made
}

/// Returns the digest of an item, by which a repeated item is recognised.
fn print(item: &Value) -> String {
    idempotency::fingerprint("POST", "/api/v1/posts/batch/item", item.to_string().as_bytes())
}

async fn make(act: &Act, item: Value, dry_run: bool) -> Result<Reply> {
    let (mut new, flaws): (NewPost, _) = strict::read_rest(item)?;
    new.dry_run = Some(dry_run || new.dry_run == Some(true));
    create(act, new, flaws).await
}

/// The membership over the item's account, which may be in another workspace than the batch's own.
async fn membership(act: &Act, item: &Value) -> Result<Membership> {
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

fn answer(outcomes: Vec<Result<Reply>>) -> Reply {
    let (mut posts, mut errors) = (Vec::new(), Vec::new());
    let mut all_replayed = true;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(reply) => {
                all_replayed &= reply.replayed;
                let mut item = json!({ "index": index });
                item["post"] = reply.body.get("post").cloned().unwrap_or_default();
                item["warnings"] = reply.body.get("warnings").cloned().unwrap_or_default();
                posts.push(item);
            }
            Err(error) => {
                all_replayed = false;
                errors.push(item_error(index, &error));
            }
        }
    }
    let mut reply = Reply::ok(json!({ "posts": posts, "errors": errors }));
    reply.replayed = all_replayed;
    reply
}

fn item_error(index: usize, error: &Error) -> Value {
    let mut body = error.body();
    body.remove("retryable");
    body.insert("index".into(), index.into());
    body.insert("status".into(), error.status().into());
    Value::Object(body)
}
