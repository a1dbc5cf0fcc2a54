//! Publishing an article.

use serde_json::{Value, json};

use super::operation::failure;
use super::state::{Article, Change, State};
use super::{Cx, HEX, Hashnode, representations};
use crate::random;
use crate::reply::Reply;
use crate::sim::Account;

const TAGS_MAX: usize = 15;

/// Fields of `PublishPostInput`.
const FIELDS: [&str; 19] = [
    "publicationId",
    "title",
    "contentMarkdown",
    "subtitle",
    "slug",
    "coverImage",
    "tags",
    "originalArticleURL",
    "metaTitle",
    "metaDescription",
    "ogImage",
    "disableComments",
    "seriesId",
    "publishedAt",
    "coAuthors",
    "publishAs",
    "settings",
    "bannerImageOptions",
    "disableSlugChange",
];

fn invalid(why: &str) -> Reply {
    failure(200, "BAD_USER_INPUT", why)
}

/// `publishPost(input)`
pub(super) fn publish(cx: &Cx, account: &Account<Hashnode>, input: &Value) -> Result<Value, Reply> {
    checked(input)?;
    if input["publicationId"] != account.identity.private("publication_id") {
        return Err(failure(200, "NOT_FOUND", "Publication not found"));
    }
    let text = |name: &str| input[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let tags = input["tags"].as_array().cloned().unwrap_or_default();
    let tag = |tag: &Value| {
        let slug = tag["slug"].as_str().unwrap_or_default();
        (slug.to_owned(), tag["name"].as_str().unwrap_or(slug).to_owned())
    };
    let article = Article {
        id: random::text(HEX, 24),
        title: text("title").unwrap_or_default(),
        subtitle: text("subtitle"),
        markdown: text("contentMarkdown").unwrap_or_default(),
        cover_image: text("coverImage"),
        tags: tags.iter().map(tag).collect(),
        original_url: text("originalArticleURL"),
        meta_title: text("metaTitle"),
        meta_description: text("metaDescription"),
        disable_comments: input["disableComments"] == true,
        published_ms: cx.now_ms(),
        slug: String::new(),
    };
    let base = cx.sim.base();
    cx.sim.change(account, |state| {
        let article = Article { slug: address(state, text("slug"), &article.title), ..article };
        let shown = representations::article(&article, &account.identity, &base);
        Ok((Change::Published(Box::new(article)), json!({ "post": shown })))
    })
}

/// Returns the requested slug or that of the title; with a suffix if another article has it.
pub(super) fn address(state: &State, wanted: Option<String>, title: &str) -> String {
    let slug = wanted.unwrap_or_else(|| slugify(title));
    let is_taken = state.articles.iter().any(|other| other.slug == slug);
    if is_taken { format!("{slug}-{}", random::text(HEX, 5)) } else { slug }
}

fn checked(input: &Value) -> Result<(), Reply> {
    let Some(given) = input.as_object() else {
        let why =
            "Field \"publishPost\" argument \"input\" of type \"PublishPostInput!\" is required.";
        return Err(failure(400, "GRAPHQL_VALIDATION_FAILED", why));
    };
    if let Some(name) = given.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let why = format!(
            "Variable \"$input\" got invalid value; Field \"{name}\" is not defined by type \"PublishPostInput\"."
        );
        return Err(failure(400, "BAD_USER_INPUT", &why));
    }
    for name in ["publicationId", "title", "contentMarkdown"] {
        if !given.get(name).is_some_and(Value::is_string) {
            let why = format!(
                "Variable \"$input\" got invalid value; Field \"{name}\" of required type \"String!\" was not provided."
            );
            return Err(failure(400, "BAD_USER_INPUT", &why));
        }
    }
    if given["title"].as_str().is_some_and(|title| title.trim().is_empty()) {
        return Err(invalid("The title must not be empty."));
    }
    let tags = given.get("tags").and_then(Value::as_array).cloned().unwrap_or_default();
    if tags.len() > TAGS_MAX {
        return Err(invalid(&format!("A post can have at most {TAGS_MAX} tags.")));
    }
    let is_slug = |slug: &str| {
        slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-+.".contains(c))
    };
    if tags
        .iter()
        .any(|tag| !tag["slug"].as_str().is_some_and(|slug| !slug.is_empty() && is_slug(slug)))
    {
        return Err(invalid("A tag needs a slug of lower-case letters, digits and hyphens."));
    }
    for name in ["coverImage", "originalArticleURL"] {
        let is_web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        if given.get(name).and_then(Value::as_str).is_some_and(|url| !is_web(url)) {
            return Err(invalid(&format!("{name} must be a valid URL.")));
        }
    }
    Ok(())
}

fn slugify(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
