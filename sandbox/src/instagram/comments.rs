//! Comments below posts.

use serde_json::{Value, json};

use super::content::invalid_parameter;
use super::state::{Change, Comment};
use super::{Cx, first, id, inbox, params};
use crate::graph::lists::{self, Size};
use crate::graph::{self, access, failure, fields};
use crate::reply::{HandlerResult, Reply};

/// Longest comment.
const COMMENT: usize = 2_200;

/// `POST /{media}/comments`
pub(super) fn post(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let text = params(cx)?.filled("message");
    let text = text.ok_or_else(|| invalid_parameter("The parameter message is required"))?;
    if text.chars().count() > COMMENT {
        return Err(invalid_parameter("Param message must be at most 2200 characters long"));
    }
    let (named, id, at_ms) = (first(cx), id(cx), cx.now_ms());
    cx.sim.change(&account, |state| {
        let media = named.parse().ok().filter(|id| state.made.posts.contains_key(id));
        let media = media.ok_or_else(|| failure::missing(&named))?;
        Ok((Change::Comment(Comment { id, at_ms, media, text }), ()))
    })?;
    Ok(Reply::ok(&json!({"id": id.to_string()})))
}

/// `GET /{media}/comments`, newest first.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    const SIZE: Size = Size { usual: 50, most: 50 };
    let account = access::page(cx)?;
    let named = first(cx);
    let missing = || failure::missing(&named);
    let media: u64 = named.parse().map_err(|_| missing())?;
    let view = |comment: &Comment| {
        json!({
            "id": comment.id.to_string(),
            "text": comment.text,
            "timestamp": graph::time(comment.at_ms),
            "username": account.identity.username,
            "hidden": false,
            "like_count": 0,
        })
    };
    account.read(|state| {
        if !state.made.posts.contains_key(&media) {
            return Err(missing());
        }
        let own = state.comments.values().filter(|comment| comment.media == media).map(view);
        let mut all: Vec<Value> = own.chain(inbox::on_post(state, media)).collect();
        let id = |one: &Value| one["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or(0);
        all.sort_by_key(|one| std::cmp::Reverse(id(one)));
        let show = |one: &Value| {
            fields::pick(&cx.call, one, &["from", "replies", "parent_id"], "IGComment")
        };
        lists::page(cx, SIZE, all.iter(), id, show)
    })
}
