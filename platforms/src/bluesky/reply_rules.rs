//! Who may reply to a post: its threadgate.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{facets::is_handle, quote::PostAddress, settings::Settings};
use crate::{Error, Result, Violation};

/// Most rules of a threadgate (lexicon `app.bsky.feed.threadgate`).
const RULES_MAX: usize = 5;

/// Returns true if the post says who may reply.
pub fn are_set(settings: &Settings) -> bool {
    settings.disable_replies
        || !settings.allow_replies_from.is_empty()
        || !settings.allow_reply_lists.is_empty()
}

/// Returns the handles of the owners of lists.
pub fn handles(settings: &Settings) -> impl Iterator<Item = String> {
    let addresses =
        settings.allow_reply_lists.iter().filter_map(|url| PostAddress::parse_list(url));
    addresses.map(|address| address.author).filter(|author| is_handle(author))
}

/// Returns the rules of the gate; none of them means that nobody may reply. `dids` are those of the handles.
pub fn allow(settings: &Settings, dids: &BTreeMap<String, Option<String>>) -> Result<Vec<Value>> {
    let groups = settings.allow_replies_from.iter().map(|group| {
        let name = match group.as_str() {
            "mentioned" => "mentionRule",
            "followers" => "followerRule",
            _ => "followingRule",
        };
        Ok(json!({"$type": format!("app.bsky.feed.threadgate#{name}")}))
    });
    let lists = settings.allow_reply_lists.iter().map(|url| {
        let list = list_uri(url, dids).ok_or_else(|| list_not_found(url))?;
        Ok(json!({"$type": "app.bsky.feed.threadgate#listRule", "list": list}))
    });
    groups.chain(lists).collect()
}

fn list_uri(url: &str, dids: &BTreeMap<String, Option<String>>) -> Option<String> {
    let PostAddress { author, key } = PostAddress::parse_list(url)?;
    let did = if author.starts_with("did:") { author } else { dids.get(&author)?.clone()? };
    Some(format!("at://{did}/app.bsky.graph.list/{key}"))
}

fn list_not_found(url: &str) -> Error {
    Error::rejected(format!("The list {url} was not found."))
        .with_remedy("Check allow_reply_lists: the owner of the list may have another name now.")
}

/// Checks the settings against each other.
pub fn violations(settings: &Settings) -> Vec<Violation> {
    let (groups, lists) = (&settings.allow_replies_from, &settings.allow_reply_lists);
    let mut found = Vec::new();
    if settings.disable_replies && !(groups.is_empty() && lists.is_empty()) {
        let message = "Nobody may reply, and some may reply: that excludes each other.";
        let remedy = "Remove disable_replies, or allow_replies_from and allow_reply_lists.";
        found.push(Violation::new("settings.disable_replies", "setting_invalid", message, remedy));
    }
    let count = groups.len() + lists.len();
    if count > RULES_MAX {
        let message = format!("There are {count} rules for replies; bluesky allows {RULES_MAX}.");
        let remedy = "Remove some of allow_replies_from and allow_reply_lists.";
        let field = "settings.allow_reply_lists";
        let violation = Violation::new(field, "setting_invalid", message, remedy);
        found.push(violation.with_limit(RULES_MAX, count).in_unit("rules"));
    }
    for (index, url) in
        lists.iter().enumerate().filter(|(_, url)| PostAddress::parse_list(url).is_none())
    {
        let message = format!("{url} is not the address of a Bluesky list.");
        let remedy = "Give an address like https://bsky.app/profile/name.bsky.social/lists/3kabc.";
        let field = format!("settings.allow_reply_lists[{index}]");
        found.push(Violation::new(field, "setting_invalid", message, remedy));
    }
    found
}
