//! Creating, changing and listing articles.

use serde_json::Value;

use super::state::{Article, Change, State};
use super::{Cx, access, front_matter, representations};
use crate::metrics::{self, MetricSubject};
use crate::random::{self, BASE62};
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};

/// New articles of a user.
const CREATES: Limit = Limit { name: "creates", units: 10, span_ms: 30_000 };
/// Changes of articles by a user.
const UPDATES: Limit = Limit { name: "updates", units: 30, span_ms: 30_000 };
/// The time for which a title cannot be used again.
const SAME_TITLE_MS: i64 = 5 * 60_000;
pub(super) const TITLE_MAX: usize = 128;
const TAGS_MAX: usize = 4;
/// The values of an AI disclosure.
const AI_LEVELS: [&str; 3] = ["no_ai", "some_ai", "fully_autonomous"];

/// The fields of an article with its metrics.
const COUNTS: [(&str, &str); 3] = [
    ("/public_reactions_count", "likes"),
    ("/comments_count", "comments"),
    ("/page_views_count", "views"),
];

/// `POST /articles`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    check_limit(cx, CREATES)?;
    let given = article_of_body(cx)?;
    let now_ms = cx.now_ms();
    let new = Article { id: cx.sim.env.unique_number(), created_ms: now_ms, ..Article::default() };
    let article = filled(&given, new, now_ms)?;
    let shown = cx.sim.change(&account, |state| {
        check_unique(state, &article, now_ms)?;
        let shown = representations::article(&article, &account.identity, &cx.sim.base());
        Ok((Change::Article(Box::new(article)), shown))
    })?;
    Ok(Reply::json(201, &shown))
}

/// `PUT /articles/{id}`
pub(super) fn update(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    check_limit(cx, UPDATES)?;
    let given = article_of_body(cx)?;
    let id: Option<u64> = cx.call.segment(2).parse().ok();
    let shown = cx.sim.change(&account, |state| {
        let old = id.and_then(|id| state.articles.get(&id)).cloned();
        let old = old.ok_or_else(|| access::failure(404, "not found"))?;
        let article = filled(&given, old, cx.now_ms())?;
        let shown = representations::article(&article, &account.identity, &cx.sim.base());
        Ok((Change::Article(Box::new(article)), shown))
    })?;
    Ok(Reply::ok(&shown))
}

/// `GET /articles/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let id: Option<u64> = cx.call.segment(2).parse().ok();
    let found = cx.sim.all().into_iter().find_map(|account| {
        let article = account.read(|state| state.articles.get(&id?).cloned())?;
        article
            .published
            .then(|| representations::article(&article, &account.identity, &cx.sim.base()))
    });
    found.map(|shown| Reply::ok(&shown)).ok_or_else(|| access::failure(404, "not found"))
}

/// `GET /articles/me`, `GET /articles/me/published`
pub(super) fn published(cx: &Cx) -> HandlerResult {
    list(cx, |article| article.published)
}

/// `GET /articles/me/all`
pub(super) fn all(cx: &Cx) -> HandlerResult {
    list(cx, |_| true)
}

