//! Changes that networks make to texts on the way, as data: a descriptor lists those of its network, beside what all of
//! them may change ([`canonical`]).

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use url::Url;

use super::likeness::{Likeness, bare, canonical, compare, is_cut};

/// A change that a network is known to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alteration {
    /// Characters other than letters, digits and the signs of a keyboard become blanks, apart from some symbols.
    PlainSigns,
    /// Backslashes before signs, and hashtags and mentions as elements: LinkedIn's "little text".
    LittleText,
    /// Images lead to a proxy below a path like this one, which has the address in a parameter.
    ImageProxy(&'static str),
    /// Words that are not wanted are replaced by this one.
    Mask(&'static str),
    /// The text ends after about this many characters.
    CutAt(usize),
}

/// The changes of one network.
#[derive(Debug, Clone, Copy)]
pub struct Alterations {
    /// Of titles.
    pub title: &'static [Alteration],
    /// Of texts.
    pub text: &'static [Alteration],
}

impl Alterations {
    /// None but those that all networks may make.
    pub const NONE: Self = Self { title: &[], text: &[] };
}

/// The changes of a text beyond those that its network is known to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It ends after this many characters.
    Cut(usize),
    /// It has other words.
    Reworded,
}

/// The number of characters by which a text may end earlier than its network's limit.
const CUT_SLACK: usize = 100;

/// The fewest characters that must be left beside the masks of a text to recognize it.
const MASKED_MIN: usize = 16;

/// Characters with a backslash in front of them in little text.
const RESERVED: &str = r"|{}@[]()<>#\*_~";

/// Returns how well a text that a network shows matches the one that was sent, if it makes these changes.
#[must_use]
pub fn likeness_altered(list: &[Alteration], sent: &str, shown: &str) -> Likeness {
    let (ours, theirs) = (plain(list, sent), plain(list, shown));
    let is_known = list.iter().any(|one| match one {
        Alteration::Mask(mask) => is_masked(&ours, &theirs, mask),
        Alteration::CutAt(most) => {
            shown.chars().count() + CUT_SLACK >= *most && is_start(&ours, &theirs)
        }
        Alteration::PlainSigns | Alteration::LittleText | Alteration::ImageProxy(_) => false,
    });
    if is_known { Likeness::Same } else { compare(&ours, &theirs) }
}

/// Returns what is lost of a text, if anything is that readers would miss.
#[must_use]
pub fn loss(list: &[Alteration], sent: &str, shown: &str) -> Option<Loss> {
    let (ours, theirs) = (plain(list, sent), plain(list, shown));
    let (sent_words, shown_words) = (bare(&ours), bare(&theirs));
    if ours == theirs || sent_words == shown_words {
        return None;
    }
    let is_short = is_start(&ours, &theirs) || is_cut(&sent_words, &shown_words);
    let left = shown.trim_end_matches(['…', ' ']).chars().count();
    Some(if is_short { Loss::Cut(left) } else { Loss::Reworded })
}

/// Returns how well an article matches, whose title and text match so: one with the title and another text may be it. A
/// text without words (`has_text` false) says nothing.
#[must_use]
pub fn of_article(title: Likeness, text: Likeness, has_text: bool) -> Likeness {
    match (title, text) {
        (Likeness::Different, _) => Likeness::Different,
        (title, _) if !has_text => title,
        (_, Likeness::Different) => Likeness::Similar,
        (title, text) => title.min(text),
    }
}

/// Returns a text in canonical form, without what these changes do to it.
fn plain(list: &[Alteration], text: &str) -> String {
    let undone = list.iter().fold(Cow::Borrowed(text), |text, one| match one {
        Alteration::PlainSigns => with_plain_signs(&text).into(),
        Alteration::LittleText => without_elements(&text).into(),
        Alteration::ImageProxy(path) => without_proxy(&text, path).into(),
        Alteration::Mask(_) | Alteration::CutAt(_) => text,
    });
    canonical(&undone)
}

/// Returns true if `shown` is the beginning of `sent`, with or without a mark at its end.
fn is_start(sent: &str, shown: &str) -> bool {
    let shown = shown.trim_end_matches(['…', '.', ' ', '\\']);
    !shown.is_empty() && shown.len() < sent.len() && sent.starts_with(shown)
}

/// Returns a text without what may have become a blank, and without blanks.
fn with_plain_signs(text: &str) -> String {
    let is_kept = |sign: &char| sign.is_alphanumeric() || sign.is_ascii_punctuation();
    text.nfc().filter(is_kept).collect()
}

fn without_elements(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((seen, length)) = element(rest) {
            kept.push_str(&seen);
            rest = &rest[length..];
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match rest.chars().next().filter(|next| first == '\\' && RESERVED.contains(*next)) {
            Some(next) => {
                kept.push(next);
                rest = &rest[next.len_utf8()..];
            }
            None => kept.push(first),
        }
    }
    kept
}

