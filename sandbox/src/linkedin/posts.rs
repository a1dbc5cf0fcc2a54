//! Creating, reading and deleting posts.

use serde_json::{Value, json};

use super::state::{Change, Published, State};
use super::{Cx, access, content, count_request, failure, urn_of};
use crate::reply::{HandlerResult, Reply};

/// The time for which the same text counts as a duplicate, in milliseconds.
const DUPLICATE_MS: i64 = 10 * 60_000;

/// `POST /rest/posts`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let post = cx.call.json().map_err(|_| failure::malformed("The body is no JSON"))?;
    let author =
        post["author"].as_str().ok_or_else(|| failure::invalid("author", "is required"))?;
    let account = access::author(cx, author, "POST /posts")?;
    count_request(cx, &account)?;
    let (now_ms, ids) = (cx.now_ms(), account.behaviour().ids);
    let urn = cx.sim.change(&account, |state| {
        let shown = content::read(state, &post, author, now_ms)?;
        let commentary = post["commentary"].as_str().unwrap_or_default();
        if let Some(earlier) = duplicate(state, author, commentary, now_ms) {
            let message = format!("Content is a duplicate of {}", earlier.urn);
            return Err(failure::error(422, "DUPLICATE_POST", &message));
        }
        let number = number(cx, now_ms);
        let kind = if shown.is_video { "ugcPost" } else { "share" };
        let kind = ids.object.as_deref().unwrap_or(kind);
        let post = Published {
            urn: format!("urn:li:{kind}:{number}"),
            author: author.to_owned(),
            at_ms: now_ms,
            commentary: commentary.to_owned(),
            text: shown.text,
            media: shown.media,
            extra: shown.extra,
        };
        let urn = post.urn.clone();
        Ok((Change::Published { number, post }, urn))
    })?;
    Ok(Reply::empty(201).with("x-restli-id", &urn).with("x-linkedin-id", &urn))
}

/// Returns a new number. LinkedIn's numbers begin with their time in milliseconds.
fn number(cx: &Cx, now_ms: i64) -> u64 {
    (now_ms.unsigned_abs() << 22) | (cx.sim.env.unique_number() & 0x3f_ffff)
}

fn duplicate<'a>(
    state: &'a State,
    author: &str,
    commentary: &str,
    now_ms: i64,
) -> Option<&'a Published> {
    let recent = state.posts.values().rev().filter(|post| now_ms - post.at_ms < DUPLICATE_MS);
    let mut same = recent.filter(|post| post.author == author && post.commentary == commentary);
    same.find(|post| !post.commentary.is_empty())
}

fn view(post: &Published) -> Value {
    let mut view = json!({
        "id": post.urn,
        "commentary": post.commentary,
        "createdAt": post.at_ms,
        "publishedAt": post.at_ms,
        "lastModifiedAt": post.at_ms,
        "lifecycleState": "PUBLISHED",
    });
    for (name, value) in &post.extra {
        view[name] = value.clone();
    }
    view
}

/// Returns a post as one that has a name of this kind.
fn with_kind(mut view: Value, kind: Option<&str>) -> Value {
    let number = view["id"].as_str().and_then(|urn| urn.rsplit(':').next().map(str::to_owned));
    if let Some((kind, number)) = kind.zip(number) {
        view["id"] = json!(format!("urn:li:{kind}:{number}"));
    }
    view
}

/// `GET /rest/posts?q=author&author=…`: an organization's posts, latest first. A member's cannot be read.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let author = cx.call.query_value("author").unwrap_or_default();
    if cx.call.query_value("q").as_deref() != Some("author") {
        return Err(failure::malformed("No such finder"));
    }
    let account = reader(cx, &author)?;
    let query = |name: &str, usual: usize| {
        cx.call.query_value(name).and_then(|n| n.parse().ok()).unwrap_or(usual)
    };
    let kind = account.behaviour().ids.post;
    let (start, count) = (query("start", 0), query("count", 10).min(100));
    let elements: Vec<Value> = account.read(|state| {
        let posts = state.posts.values().rev().filter(|post| post.author == author);
        let posts = posts.skip(start).take(count).map(view);
        posts.map(|view| with_kind(view, kind.as_deref())).collect()
    });
    Ok(Reply::ok(
        &json!({"elements": elements, "paging": {"start": start, "count": count, "links": []}}),
    ))
}

/// `GET /rest/posts/{urn}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let urn = urn_of(cx, 2);
    let (account, _) = access::account(cx)?;
    let post = account.read(|state| state.posts.values().find(|post| post.is_named(&urn)).cloned());
    let post = post.ok_or_else(|| failure::missing(&urn))?;
    reader(cx, &post.author)?;
    Ok(Reply::ok(&view(&post)))
}

/// Returns the account, if it may read the posts of `author`.
fn reader(
    cx: &Cx,
    author: &str,
) -> Result<std::sync::Arc<crate::sim::Account<super::Linkedin>>, Reply> {
    let account = access::account_with_scope(cx, &["r_organization_social"], "GET /posts")?;
    if author == access::page(&account.identity) {
        return Ok(account);
    }
    Err(failure::denied("Not enough permissions to access: partnerApiPosts.FINDER-author"))
}

/// `DELETE /rest/posts/{urn}`: succeeds even if the post does not exist.
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let urn = urn_of(cx, 2);
    let (account, _) = access::account(cx)?;
    let found = account.read(|state| {
        state.posts.iter().find(|(_, post)| post.is_named(&urn)).map(|(number, _)| *number)
    });
    if let Some(number) = found {
        cx.sim.apply(&account, Change::Deleted { number });
    }
    Ok(Reply::empty(204))
}

/// `GET /feed/update/{urn}`: the post as people see it.
pub(super) fn page(cx: &Cx) -> HandlerResult {
    let urn = urn_of(cx, 2);
    let is_owner = |account: &std::sync::Arc<crate::sim::Account<super::Linkedin>>| {
        account.read(|state| state.posts.values().any(|post| post.is_named(&urn)))
    };
    let owner = cx.sim.all().into_iter().find(is_owner).ok_or_else(|| failure::missing(&urn))?;
    let place = format!("{}/ui/{}/{urn}", cx.sim.pages(), owner.identity.remote_id);
    Ok(Reply::empty(302).with("location", place))
}
