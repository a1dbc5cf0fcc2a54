//! Texts that come back changed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use url::form_urlencoded;

/// A change of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rewrite {
    pub op: Op,
    /// The name of the field; all that hold texts of people if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The measure of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Measure>,
}

/// A number of characters, or the beginning of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Measure {
    Number(usize),
    Name(String),
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    /// Composed characters (NFC).
    Nfc,
    /// Decomposed characters (NFD).
    Nfd,
    /// No white space at both ends.
    Trim,
    /// One blank in place of any white space.
    Fold,
    /// No zero-width characters.
    Strip,
    /// `&`, `<`, `>` and `"` as character references.
    Entities,
    /// Addresses in the network's short form.
    ShortLinks,
    /// Addresses without the parameters whose names begin with `at`, or without all.
    DropQuery,
    /// `#word` as `{hashtag|\\#|word}`.
    HashtagForm,
    /// Addresses of images in Markdown, as a parameter of the address `at`.
    ImageProxy,
    /// `*removed*` in place of the word `at`.
    Mask,
    /// Times without a zone, `at` hours earlier: those of a computer whose zone is set wrongly.
    Zone,
    /// The first `at` characters, or half of the text, with an ellipsis.
    Cut,
}

/// The names of fields with texts of people.
const TEXT_FIELDS: [&str; 14] = [
    "text",
    "message",
    "caption",
    "commentary",
    "description",
    "title",
    "body",
    "body_markdown",
    "summary",
    "raw",
    "rendered",
    "video_description",
    "content",
    "name",
];

/// Changes the texts of a read, one change after the other.
pub(super) fn rewrite(value: &mut Value, changes: &[Rewrite]) {
    each_text(value, false, &mut |name, text, _| {
        for change in changes {
            let is_of_it = match &change.field {
                Some(field) => field == name,
                None => TEXT_FIELDS.contains(&name),
            };
            if is_of_it {
                *text = change.apply(text);
            }
        }
    });
}

/// Cuts the texts in lists.
pub(super) fn cut_in_lists(value: &mut Value, most: usize, is_in_list: bool) {
    each_text(value, is_in_list, &mut |name, text, is_in_list| {
        if is_in_list && TEXT_FIELDS.contains(&name) {
            *text = cut(text, most);
        }
    });
}

/// Calls `work` with the name of each field that holds a text, the text, and whether it is in a list.
fn each_text(value: &mut Value, is_in_list: bool, work: &mut dyn FnMut(&str, &mut String, bool)) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| each_text(one, true, work)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) => work(name, text, is_in_list),
                    value => each_text(value, is_in_list, work),
                }
            }
        }
        _ => {}
    }
}

impl Rewrite {
    fn apply(&self, text: &str) -> String {
        // An id or an address is no text.
        let is_one_word = !text.contains(' ');
        match self.op {
            Op::Entities | Op::Cut if is_one_word && self.at.is_none() => text.to_owned(),
            Op::Nfc => text.nfc().collect(),
            Op::Nfd => text.nfd().collect(),
            Op::Trim => text.trim().to_owned(),
            Op::Fold => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Op::Strip => {
                text.replace(['\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}', '\u{ad}'], "")
            }
            Op::Entities => {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                text.replace('>', "&gt;").replace('"', "&quot;")
            }
            Op::ShortLinks => by_words(text, |word| {
                is_address(word).then(|| format!("https://s.example/{:x}", word.len()))
            }),
            Op::DropQuery => by_words(text, |word| self.without_query(word)),
            Op::HashtagForm => by_words(text, |word| {
                word.strip_prefix('#')
                    .filter(|tag| !tag.is_empty())
                    .map(|tag| format!("{{hashtag|\\#|{tag}}}"))
            }),
            Op::ImageProxy => proxied(text, self.name()),
            Op::Mask => by_words(text, |word| {
                let is_it = word.trim_matches(|sign: char| !sign.is_alphanumeric()) == self.name();
                is_it.then(|| word.replace(self.name(), "*removed*"))
            }),
            Op::Zone => earlier(text, self.number().unwrap_or_default()),
            Op::Cut => cut(text, self.number().unwrap_or_else(|| text.chars().count().div_ceil(2))),
        }
    }

    fn number(&self) -> Option<usize> {
        match self.at {
            Some(Measure::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn name(&self) -> &str {
        match &self.at {
            Some(Measure::Name(name)) => name,
            _ => "",
        }
    }

    fn without_query(&self, word: &str) -> Option<String> {
        let (address, query) = word.split_once('?').filter(|_| is_address(word))?;
        let Some(Measure::Name(begin)) = &self.at else { return Some(address.to_owned()) };
        let kept: Vec<_> =
            query.split('&').filter(|pair| !pair.starts_with(begin.as_str())).collect();
        let mark = if kept.is_empty() { "" } else { "?" };
        Some(format!("{address}{mark}{}", kept.join("&")))
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Returns the text with the words that `change` replaces; white space stays as it is.
fn by_words(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let parts = text.split_inclusive(char::is_whitespace);
    parts
        .map(|part| {
            let word = part.trim_end();
            let rest = &part[word.len()..];
            format!("{}{rest}", change(word).unwrap_or_else(|| word.to_owned()))
        })
        .collect()
}

/// Returns a text whose images are parameters of an address.
fn proxied(text: &str, proxy: &str) -> String {
    let mut parts = text.split("![");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all.push_str("![");
        match part.split_once("](").and_then(|(alt, rest)| Some((alt, rest.split_once(')')?))) {
            Some((alt, (address, rest))) if is_address(address) => {
                let escaped: String = form_urlencoded::byte_serialize(address.as_bytes()).collect();
                all.push_str(&format!("{alt}]({proxy}{escaped}){rest}"));
            }
            _ => all.push_str(part),
        }
    }
    all
}

/// Returns a time without a zone that is some hours earlier; any other text stays.
fn earlier(text: &str, hours: usize) -> String {
    const FORM: &str = "%Y-%m-%dT%H:%M:%S";
    let hours = chrono::TimeDelta::hours(i64::try_from(hours).unwrap_or_default());
    match chrono::NaiveDateTime::parse_from_str(text, FORM) {
        Ok(time) => (time - hours).format(FORM).to_string(),
        Err(_) => text.to_owned(),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(most).collect::<String>())
}
