//! Writes to a repository. One call is one commit, which is atomic.

use serde_json::{Map, Value, json};

use super::state::{Change, Op, State};
use super::{Cx, cid, embed, failure, input, invalid, lexicon, session, syntax, text, too_many};
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};

const WRITES: usize = 200;
/// <https://docs.bsky.app/docs/advanced-guides/rate-limits>: a create costs 3, an update 2, a delete 1.
const POINTS: [Limit; 2] = [
    Limit { name: "points-hour", units: 5_000, span_ms: 3_600_000 },
    Limit { name: "points-day", units: 35_000, span_ms: 86_400_000 },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Create,
    Update,
    /// Create or update.
    Put,
    Delete,
}

/// A requested write.
struct RequestedWrite {
    action: Action,
    collection: String,
    rkey: String,
    value: Option<Value>,
}

/// An applied write.
struct AppliedWrite {
    uri: String,
    cid: String,
    status: &'static str,
    action: Action,
    unchanged: bool,
}

/// `com.atproto.repo.createRecord`
pub(super) fn create_record(cx: &Cx) -> HandlerResult {
    let input = input(&cx.call)?;
    let wish = requested_write(cx, Action::Create, &input, "record")?;
    let (rev, made) = commit(cx, &input, vec![wish])?;
    Ok(Reply::ok(&one(&rev, &made)))
}

/// `com.atproto.repo.putRecord`
pub(super) fn put_record(cx: &Cx) -> HandlerResult {
    let input = input(&cx.call)?;
    text(&input, "rkey")?;
    let wish = requested_write(cx, Action::Put, &input, "record")?;
    let (rev, made) = commit(cx, &input, vec![wish])?;
    Ok(Reply::ok(&one(&rev, &made)))
}

/// `com.atproto.repo.deleteRecord`
pub(super) fn delete_record(cx: &Cx) -> HandlerResult {
    let input = input(&cx.call)?;
    let (collection, rkey) = (text(&input, "collection")?, text(&input, "rkey")?);
    let account = session::access(cx)?;
    if account.read(|state| state.record(collection, rkey).is_none()) {
        return Ok(Reply::ok(&json!({})));
    }
    let wish = requested_write(cx, Action::Delete, &input, "record")?;
    let (rev, _) = commit(cx, &input, vec![wish])?;
    Ok(Reply::ok(&json!({"commit": commit_of(&rev)})))
}

/// `com.atproto.repo.applyWrites`
pub(super) fn apply_writes(cx: &Cx) -> HandlerResult {
    let input = input(&cx.call)?;
    let writes = input.get("writes").and_then(Value::as_array);
    let writes = writes.ok_or_else(|| invalid("Input must have the property \"writes\""))?;
    if writes.len() > WRITES {
        return Err(invalid("Too many writes. Max: 200"));
    }
    let mut wishes = Vec::with_capacity(writes.len());
    for write in writes {
        let write = write.as_object().ok_or_else(|| invalid("Input/writes must be objects"))?;
        let action = match write.get("$type").and_then(Value::as_str).unwrap_or_default() {
            "com.atproto.repo.applyWrites#create" => Action::Create,
            "com.atproto.repo.applyWrites#update" => Action::Update,
            "com.atproto.repo.applyWrites#delete" => Action::Delete,
            kind => return Err(invalid(&format!("Action not supported: {kind}"))),
        };
        wishes.push(requested_write(cx, action, write, "value")?);
    }
    let (rev, made) = commit(cx, &input, wishes)?;
    let results: Vec<_> = made.iter().map(result).collect();
    Ok(Reply::ok(&json!({"commit": commit_of(&rev), "results": results})))
}

fn result(made: &AppliedWrite) -> Value {
    match made.action {
        Action::Delete => json!({"$type": "com.atproto.repo.applyWrites#deleteResult"}),
        action => {
            let kind = if action == Action::Create { "createResult" } else { "updateResult" };
            let kind = format!("com.atproto.repo.applyWrites#{kind}");
            json!({"$type": kind, "uri": made.uri, "cid": made.cid, "validationStatus": made.status})
        }
    }
}

