//! Ways networks count text.

mod address;
mod emoji;
mod weighted;

pub use address::{address_at, first_address};
use unicode_segmentation::UnicodeSegmentation;

pub use weighted::x_units;

/// Unicode scalar values.
#[must_use]
pub fn characters(text: &str) -> usize {
    text.chars().count()
}

/// What a person sees as one character.
#[must_use]
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

/// UTF-16 code units.
#[must_use]
pub fn utf16_units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What Threads counts: an emoji as its UTF-8 bytes, any other character as one.
/// <https://developers.facebook.com/docs/threads/overview#limitations>
#[must_use]
pub fn threads_units(text: &str) -> usize {
    text.graphemes(true)
        .map(|one| if emoji::is_emoji(one) { one.len() } else { one.chars().count() })
        .sum()
}

/// Does a web address stand in the text: `http://…`, `https://…` or `www.…`?
#[must_use]
pub fn has_web_address(text: &str) -> bool {
    let lower = text.to_lowercase();
    let starts = ["https://", "http://", "www."];
    starts.iter().flat_map(|start| lower.match_indices(start)).any(|(at, start)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + start.len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric()) && after.is_some_and(char::is_alphanumeric)
    })
}

/// What Mastodon counts: every address as 23 characters, of `@user@host` only `@user`.
/// <https://docs.joinmastodon.org/user/posting/#text>
#[must_use]
pub fn mastodon_units(text: &str) -> usize {
    const PER_ADDRESS: usize = 23;
    let mut counted = 0;
    let mut rest = text;
    while let Some(at) = ["https://", "http://"].iter().filter_map(|one| rest.find(one)).min() {
        let (before, address) = rest.split_at(at);
        let end = address.find(|c: char| c.is_whitespace() || "<>\"".contains(c));
        let address = &address[..end.unwrap_or(address.len())];
        let address = address.trim_end_matches(['.', ',', ')', '!', '?', ';', ':', '\'']);
        let has_host = address.split_once("//").is_some_and(|(_, host)| host.contains(['.', ':']));
        // What only looks like one is counted letter by letter.
        let (size, length) =
            if has_host { (address.len(), PER_ADDRESS) } else { ("http".len(), "http".len()) };
        counted += without_hosts(before) + length;
        rest = &rest[at + size..];
    }
    counted + without_hosts(rest)
}

/// Characters without the hosts of mentions.
fn without_hosts(text: &str) -> usize {
    let is_host = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let words = text.split_inclusive(char::is_whitespace);
    let length = |word: &str| {
        let mention = word.strip_prefix('@').and_then(|rest| rest.split_once('@'));
        let host = mention.filter(|(user, _)| !user.is_empty()).map(|(_, host)| {
            let end = host.find(|c: char| !is_host(c)).unwrap_or(host.len());
            host[..end].trim_end_matches(['.', '-'])
        });
        let host = host.filter(|host| host.contains('.'));
        characters(word) - host.map_or(0, |host| characters(host) + 1)
    };
    words.map(length).sum()
}

/// What Slack counts: `&`, `<` and `>` as they must be written in a text.
#[must_use]
pub fn slack_units(text: &str) -> usize {
    let length = |c: char| match c {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        _ => 1,
    };
    text.chars().map(length).sum()
}

/// The shape of a BCP 47 tag: a language of 2 or 3 letters, then parts of up to 8 letters or digits.
#[must_use]
pub fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    matches!(language.len(), 2 | 3)
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::is_language_tag;

    #[test]
    fn language_tags_are_known_by_their_shape() {
        for tag in ["en", "pt-BR", "zh-Hant-TW", "gsw", "de-1996"] {
            assert!(is_language_tag(tag), "{tag}");
        }
        for tag in ["", "e", "english", "en_US", "en-", "-en", "en-muchtoolong", "日本"] {
            assert!(!is_language_tag(tag), "{tag}");
        }
    }
}
