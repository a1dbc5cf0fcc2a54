//! The `settings` of a Bluesky post.

use super::{
    CHAIN_KEY, TEXT_BYTES_MAX, captions, is_chain, quote::PostAddress, reply_rules, texts,
};
use crate::{
    Draft, Shape, Violation,
    settings::{alt_texts, settings},
    text,
};

/// Longest alt text in characters. The lexicon sets no limit; this is what Bluesky's own app accepts.
pub const ALT_TEXT_MAX: usize = 2_000;
/// Largest file with captions in bytes, and most of them (lexicon `app.bsky.embed.video`).
pub const CAPTION_BYTES_MAX: u64 = 20_000;
const CAPTIONS_MAX: usize = 20;
/// Longest tag (lexicon `app.bsky.feed.post`); its 640 bytes are the longest text that can meet it.
const TAG_GRAPHEMES_MAX: usize = 64;
const TAG_BYTES_MAX: usize = 640;

settings! {
    /// Captions of a video in one language.
    CaptionFile {
        /// Language of the captions as a BCP 47 tag, for example en or pt-BR; each language once.
        required lang: String = Shape::Id { min: 2, max: 35 },
        /// Address of a WebVTT file in the media store, at most 20,000 bytes.
        required url: String = Shape::Url,
    }

    /// The settings of a post.
    Settings {
        /// Languages of the text as BCP 47 tags, for example en or pt-BR.
        optional languages: Vec<String> = Shape::List {
            of: &Shape::Id { min: 2, max: 35 },
            min: 1,
            max: 3,
        },
        /// Marks the post so that people can hide it.
        optional content_label: Option<String> =
            Shape::Choice(&["sexual", "nudity", "porn", "graphic-media"]),
        /// Hidden tags for discovery without the #, each up to 64 graphemes, beside those in the caption.
        optional tags: Vec<String> = Shape::List {
            of: &Shape::Text { min: 1, max: TAG_BYTES_MAX },
            min: 1,
            max: 8,
        },
        /// Address of a Bluesky post to quote.
        optional quote_url: Option<String> = Shape::Url,
        /// Nobody may quote the post.
        optional disable_quotes: bool = Shape::Bool,
        /// Nobody may reply.
        optional disable_replies: bool = Shape::Bool,
        /// People who may reply: those whom the post mentions, followers of the account, accounts that it follows.
        optional allow_replies_from: Vec<String> = Shape::List {
            of: &Shape::Choice(&["mentioned", "followers", "following"]),
            min: 1,
            max: 3,
        },
        /// Addresses of Bluesky lists whose members may reply, such as https://bsky.app/profile/name.bsky.social/lists/3kabc.
        optional allow_reply_lists: Vec<String> = Shape::List { of: &Shape::Url, min: 1, max: 5 },
        /// Captions of the video, in up to 20 languages.
        optional captions: Vec<CaptionFile> = Shape::List {
            of: &Shape::Object(CaptionFile::FIELDS),
            min: 0,
            max: CAPTIONS_MAX,
        },
        /// Descriptions of the files for people who cannot see them, in the order of the files.
        optional media_alt_texts: Vec<String> = alt_texts!(ALT_TEXT_MAX, 4),
    }
}

/// Checks rules that the descriptor cannot express. The descriptor reports values of the wrong type.
pub fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = Vec::new();
    for (index, language) in settings.languages.iter().enumerate() {
        let field = format!("settings.languages[{index}]");
        found.extend(text::language_violation(field, language));
    }
    for (index, tag) in settings.tags.iter().enumerate() {
        found.extend(tag_violation(tag, format!("settings.tags[{index}]")));
    }
    found.extend(captions::violations(draft, &settings));
    found.extend(reply_rules::violations(&settings));
    found.extend(settings.quote_url.and_then(|url| quote_violation(&url)));
    if is_chain(draft) {
        found.extend(chain_violations(draft));
    }
    found
}

/// A chain has two posts at least, and each text its bytes; the descriptor knows graphemes and the largest number.
fn chain_violations(draft: &Draft) -> Vec<Violation> {
    let (texts, field) = (texts(draft), format!("metadata.{CHAIN_KEY}"));
    let mut found = Vec::new();
    if texts.len() == 1 {
        let message = "A chain has at least two posts.";
        let remedy = "Add a text, or use the post type feed with the text as caption.";
        found.push(
            Violation::new(field.as_str(), "setting_invalid", message, remedy).with_limit(2, 1),
        );
    }
    for (index, text) in texts.iter().enumerate().filter(|(_, text)| text.len() > TEXT_BYTES_MAX) {
        let message =
            format!("The segment is {} bytes; bluesky allows {TEXT_BYTES_MAX}.", text.len());
        let remedy = format!("Shorten the segment to {TEXT_BYTES_MAX} bytes.");
        let place = format!("{field}[{index}]");
        let violation = Violation::new(place, "thread_segment_too_long", message, remedy);
        found.push(violation.with_limit(TEXT_BYTES_MAX, text.len()).in_unit("bytes"));
    }
    found
}

fn tag_violation(tag: &str, field: String) -> Option<Violation> {
    if tag.starts_with('#') {
        let message = "A hidden tag is given without the #.";
        return Some(Violation::new(field, "setting_invalid", message, "Remove the #."));
    }
    let length = text::graphemes(tag);
    let bytes = tag.len();
    let (limit, actual, unit) = if length > TAG_GRAPHEMES_MAX {
        (TAG_GRAPHEMES_MAX, length, "graphemes")
    } else if bytes > TAG_BYTES_MAX {
        (TAG_BYTES_MAX, bytes, "bytes")
    } else {
        return None;
    };
    let message = format!("The tag is {actual} {unit}; bluesky allows {limit}.");
    let remedy = format!("Shorten the tag to {limit} {unit}.");
    let broken = Violation::new(field, "setting_invalid", message, remedy);
    Some(broken.with_limit(limit, actual).in_unit(unit))
}

fn quote_violation(url: &str) -> Option<Violation> {
    PostAddress::parse(url).is_none().then(|| {
        Violation::new(
            "settings.quote_url",
            "setting_invalid",
            "quote_url is not the address of a Bluesky post.",
            "Give an address like https://bsky.app/profile/name.bsky.social/post/3l2s5xxv2ze2c.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::tag_violation;

    #[test]
    fn tags_are_counted_in_graphemes_and_bytes() {
        let family = "👨‍👩‍👧‍👦"; // one grapheme of 25 bytes
        let actual =
            |tag: String| tag_violation(&tag, String::new()).and_then(|found| found.actual);
        assert_eq!(actual(family.repeat(25)), None);
        assert_eq!(actual(family.repeat(26)), Some(650.into()));
        assert_eq!(actual("a".repeat(64)), None);
        assert_eq!(actual("a".repeat(65)), Some(65.into()));
        assert!(tag_violation("#rust", String::new()).is_some());
    }
}
