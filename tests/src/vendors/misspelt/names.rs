//! The names in a request: parameters, fields of bodies, and those words in values that the connectors' code spells out.

use std::{collections::BTreeSet, fs, path::Path};

use fanfare_sandbox::described::Request;
use serde_json::Value;

use crate::Exchange;

/// Names of values that hold what users wrote, languages, ids, and what the network said before.
const FREE: [&str; 39] = [
    "alt",
    "alt_text",
    "body",
    "body_markdown",
    "caption",
    "client_id",
    "client_key",
    "client_name",
    "client_secret",
    "code",
    "comment",
    "commentary",
    "content",
    "contentMarkdown",
    "couponCode",
    "description",
    "event_type",
    "excerpt",
    "label",
    "lang",
    "langs",
    "language",
    "languageCode",
    "message",
    "mimeType",
    "name",
    "options",
    "password",
    "question",
    "slug",
    "spoiler_text",
    "state",
    "status",
    "subtitle",
    "summary",
    "tags",
    "text",
    "title",
    "labels",
];

/// The words in the strings of connectors' code.
pub(super) struct Words(BTreeSet<String>);

impl Words {
    /// Returns the words of a network's connector and of what connectors share.
    pub fn of(network: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../platforms/src");
        let mut found = BTreeSet::new();
        let shared = ["graph", "google", "oauth", "analytics", "page"];
        for folder in shared.iter().chain([&network]) {
            read(&root.join(folder), &mut found);
        }
        Self(found)
    }
}

fn read(path: &Path, found: &mut BTreeSet<String>) {
    if path.is_dir() {
        let inside = fs::read_dir(path).expect("the connectors' code");
        inside.for_each(|one| read(&one.expect("a file").path(), found));
        return;
    }
    let code = fs::read_to_string(path).unwrap_or_default();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let strings = line.split('"').skip(1).step_by(2);
        strings.for_each(|text| found.extend(tokens(text).map(|(_, token)| token.to_owned())));
        // Fields and variants that serde spells.
        found.extend(
            tokens(line)
                .filter(|(_, token)| token.contains('_'))
                .map(|(_, token)| token.to_owned()),
        );
    }
}

/// Returns the words of a text with their places. Escapes of addresses are none.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let at = rest + text[rest..].find(|c: char| is_part(c) || c == '%')?;
            if text[at..].starts_with('%') {
                rest = (at + 3).min(text.len());
                while !text.is_char_boundary(rest) {
                    rest += 1;
                }
                continue;
            }
            let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |end| at + end);
            rest = end;
            return Some((at, &text[at..end]));
        }
    })
    .filter(|(_, token)| token.len() > 1 && token.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// A request with one name misspelt.
pub(super) struct Misspelt {
    /// The place of the name, and the name.
    pub place: String,
    query: Option<String>,
    body: Option<Vec<u8>>,
}

impl Misspelt {
    /// Returns query and body.
    pub fn parts(&self, exchange: &Exchange) -> (String, Vec<u8>) {
        let query = self.query.as_ref().unwrap_or(&exchange.query);
        (query.clone(), self.body.as_ref().unwrap_or(&exchange.body).clone())
    }

    pub fn request(&self, exchange: &Exchange) -> Option<Request> {
        let (query, body) = self.parts(exchange);
        Request::new(&exchange.method, &exchange.path, &query, &exchange.headers, body)
    }
}

/// Returns a request once for each of its names, misspelt.
pub(super) fn of(exchange: &Exchange, words: &Words) -> Vec<Misspelt> {
    let mut found = Vec::new();
    for (place, query) in in_pairs(&exchange.query, words) {
        found.push(Misspelt { place: format!("?{place}"), query: Some(query), body: None });
    }
    let kind = exchange.header("content-type").unwrap_or_default().to_owned();
    let made: Vec<(String, Vec<u8>)> = if kind.contains("json") {
        serde_json::from_slice(&exchange.body).map(|body| in_json(&body, words)).unwrap_or_default()
    } else if kind.contains("urlencoded") {
        let text = String::from_utf8_lossy(&exchange.body).into_owned();
        in_pairs(&text, words).into_iter().map(|(place, text)| (place, text.into_bytes())).collect()
    } else if kind.contains("multipart") {
        in_parts(&exchange.body)
    } else {
        Vec::new()
    };
    found.extend(made.into_iter().map(|(place, body)| Misspelt {
        place,
        query: None,
        body: Some(body),
    }));
    found
}

/// Returns a word with its last letter twice.
fn misspelt(word: &str) -> String {
    let last = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let letter = last.chars().next_back().unwrap_or('x');
    format!("{last}{letter}{}", &word[last.len()..])
}

/// Misspells names and words of a query or form.
fn in_pairs(text: &str, words: &Words) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut start = 0;
    for pair in text.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place = name.replace("%5B", "[").replace("%5D", "]");
        let with = |at: usize, old: &str| {
            let new = misspelt(old);
            format!("{}{new}{}", &text[..start + at], &text[start + at + old.len()..])
        };
        // The first word of `poll[options][]`.
        if let Some((at, word)) = tokens(name).next() {
            found.push((place.clone(), with(at, word)));
        }
        for (at, word) in spelt_out(&place, value, words) {
            found.push((format!("{place}={word}"), with(name.len() + 1 + at, &word)));
        }
        start += pair.len() + 1;
    }
    found
}

