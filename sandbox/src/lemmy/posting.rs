//! Creating and deleting posts.

use serde_json::{Value, json};

use super::state::{Change, LemmyPost, State};
use super::{Cx, access, community, representations};
use crate::network::Identity;
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};

/// The default of instances: "Posts: 6 in 600 seconds".
const POSTS: Limit = Limit { name: "posts", units: 6, span_ms: 600_000 };
pub(super) const TITLE: std::ops::RangeInclusive<usize> = 3..=200;
const BODY_MAX: usize = 50_000;
const URL_MAX: usize = 2_000;
const ALT_MAX: usize = 1_500;

/// `POST /post`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let body = cx.call.json().map_err(|_| access::failure(400, "Json deserialize error"))?;
    if cx.sim.env.rate_limits() && !account.take_units(POSTS, 1, cx.now_ms()).allowed {
        return Err(access::failure(400, "rate_limit_error"));
    }
    let post = checked(&body, cx.now_ms())?;
    let shown = cx.sim.change(&account, |state| {
        let post = LemmyPost { id: next_id(state, &account.identity), ..post };
        let shown = representations::view(&post, &account.identity);
        Ok((Change::Post(Box::new(post)), json!({ "post_view": shown })))
    })?;
    Ok(Reply::ok(&shown))
}

/// Returns the id of an author's next post, which starts with the author's.
pub(super) fn next_id(state: &State, author: &Identity) -> u64 {
    let author: u64 = author.remote_id.parse().unwrap_or_default();
    author * 1_000_000 + state.posts.len() as u64 + 1
}

/// `POST /post/delete`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let body = cx.call.json().map_err(|_| access::failure(400, "Json deserialize error"))?;
    let shown = cx.sim.change(&account, |state| {
        let found = body["post_id"].as_u64().and_then(|id| state.posts.get(&id));
        let mut post = found.cloned().ok_or_else(|| access::failure(404, "couldnt_find_post"))?;
        post.deleted = body["deleted"] == true;
        let shown = representations::view(&post, &account.identity);
        Ok((Change::Post(Box::new(post)), json!({ "post_view": shown })))
    })?;
    Ok(Reply::ok(&shown))
}

/// Returns the text and settings of a post, if they are allowed.
fn checked(body: &Value, now_ms: i64) -> Result<LemmyPost, Reply> {
    let refused = |code: &str| access::failure(400, code);
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if text("honeypot").is_some() {
        return Err(refused("honeypot_failed"));
    }
    let name =
        text("name").ok_or_else(|| refused("Json deserialize error: missing field `name`"))?;
    let is_line = !name.contains(['\n', '\r']) && !name.trim().is_empty();
    if !TITLE.contains(&name.trim().chars().count()) || !is_line {
        return Err(refused("invalid_post_title"));
    }
    let number = body["community_id"].as_u64();
    let number =
        number.ok_or_else(|| refused("Json deserialize error: missing field `community_id`"))?;
    let found =
        community::by_id(number).ok_or_else(|| access::failure(404, "couldnt_find_community"))?;
    if found.mods_only {
        return Err(refused("only_mods_can_post_in_community"));
    }
    let post = LemmyPost {
        name: name.trim().to_owned(),
        body: text("body"),
        url: text("url"),
        community_id: number,
        nsfw: body["nsfw"] == true,
        language_id: body["language_id"].as_i64().unwrap_or(0),
        alt_text: text("alt_text"),
        custom_thumbnail: text("custom_thumbnail"),
        published_ms: now_ms,
        ..LemmyPost::default()
    };
    let size = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
    let is_web = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    let flaws = [
        ("invalid_body_field", size(&post.body) > BODY_MAX),
        (
            "invalid_url",
            size(&post.url) > URL_MAX || post.url.as_ref().is_some_and(|url| !is_web(url)),
        ),
        ("invalid_url", post.custom_thumbnail.as_ref().is_some_and(|url| !is_web(url))),
        ("alt_text_length_overflow", size(&post.alt_text) > ALT_MAX),
    ];
    match flaws.iter().find(|(_, is_flawed)| *is_flawed) {
        Some((code, _)) => Err(refused(code)),
        None => Ok(post),
    }
}