fn list(cx: &Cx, wanted: fn(&Article) -> bool) -> HandlerResult {
    let account = access::account(cx)?;
    let number = |name: &str, default: usize| {
        cx.call.query_value(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (page, size) = (number("page", 1).max(1), number("per_page", 30).clamp(1, 1_000));
    let base = cx.sim.base();
    let mut shown: Vec<_> = account.read(|state| {
        let newest_first = state.articles.values().rev().filter(|article| wanted(article));
        let paged = newest_first.skip((page - 1) * size).take(size);
        paged.map(|article| representations::article(article, &account.identity, &base)).collect()
    });
    for article in &mut shown {
        let id = article["id"].to_string();
        metrics::fill_metrics(&account, MetricSubject::Post(&id), article, &COUNTS)?;
    }
    Ok(Reply::ok(&shown))
}

fn check_limit(cx: &Cx, limit: Limit) -> Result<(), Reply> {
    let account = access::account(cx)?;
    if !cx.sim.env.rate_limits() {
        return Ok(());
    }
    let paced = account.take_units(limit, 1, cx.now_ms());
    let wait = u64::try_from(paced.reset_ms - cx.now_ms()).unwrap_or(0).div_ceil(1_000);
    if paced.allowed { Ok(()) } else { Err(access::too_many(wait)) }
}

/// Returns the object `article` of the body.
fn article_of_body(cx: &Cx) -> Result<Value, Reply> {
    let body = cx.call.json().map_err(|_| access::failure(400, "bad request"))?;
    let missing = || access::failure(400, "param is missing or the value is empty: article");
    body.get("article").filter(|article| article.is_object()).cloned().ok_or_else(missing)
}

fn refused(why: &str) -> Reply {
    access::failure(422, &format!("Validation failed: {why}"))
}

/// Returns the article with the given fields; front matter overrides the others.
fn filled(given: &Value, mut article: Article, now_ms: i64) -> Result<Article, Reply> {
    let text = |name: &str| given[name].as_str().map(str::to_owned);
    article.title = text("title").unwrap_or(article.title);
    article.body = text("body_markdown").unwrap_or(article.body);
    article.published = given["published"].as_bool().unwrap_or(article.published);
    article.description = text("description").unwrap_or(article.description);
    article.canonical_url = text("canonical_url").or(article.canonical_url);
    article.main_image = text("main_image").or(article.main_image);
    article.series = text("series").or(article.series);
    article.organization_id = given["organization_id"].as_i64().or(article.organization_id);
    article.ai_disclosure_level = text("ai_disclosure_level").or(article.ai_disclosure_level);
    match &given["tags"] {
        Value::Array(tags) => {
            article.tags = tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
        }
        Value::String(tags) => article.tags = words(tags),
        _ => {}
    }
    let body = article.body.clone();
    if let Some((pairs, _)) = front_matter::split(&body) {
        for (name, value) in pairs {
            match name.as_str() {
                "title" => article.title = value,
                "published" => article.published = value == "true",
                "description" => article.description = value,
                "tags" => article.tags = words(&value),
                "canonical_url" => article.canonical_url = Some(value),
                "cover_image" => article.main_image = Some(value),
                "series" => article.series = Some(value),
                "ai_disclosure_level" => article.ai_disclosure_level = Some(value),
                _ => {}
            }
        }
    }
    article.title = normalized(&article.title);
    checked(&article)?;
    if article.published && article.published_ms.is_none() {
        article.published_ms = Some(now_ms);
    }
    if article.slug.is_empty() {
        article.slug = slug(&article.title);
    }
    Ok(article)
}

/// Returns a title as Forem keeps it: what is no letter, digit, usual sign, currency, picture or part of one becomes a
/// blank, and white space is folded.
fn normalized(title: &str) -> String {
    let is_kept = |sign: char| {
        sign.is_alphanumeric()
            || sign.is_ascii_punctuation()
            || matches!(
                sign,
                '\u{a1}'..='\u{bf}'
                    | '\u{300}'..='\u{36f}'
                    | '\u{200c}'..='\u{200f}'
                    | '\u{2010}'..='\u{205e}'
                    | '\u{20a0}'..='\u{20cf}'
                    | '\u{2122}'
                    | '\u{2194}'..='\u{2199}'
                    | '\u{2600}'..='\u{27bf}'
                    | '\u{3000}'..='\u{303f}'
                    | '\u{fe0f}'
                    | '\u{1f000}'..='\u{1faff}'
            )
    };
    let plain: String = title.chars().map(|sign| if is_kept(sign) { sign } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

fn checked(article: &Article) -> Result<(), Reply> {
    if article.title.trim().is_empty() {
        return Err(refused("Title can't be blank"));
    }
    if article.title.chars().count() > TITLE_MAX {
        return Err(refused(&format!("Title is too long (maximum is {TITLE_MAX} characters)")));
    }
    if article.tags.len() > TAGS_MAX {
        return Err(refused(&format!("Tag list exceed the maximum of {TAGS_MAX} tags")));
    }
    let plain = |tag: &&String| !tag.chars().all(char::is_alphanumeric) || tag.len() > 30;
    if let Some(tag) = article.tags.iter().find(plain) {
        let why =
            format!("Tag \"{tag}\" contains non-alphanumeric or prohibited unicode characters");
        return Err(refused(&why));
    }
    let level = article.ai_disclosure_level.as_deref();
    if let Some(level) = level.filter(|level| !AI_LEVELS.contains(level)) {
        return Err(refused(&format!("'{level}' is not a valid ai_disclosure_level")));
    }
    let is_web = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    if article.canonical_url.as_ref().is_some_and(|url| !is_web(url)) {
        return Err(refused("Canonical url must be a valid URL"));
    }
    if article.main_image.as_ref().is_some_and(|url| !is_web(url)) {
        return Err(refused("Main image is not a valid URL"));
    }
    Ok(())
}

/// Checks that no other article has the same address or, for five minutes, the same title.
fn check_unique(state: &State, article: &Article, now_ms: i64) -> Result<(), Reply> {
    let mut others = state.articles.values();
    let address = article.canonical_url.as_ref();
    if address.is_some() && others.clone().any(|other| other.canonical_url.as_ref() == address) {
        return Err(refused(
            "Canonical url has already been taken. Email yo@dev.to for further details.",
        ));
    }
    let same =
        |other: &Article| other.title == article.title && now_ms - other.created_ms < SAME_TITLE_MS;
    if others.any(same) {
        return Err(refused("Title has already been used in the last five minutes"));
    }
    Ok(())
}

/// Returns a new slug for a title.
pub(super) fn slug(title: &str) -> String {
    let words = title.to_lowercase();
    let words: Vec<_> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let end = random::text(BASE62, 4).to_lowercase();
    if words.is_empty() { end } else { format!("{}-{end}", words.join("-")) }
}
