//! The names that X's schema allows (<https://docs.x.com/x-api>). It refuses all others, and posts have two names for
//! their fields: as tweets, and in newer descriptions as posts.

use serde_json::{Map, Value};

use super::failure::{invalid, wrong};
use crate::call::Call;
use crate::reply::Reply;

/// The fields of a new post.
const CREATE: &[&str] = &[
    "card_uri",
    "community_id",
    "direct_message_deep_link",
    "edit_options",
    "for_super_followers_only",
    "geo",
    "made_with_ai",
    "media",
    "nullcast",
    "paid_partnership",
    "poll",
    "quote_tweet_id",
    "reply",
    "reply_settings",
    "share_with_followers",
    "text",
];

/// The fields of the objects in it.
const INSIDE: [(&str, &[&str]); 5] = [
    (
        "media",
        &[
            "call_to_actions",
            "description",
            "embeddable",
            "media_ids",
            "preview_media_id",
            "tagged_user_ids",
            "title",
        ],
    ),
    ("poll", &["duration_minutes", "options", "reply_settings"]),
    ("reply", &["auto_populate_reply_metadata", "exclude_reply_user_ids", "in_reply_to_tweet_id"]),
    ("geo", &["place_id"]),
    ("edit_options", &["previous_post_id"]),
];

/// The fields of an upload in one request, of one that begins, of a segment, and of what is said of a file.
pub(super) const UPLOAD: &[&str] = &["additional_owners", "media", "media_category"];
pub(super) const INITIALIZE: &[&str] =
    &["additional_owners", "media_category", "media_type", "shared", "total_bytes"];
pub(super) const APPEND: &[&str] = &["media", "segment_index"];
pub(super) const METADATA: &[&str] = &["id", "metadata"];

/// The values of `user.fields` that the simulator answers, and some that it has nothing for.
const USER: &[&str] = &[
    "created_at",
    "description",
    "entities",
    "id",
    "location",
    "name",
    "pinned_tweet_id",
    "profile_banner_url",
    "profile_image_url",
    "protected",
    "public_metrics",
    "subscription_type",
    "url",
    "username",
    "verified",
    "verified_type",
    "withheld",
];

/// The fields of a post under both of its names.
const POST: &[&str] = &[
    "article",
    "attachments",
    "card_uri",
    "community_id",
    "context_annotations",
    "conversation_id",
    "created_at",
    "display_text_range",
    "edit_controls",
    "entities",
    "geo",
    "id",
    "lang",
    "media_metadata",
    "non_public_metrics",
    "organic_metrics",
    "paid_partnership",
    "possibly_sensitive",
    "promoted_metrics",
    "public_metrics",
    "reply_settings",
    "scopes",
    "source",
    "text",
    "withheld",
];

/// Those that it has under one name alone.
const AS_TWEET: &[&str] = &[
    "author_id",
    "edit_history_tweet_ids",
    "in_reply_to_user_id",
    "note_tweet",
    "referenced_tweets",
];
const AS_POST: &[&str] = &["article_title", "note_post"];

/// Checks that all names are known. `place` is the object's path.
pub(super) fn only<'a>(
    given: impl Iterator<Item = &'a str>,
    known: &[&str],
    place: &str,
) -> Result<(), Reply> {
    let unknown: Vec<String> = given
        .filter(|name| !known.contains(name))
        .map(|name| format!("{place}.{name}: is not defined in the schema and the schema does not allow additional properties"))
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(invalid(&unknown)) }
}

/// Checks the names of a new post and of the objects in it.
pub(super) fn new_post(body: &Map<String, Value>) -> Result<(), Reply> {
    only(body.keys().map(String::as_str), CREATE, "$")?;
    for (name, known) in INSIDE {
        if let Some(Value::Object(inside)) = body.get(name) {
            only(inside.keys().map(String::as_str), known, &format!("$.{name}"))?;
        }
    }
    Ok(())
}

/// Returns the fields of a post that a request names.
pub(super) fn post_fields(call: &Call) -> Result<Vec<String>, Reply> {
    let mut fields = listed(call, "tweet.fields", &[POST, AS_TWEET])?;
    fields.extend(listed(call, "post.fields", &[POST, AS_POST])?);
    Ok(fields)
}

/// Returns the fields of a user that a request names.
pub(super) fn user_fields(call: &Call) -> Result<Vec<String>, Reply> {
    listed(call, "user.fields", &[USER])
}

fn listed(call: &Call, parameter: &str, known: &[&[&str]]) -> Result<Vec<String>, Reply> {
    let text = call.query_value(parameter).unwrap_or_default();
    let names: Vec<String> =
        text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let is_known = |name: &String| known.iter().any(|list| list.contains(&name.as_str()));
    match names.iter().find(|name| !is_known(name)) {
        Some(name) => {
            let all = known.concat().join(",");
            Err(wrong(&format!(
                "The `{parameter}` query parameter value [{name}] is not one of [{all}]"
            )))
        }
        None => Ok(names),
    }
}
