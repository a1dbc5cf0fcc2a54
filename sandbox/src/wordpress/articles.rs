//! Creating, reading, changing and deleting articles.

use chrono::NaiveDateTime;
use serde_json::json;

use super::state::{Article, Change, State, Taxonomy};
use super::{Cx, representations, rest, slug};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

const STATUSES: [&str; 5] = ["publish", "future", "draft", "pending", "private"];
const NOT_ALLOWED: &str = "Sorry, you are not allowed to create posts as this user.";

/// `POST /posts`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let account = rest::editor(cx, "rest_cannot_create", NOT_ALLOWED)?;
    let params = rest::params(cx)?;
    if params.text("id").is_some() {
        return Err(rest::failure(400, "rest_post_exists", "Cannot create existing post."));
    }
    let now_ms = cx.now_ms();
    let author = rest::user_id(&account.identity);
    let base = cx.sim.base();
    let (shown, link) = cx.sim.change(&account, |state| {
        let new = Article {
            id: state.last_id + 1,
            author,
            status: "draft".into(),
            date_ms: now_ms,
            comment_status: "open".into(),
            format: "standard".into(),
            ..Article::default()
        };
        let article = filled(state, &params, new, now_ms)?;
        if article.title.is_empty() && article.content.is_empty() && article.excerpt.is_empty() {
            return Err(rest::failure(
                400,
                "empty_content",
                "Content, title, and excerpt are empty.",
            ));
        }
        let shown = representations::article(state, &article, &base, true);
        let link = format!("{base}/wp-json/wp/v2/posts/{}", article.id);
        Ok((Change::Article(Box::new(article)), (shown, link)))
    })?;
    Ok(Reply::json(201, &shown).with("location", link))
}

/// `GET /posts/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let raw = rest::edits(cx)?;
    let user = rest::user(cx)?;
    let id = rest::id(cx).ok_or_else(unknown)?;
    let base = cx.sim.base();
    let found = cx.sim.read_shared(|state| {
        let article = state.articles.get(&id)?;
        Some((article.status == "publish", representations::article(state, article, &base, raw)))
    });
    let (public, article) = found.ok_or_else(unknown)?;
    if !public && user.is_none() {
        return Err(rest::failure(401, "rest_forbidden", "Sorry, you are not allowed to do that."));
    }
    Ok(Reply::ok(&rest::fields(&cx.call, article)))
}

/// `POST /posts/{id}`
pub(super) fn update(cx: &Cx) -> HandlerResult {
    let account =
        rest::editor(cx, "rest_cannot_edit", "Sorry, you are not allowed to edit this post.")?;
    let params = rest::params(cx)?;
    let id = rest::id(cx).ok_or_else(unknown)?;
    let now_ms = cx.now_ms();
    let base = cx.sim.base();
    let shown = cx.sim.change(&account, |state| {
        let old = state.articles.get(&id).cloned().ok_or_else(unknown)?;
        let article = filled(state, &params, old, now_ms)?;
        let shown = representations::article(state, &article, &base, true);
        Ok((Change::Article(Box::new(article)), shown))
    })?;
    Ok(Reply::ok(&shown))
}

/// `DELETE /posts/{id}`: moves it to the trash, or deletes it with `force`.
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account =
        rest::editor(cx, "rest_cannot_delete", "Sorry, you are not allowed to delete this post.")?;
    let id = rest::id(cx).ok_or_else(unknown)?;
    let force = rest::params(cx)?.flag("force");
    let base = cx.sim.base();
    let reply = cx.sim.change(&account, |state| {
        let mut article = state.articles.get(&id).cloned().ok_or_else(unknown)?;
        if force {
            let previous = representations::article(state, &article, &base, true);
            return Ok((Change::Deleted { id }, json!({"deleted": true, "previous": previous})));
        }
        if article.status == "trash" {
            return Err(rest::failure(
                410,
                "rest_already_trashed",
                "The post has already been deleted.",
            ));
        }
        article.status = "trash".into();
        article.slug.push_str("__trashed");
        let shown = representations::article(state, &article, &base, true);
        Ok((Change::Article(Box::new(article)), shown))
    })?;
    Ok(Reply::ok(&reply))
}

