//! Reads of repositories. None of them needs a token.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::Record;
use super::{Bluesky, Cx, failure, invalid, param, session};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const LIST: usize = 100;
const LIST_DEFAULT: usize = 50;

fn repo(cx: &Cx) -> Result<Arc<Account<Bluesky>>, Reply> {
    let repo = param(&cx.call, "repo")?;
    let found = cx.sim.find(&repo.to_ascii_lowercase());
    found.ok_or_else(|| invalid(&format!("Could not find repo: {repo}")))
}

fn shown(did: &str, collection: &str, rkey: &str, record: &Record) -> Value {
    json!({"uri": format!("at://{did}/{collection}/{rkey}"), "cid": record.cid, "value": record.value})
}

/// `com.atproto.identity.resolveHandle`
pub(super) fn resolve_handle(cx: &Cx) -> HandlerResult {
    let handle = param(&cx.call, "handle")?.to_ascii_lowercase();
    let account = cx.sim.find(&handle).filter(|account| account.identity.username == handle);
    let account = account.ok_or_else(|| invalid("Unable to resolve handle"))?;
    Ok(Reply::ok(&json!({"did": account.identity.remote_id})))
}

/// `com.atproto.repo.getRecord`
pub(super) fn get_record(cx: &Cx) -> HandlerResult {
    let account = repo(cx)?;
    let (collection, rkey) = (param(&cx.call, "collection")?, param(&cx.call, "rkey")?);
    let did = &account.identity.remote_id;
    let wanted = cx.call.query_value("cid");
    let found = account.read(|state| {
        let record = state
            .record(&collection, &rkey)
            .filter(|record| wanted.as_ref().is_none_or(|cid| *cid == record.cid))?;
        Some(shown(did, &collection, &rkey, record))
    });
    let missing = || {
        failure(
            400,
            "RecordNotFound",
            &format!("Could not locate record: at://{did}/{collection}/{rkey}"),
        )
    };
    Ok(Reply::ok(&found.ok_or_else(missing)?))
}

/// `com.atproto.repo.listRecords`
pub(super) fn list_records(cx: &Cx) -> HandlerResult {
    let account = repo(cx)?;
    let collection = param(&cx.call, "collection")?;
    let limit = match cx.call.query_value("limit").map(|limit| limit.parse()) {
        None => LIST_DEFAULT,
        Some(Ok(limit)) if (1..=LIST).contains(&limit) => limit,
        Some(_) => return Err(invalid("limit must be an integer from 1 to 100")),
    };
    let cursor = cx.call.query_value("cursor");
    let oldest_first = cx.call.query_value("reverse").as_deref() == Some("true");
    let did = &account.identity.remote_id;
    let records: Vec<(String, Value)> = account.read(|state| {
        let pick = |(rkey, record): (&String, &Record)| {
            (rkey.clone(), shown(did, &collection, rkey, record))
        };
        let records = state.collection(&collection);
        if oldest_first {
            records
                .filter(|(rkey, _)| cursor.as_ref().is_none_or(|c| *rkey > c))
                .take(limit)
                .map(pick)
                .collect()
        } else {
            records
                .rev()
                .filter(|(rkey, _)| cursor.as_ref().is_none_or(|c| *rkey < c))
                .take(limit)
                .map(pick)
                .collect()
        }
    });
    let cursor =
        (records.len() == limit).then(|| records.last().map(|(rkey, _)| rkey.clone())).flatten();
    let records: Vec<_> = records.into_iter().map(|(_, record)| record).collect();
    let mut reply = json!({"records": records});
    if let Some(cursor) = cursor {
        reply["cursor"] = json!(cursor);
    }
    Ok(Reply::ok(&reply))
}

/// `com.atproto.repo.describeRepo`
pub(super) fn describe_repo(cx: &Cx) -> HandlerResult {
    let account = repo(cx)?;
    let identity = &account.identity;
    let collections: Vec<_> = account.read(|state| state.records.keys().cloned().collect());
    Ok(Reply::ok(&json!({
        "handle": identity.username,
        "did": identity.remote_id,
        "didDoc": session::did_document(cx, identity),
        "collections": collections,
        "handleIsCorrect": true,
    })))
}