fn one(rev: &str, made: &[AppliedWrite]) -> Value {
    let Some(made) = made.first() else {
        return json!({});
    };
    let mut reply = json!({"uri": made.uri, "cid": made.cid, "validationStatus": made.status});
    if !made.unchanged {
        reply["commit"] = commit_of(rev);
    }
    reply
}

fn commit_of(rev: &str) -> Value {
    json!({"cid": cid::of_record(&json!({"rev": rev})).unwrap_or_default(), "rev": rev})
}

fn requested_write(
    cx: &Cx,
    action: Action,
    write: &Map<String, Value>,
    field: &str,
) -> Result<RequestedWrite, Reply> {
    let collection = text(write, "collection")?.to_owned();
    if !syntax::is_nsid(&collection) {
        return Err(invalid("Input/collection must be a valid nsid"));
    }
    let rkey = match write.get("rkey") {
        Some(Value::String(rkey)) => rkey.clone(),
        None | Some(Value::Null) if action == Action::Create => {
            syntax::tid(cx.sim.env.unique_number())
        }
        _ => text(write, "rkey")?.to_owned(),
    };
    if !syntax::is_record_key(&rkey) {
        return Err(invalid("Input/rkey must be a valid Record Key"));
    }
    if lexicon::keyed_by_time(&collection) && !syntax::is_tid(&rkey) && action != Action::Delete {
        return Err(invalid(&format!(
            "Invalid record key for {collection}: expected a tid, got {rkey:?}"
        )));
    }
    let mut value = match (action, write.get(field)) {
        (Action::Delete, _) => None,
        (_, Some(Value::Object(record))) => Some(record.clone()),
        (_, Some(_)) => return Err(invalid(&format!("Input/{field} must be an object"))),
        (_, None) => {
            return Err(invalid(&format!("Input must have the property \"{field}\"")));
        }
    };
    if let Some(record) = &mut value {
        record.entry("$type").or_insert_with(|| json!(collection));
    }
    Ok(RequestedWrite { action, collection, rkey, value: value.map(Value::Object) })
}

/// Validates the writes and applies them as one commit. Returns the new revision and the applied writes.
fn commit(
    cx: &Cx,
    input: &Map<String, Value>,
    wishes: Vec<RequestedWrite>,
) -> Result<(String, Vec<AppliedWrite>), Reply> {
    let account = session::access(cx)?;
    let identity = &account.identity;
    let repo = text(input, "repo")?;
    if repo != identity.remote_id && !repo.eq_ignore_ascii_case(&identity.username) {
        return Err(match cx.sim.find(&repo.to_ascii_lowercase()) {
            Some(_) => failure(401, "AuthenticationRequired", "Authentication Required"),
            None => invalid(&format!("Could not find repo: {repo}")),
        });
    }
    let now_ms = cx.now_ms();
    if cx.sim.env.rate_limits() {
        let cost = wishes.iter().map(|w| match w.action {
            Action::Create | Action::Put => 3,
            Action::Update => 2,
            Action::Delete => 1,
        });
        let cost = cost.sum();
        let full = POINTS
            .iter()
            .map(|limit| account.take_units(*limit, cost, now_ms))
            .find(|paced| !paced.allowed);
        if let Some(paced) = full {
            return Err(too_many(now_ms, paced.reset_ms));
        }
    }
    let rev = syntax::tid(cx.sim.env.unique_number());
    let validate = input.get("validate").and_then(Value::as_bool);
    let made = cx.sim.change(&account, |state| {
        swap(state, input, &wishes)?;
        let (mut ops, mut made) = (Vec::new(), Vec::new());
        for wish in wishes {
            let (op, result) = one_write(state, &ops, wish, validate, &identity.remote_id, now_ms)?;
            ops.extend(op);
            made.push(result);
        }
        Ok((Change::Commit { rev: rev.clone(), at_ms: now_ms, ops }, made))
    })?;
    Ok((rev, made))
}