/// Returns the element at the start of a text, as readers see it, and its length in bytes.
fn element(rest: &str) -> Option<(String, usize)> {
    if let Some(tag) = rest.strip_prefix(r"{hashtag|\#|") {
        let (word, _) = tag.split_once('}')?;
        return Some((format!("#{word}"), rest.len() - tag.len() + word.len() + 1));
    }
    let named = rest.strip_prefix("@[")?;
    let (name, after) = named.split_once("](urn:li:")?;
    let (urn, _) = after.split_once(')')?;
    let is_name = !name.contains(['[', ']', '\n']) && !urn.contains(char::is_whitespace);
    let length = "@[](urn:li:)".len() + name.len() + urn.len();
    is_name.then(|| (name.to_owned(), length))
}

/// Returns a text with the addresses of images themselves in place of those at a proxy.
fn without_proxy(text: &str, path: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|sign: char| sign.is_whitespace() || "()<>\"".contains(sign));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        kept.push_str(&proxied(word, path).unwrap_or_else(|| word.to_owned()));
        rest = after;
    }
    kept + rest
}

/// Returns the address that a proxy below a path like this one is asked for.
fn proxied(address: &str, path: &str) -> Option<String> {
    let url = Url::parse(address).ok().filter(|url| url.path().ends_with(path))?;
    url.query_pairs().find(|(name, _)| name == "url").map(|(_, value)| value.into_owned())
}

/// Returns true if the words between the masks stand in the text that was sent, in their order.
fn is_masked(sent: &str, shown: &str, mask: &str) -> bool {
    if !shown.contains(mask) || sent.contains(mask) {
        return false;
    }
    let parts: Vec<_> = shown.split(mask).collect();
    let is_enough = parts.iter().map(|part| part.chars().count()).sum::<usize>() >= MASKED_MIN;
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    let Some(mut rest) = sent.strip_prefix(first).filter(|_| is_enough) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{Alteration, Loss, likeness_altered, loss, of_article};
    use crate::Likeness;

    const LEMMY: &[Alteration] =
        &[Alteration::ImageProxy("/api/v3/image_proxy"), Alteration::Mask("*removed*")];
    const LINKEDIN: &[Alteration] = &[Alteration::LittleText, Alteration::CutAt(3_000)];

    #[test]
    fn what_a_network_is_known_to_change_is_the_same() {
        let image = "https://a.example/b.png?c=1&d=2";
        let proxied = format!(
            "https://lemmy.example/api/v3/image_proxy?url={}",
            url::form_urlencoded::byte_serialize(image.as_bytes()).collect::<String>()
        );
        let long = format!("{} end", "a (b) ".repeat(600));
        let cut: String =
            long.replace('(', r"\(").replace(')', r"\)").chars().take(3_000).collect();
        for (list, sent, shown) in [
            (LEMMY, format!("![x]({image}) text"), format!("![x]({proxied}) text")),
            (
                LEMMY,
                "what a darned day this is, and darned hot".into(),
                "what a *removed* day this is, and *removed* hot".into(),
            ),
            (LINKEDIN, "go #rust (now)".into(), r"go {hashtag|\#|rust} \(now\)".into()),
            (LINKEDIN, "hi @[A B](urn:li:organization:1)!".into(), "hi A B!".into()),
            (LINKEDIN, long, cut),
            (&[Alteration::PlainSigns], "a ∑ b\u{200b} 👍 c".into(), "a b 👍 c".into()),
            (&[Alteration::PlainSigns], "a\u{7}e\u{301}".into(), "a é".into()),
        ] {
            assert_eq!(likeness_altered(list, &sent, &shown), Likeness::Same, "{sent} {shown}");
        }
    }

    #[test]
    fn what_another_network_changes_is_not() {
        for (list, sent, shown) in [
            (LINKEDIN, "what a darned day this is", "what a *removed* day this is"),
            (LEMMY, "a few words of one text", "a few *removed* of another"),
            (LEMMY, "one darned", "another *removed*"),
            (&[], "go #rust", r"go {hashtag|\#|rust}"),
        ] {
            assert_ne!(likeness_altered(list, sent, shown), Likeness::Same, "{sent} {shown}");
        }
    }

    #[test]
    fn what_readers_miss_is_lost() {
        let long = "one two three four five six seven eight nine";
        for (list, sent, shown, lost) in [
            (LEMMY, long, long, None),
            (LEMMY, long, "one two three four five six sev…", Some(Loss::Cut(31))),
            (
                LEMMY,
                long,
                "one two three four *removed* six seven eight nine",
                Some(Loss::Reworded),
            ),
            (LEMMY, long, "something else", Some(Loss::Reworded)),
            (LEMMY, "see https://a.example/?x=1 <b>", "see https://sho.rt/a &lt;b&gt;", None),
            (LINKEDIN, "go #rust", r"go {hashtag|\#|rust}", None),
        ] {
            assert_eq!(loss(list, sent, shown), lost, "{sent} {shown}");
        }
    }

    #[test]
    fn an_article_is_its_title_and_its_text() {
        use Likeness::{Different, Same, Similar};
        for (title, text, has_text, whole) in [
            (Same, Same, true, Same),
            (Same, Different, true, Similar),
            (Similar, Same, true, Similar),
            (Different, Same, true, Different),
            (Different, Different, true, Different),
            (Same, Similar, false, Same),
            (Different, Similar, false, Different),
        ] {
            assert_eq!(of_article(title, text, has_text), whole, "{title:?} {text:?}");
        }
    }
}