/// Returns the words of a value that the connector's code spells out.
fn spelt_out(name: &str, value: &str, words: &Words) -> Vec<(usize, String)> {
    let is_structured =
        value.contains(['{', '(', ',']) || value.contains("%7B") || value.contains("%2C");
    let is_scope = name.contains("scope");
    let plain = value.replace("%3A", ":");
    let is_id = ["did:", "urn:", "at:"].iter().any(|start| plain.contains(start));
    let is_free = is_id
        || FREE.contains(&name)
        || value.len() > 4_000
        || value.contains("%3A%2F%2F")
        || value.contains("://");
    let is_prose = !is_structured && !is_scope && value.contains([' ', '+']);
    if is_free || is_prose {
        return Vec::new();
    }
    let known = tokens(value).filter(|(at, word)| {
        let is_variable = value[..*at].ends_with('$');
        words.0.contains(*word) && !is_variable && !["true", "false", "null"].contains(word)
    });
    known.map(|(at, word)| (at, word.to_owned())).collect()
}

/// Misspells names and words of a JSON body.
fn in_json(body: &Value, words: &Words) -> Vec<(String, Vec<u8>)> {
    let mut places = Vec::new();
    walk(body, String::new(), String::new(), words, &mut places);
    let text = |value: &Value| value.to_string().into_bytes();
    places
        .into_iter()
        .filter_map(|(place, pointer, change)| {
            let mut changed = body.clone();
            match change {
                Change::Name(name) => {
                    let object = changed.pointer_mut(&pointer)?.as_object_mut()?;
                    let inner = object.remove(&name)?;
                    object.insert(misspelt(&name), inner);
                }
                Change::Value(value) => *changed.pointer_mut(&pointer)? = Value::String(value),
            }
            Some((place, text(&changed)))
        })
        .collect()
}

enum Change {
    Name(String),
    Value(String),
}

fn walk(
    value: &Value,
    place: String,
    pointer: String,
    words: &Words,
    found: &mut Vec<(String, String, Change)>,
) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                // What stands below is named by us.
                if place.ends_with("event_payload") {
                    continue;
                }
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                found.push((place.clone(), pointer.clone(), Change::Name(name.clone())));
                let escaped = name.replace('~', "~0").replace('/', "~1");
                walk(inner, place, format!("{pointer}/{escaped}"), words, found);
            }
        }
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                walk(inner, format!("{place}[]"), format!("{pointer}/{at}"), words, found);
            }
        }
        Value::String(text) => {
            let name = place.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
            for (at, word) in spelt_out(name, text, words) {
                let changed =
                    format!("{}{}{}", &text[..at], misspelt(&word), &text[at + word.len()..]);
                found.push((format!("{place}={word}"), pointer.clone(), Change::Value(changed)));
            }
        }
        _ => {}
    }
}

/// Misspells the names of a form in parts.
fn in_parts(body: &[u8]) -> Vec<(String, Vec<u8>)> {
    const MARK: &[u8] = b" name=\"";
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = body[at..].windows(MARK.len()).position(|part| part == MARK) {
        let start = at + next + MARK.len();
        let Some(length) = body[start..].iter().position(|byte| *byte == b'"') else { break };
        let name = String::from_utf8_lossy(&body[start..start + length]).into_owned();
        let mut changed = body[..start].to_vec();
        changed.extend_from_slice(misspelt(&name).as_bytes());
        changed.extend_from_slice(&body[start + length..]);
        found.push((name, changed));
        at = start + length;
    }
    found
}