/// `swapRecord` and `swapCommit`: fails unless the repository is as the client expects.
fn swap(state: &State, input: &Map<String, Value>, wishes: &[RequestedWrite]) -> Result<(), Reply> {
    if let (Some(expected), Some(wish)) = (input.get("swapRecord"), wishes.first()) {
        let now = state.record(&wish.collection, &wish.rkey).map(|record| record.cid.as_str());
        if expected.as_str() != now {
            return Err(failure(
                400,
                "InvalidSwap",
                &format!("Record was at {}", now.unwrap_or("null")),
            ));
        }
    }
    if let Some(expected) = input.get("swapCommit").and_then(Value::as_str) {
        let now = commit_of(&state.rev);
        if now["cid"] != expected {
            return Err(failure(400, "InvalidSwap", &format!("Commit was at {}", now["cid"])));
        }
    }
    Ok(())
}

fn one_write(
    state: &State,
    before: &[Op],
    wish: RequestedWrite,
    validate: Option<bool>,
    did: &str,
    now_ms: i64,
) -> Result<(Option<Op>, AppliedWrite), Reply> {
    let RequestedWrite { action, collection, rkey, value } = wish;
    let in_batch = before.iter().rev().find_map(|op| match op {
        Op::Put { collection: c, rkey: r, cid, .. } if *c == collection && *r == rkey => {
            Some(Some(cid.as_str()))
        }
        Op::Delete { collection: c, rkey: r } if *c == collection && *r == rkey => Some(None),
        _ => None,
    });
    let present = in_batch
        .unwrap_or_else(|| state.record(&collection, &rkey).map(|record| record.cid.as_str()));
    // The reference PDS throws an exception here, which a client sees as a plain 500.
    if (action == Action::Create) == present.is_some() && action != Action::Put {
        return Err(failure(500, "InternalServerError", "Internal Server Error"));
    }
    let uri = format!("at://{did}/{collection}/{rkey}");
    let Some(value) = value else {
        let made = AppliedWrite { uri, cid: String::new(), status: "", action, unchanged: false };
        return Ok((Some(Op::Delete { collection, rkey }), made));
    };
    let status = check(&collection, &value, validate)?;
    blobs(state, &value, now_ms)?;
    let cid = cid::of_record(&value).map_err(invalid)?;
    let unchanged = present == Some(cid.as_str());
    let made = AppliedWrite { uri, cid: cid.clone(), status, action, unchanged };
    let op = (!unchanged).then_some(Op::Put { collection, rkey, cid, value });
    Ok((op, made))
}

fn check(collection: &str, value: &Value, validate: Option<bool>) -> Result<&'static str, Reply> {
    let record = value.as_object().ok_or_else(|| invalid("Input/record must be an object"))?;
    if validate == Some(false) {
        return Ok("unknown");
    }
    match lexicon::check(collection, record).map_err(|flaw| invalid(&flaw))? {
        true => Ok("valid"),
        false if validate == Some(true) => {
            Err(invalid(&format!("Lexicon not found: lex:{collection}")))
        }
        false => Ok("unknown"),
    }
}

/// Checks that a record references only uploaded blobs, with their real type and size.
fn blobs(state: &State, value: &Value, now_ms: i64) -> Result<(), Reply> {
    for named in embed::named(value) {
        let blob = state.blobs.get(&named.cid).filter(|blob| blob.ready_ms <= now_ms);
        let blob = blob.ok_or_else(|| {
            failure(400, "BlobNotFound", &format!("Could not find blob: {}", named.cid))
        })?;
        if blob.size > named.most {
            let message = format!(
                "This file is too large. It is {} but the maximum size is {}.",
                blob.size, named.most
            );
            return Err(failure(400, "BlobTooLarge", &message));
        }
        if blob.mime != named.mime {
            let message = format!(
                "Referenced Mimetype does not match stored blob. Expected: {}, Got: {}",
                blob.mime, named.mime
            );
            return Err(failure(400, "InvalidMimeType", &message));
        }
        if !embed::accepted(&blob.mime, named.accepts) {
            let message = format!(
                "Wrong type of file. It is {} but it must match {}.",
                blob.mime, named.accepts
            );
            return Err(failure(400, "InvalidMimeType", &message));
        }
        if blob.size != named.size {
            let message = format!(
                "Referenced size does not match stored blob. Expected: {}, Got: {}",
                blob.size, named.size
            );
            return Err(failure(400, "InvalidSize", &message));
        }
    }
    Ok(())
}