fn unknown() -> Reply {
    rest::failure(404, "rest_post_invalid_id", "Invalid post ID.")
}

/// Returns the article with the given parameters.
fn filled(
    state: &State,
    params: &Params,
    mut article: Article,
    now_ms: i64,
) -> Result<Article, Reply> {
    if let Some(status) = params.text("status") {
        if !STATUSES.contains(&status.as_str()) {
            return Err(rest::invalid(
                "status",
                "status is not one of publish, future, draft, pending, and private.",
            ));
        }
        article.status = status;
    }
    // Each may be a text, or an object with the text as `raw`.
    for (name, field) in [
        ("title", &mut article.title),
        ("content", &mut article.content),
        ("excerpt", &mut article.excerpt),
    ] {
        if let Some(text) = raw(params, name) {
            *field = text;
        }
    }
    date(params, &mut article, now_ms)?;
    if let Some(id) = params.text("featured_media") {
        let id = id.parse().ok().filter(|id| *id == 0 || state.media.contains_key(id));
        let refused =
            || rest::failure(400, "rest_invalid_featured_media", "Invalid featured media ID.");
        article.featured_media = id.ok_or_else(refused)?;
    }
    terms(state, params, &mut article);
    article.sticky = params.text("sticky").map_or(article.sticky, |_| params.flag("sticky"));
    if let Some(open) = params.text("comment_status") {
        if !matches!(open.as_str(), "open" | "closed") {
            return Err(rest::invalid(
                "comment_status",
                "comment_status is not one of open and closed.",
            ));
        }
        article.comment_status = open;
    }
    if let Some(format) = params.filled("format") {
        article.format = format;
    }
    address(state, params, &mut article);
    article.modified_ms = now_ms;
    Ok(article)
}

fn raw(params: &Params, name: &str) -> Option<String> {
    match params.json(name) {
        Some(Ok(value)) if value.is_object() => value["raw"].as_str().map(str::to_owned),
        _ => params.text(name),
    }
}

fn terms(state: &State, params: &Params, article: &mut Article) {
    let lists = [
        ("categories", Taxonomy::Category, &mut article.categories),
        ("tags", Taxonomy::PostTag, &mut article.tags),
    ];
    for (name, taxonomy, list) in lists {
        if !params.has(name) {
            continue;
        }
        // An unknown term is ignored without an error.
        let known = |id: &u64| state.terms.get(id).is_some_and(|term| term.taxonomy == taxonomy);
        *list = params
            .integers(name)
            .into_iter()
            .filter_map(|id| u64::try_from(id).ok())
            .filter(known)
            .collect();
    }
    if article.categories.is_empty() {
        article.categories = vec![1];
    }
}

fn date(params: &Params, article: &mut Article, now_ms: i64) -> Result<(), Reply> {
    // The site's zone is UTC, so both fields mean the same.
    for name in ["date_gmt", "date"] {
        let Some(text) = params.filled(name) else { continue };
        let whole = text.trim_end_matches('Z');
        let parsed = NaiveDateTime::parse_from_str(whole, "%Y-%m-%dT%H:%M:%S%.f")
            .map(|date| date.and_utc().timestamp_millis());
        let parsed = parsed.or_else(|_| {
            chrono::DateTime::parse_from_rfc3339(&text).map(|date| date.timestamp_millis())
        });
        article.date_ms = parsed.map_err(|_| rest::invalid(name, "Invalid date."))?;
    }
    match article.status.as_str() {
        "publish" if article.date_ms > now_ms => article.status = "future".into(),
        "future" if article.date_ms <= now_ms => article.status = "publish".into(),
        _ => {}
    }
    Ok(())
}

fn address(state: &State, params: &Params, article: &mut Article) {
    if let Some(wanted) = params.text("slug") {
        article.slug = slug::sanitized(&wanted);
    }
    // Drafts keep the given slug; only visible articles get a unique one.
    if matches!(article.status.as_str(), "draft" | "pending") {
        return;
    }
    if article.slug.is_empty() {
        article.slug = slug::sanitized(&article.title);
    }
    if article.slug.is_empty() {
        article.slug = article.id.to_string();
    }
    article.slug = slug::unique(state, std::mem::take(&mut article.slug), article.id);
}
