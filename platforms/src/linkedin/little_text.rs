//! "Little text", LinkedIn's format of captions: some characters must be escaped, and some form elements.
//! <https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/little-text-format>

use std::collections::BTreeMap;

use super::state::Organization;

/// Characters that begin or end an element. LinkedIn cuts the text at an unescaped one.
const RESERVED: &[char] =
    &['|', '{', '}', '@', '[', ']', '(', ')', '<', '>', '#', '\\', '*', '_', '~'];

/// The kinds of URN that a text can mention.
const MENTIONABLE: [&str; 2] = ["urn:li:organization:", "urn:li:person:"];

/// Returns the caption in "little text"; `mentions` are the organizations by the name after the @.
pub(super) fn commentary(caption: &str, mentions: &BTreeMap<String, Organization>) -> String {
    let mut text = String::with_capacity(caption.len() + caption.len() / 8);
    let (mut rest, mut before) = (caption, None);
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = element(rest) {
            text.push_str(&rest[..length]);
            length
        } else if let Some((length, mention)) = mentioned(rest, mentions) {
            text.push_str(&mention);
            length
        } else {
            if RESERVED.contains(&first) && !is_hashtag(rest, before) {
                text.push('\\');
            }
            text.push(first);
            first.len_utf8()
        };
        before = rest[..length].chars().next_back();
        rest = &rest[length..];
    }
    text
}

/// Returns the number of characters of a caption as it is sent.
pub(super) fn sent_length(caption: &str) -> usize {
    commentary(caption, &BTreeMap::new()).chars().count()
}

/// Returns the length in bytes of the element at the start of `rest`.
fn element(rest: &str) -> Option<usize> {
    if let Some(named) = rest.strip_prefix("@[") {
        // The name ends at the first character that it may not contain, so that many unfinished elements take linear
        // time.
        let (name, after) = named.split_at(named.find(['[', ']', '\n'])?);
        let urn = after.strip_prefix("](")?;
        let kind = MENTIONABLE.iter().find(|kind| urn.starts_with(**kind))?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let id = urn[kind.len()..].find(|c| !is_id(c)).filter(|length| *length > 0)?;
        urn[kind.len() + id..].strip_prefix(')').filter(|_| !name.is_empty())?;
        return Some("@[]()".len() + name.len() + kind.len() + id);
    }
    let tag = rest.strip_prefix(r"{hashtag|\#|")?;
    let word = &tag[..tag.find(|c: char| !c.is_alphanumeric()).filter(|length| *length > 0)?];
    tag[word.len()..].strip_prefix('}')?;
    Some(rest.len() - tag.len() + word.len() + 1)
}

/// Returns the mention whose `@name` is at the start of `rest`; the longest name wins.
fn mentioned(rest: &str, mentions: &BTreeMap<String, Organization>) -> Option<(usize, String)> {
    let behind = rest.strip_prefix('@')?;
    let fits = mentions.iter().filter(|(name, _)| behind.starts_with(name.as_str()));
    let (name, found) = fits.max_by_key(|(name, _)| name.len())?;
    // A bracket in a name would end the element.
    let shown = found.name.replace(['[', ']', '(', ')'], "");
    Some((1 + name.len(), format!("@[{shown}]({})", found.urn)))
}

/// Returns true if a # starts a hashtag and needs no escaping.
fn is_hashtag(rest: &str, before: Option<char>) -> bool {
    let starts = before.is_none_or(|c| !c.is_alphanumeric());
    rest.strip_prefix('#').is_some_and(|word| starts && word.starts_with(char::is_alphanumeric))
}
