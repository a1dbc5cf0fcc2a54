//! Formatted text: plain characters and the entities over them, counted in UTF-16 units.

mod html;
mod markdown;
mod markdown_v2;

use serde::{Deserialize, Serialize};

/// A formatted part of a text, in the Bot API's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entity {
    #[serde(rename = "type")]
    pub kind: String,
    pub offset: usize,
    pub length: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_emoji_id: Option<String>,
}

/// Text after parsing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Formatted {
    pub text: String,
    pub entities: Vec<Entity>,
}

/// Parses a text in the given mode (empty: plain text). `Err` is the message after "can't parse entities: ".
pub(crate) fn parse(text: &str, mode: &str) -> Result<Formatted, String> {
    let parsed = match mode.to_ascii_lowercase().as_str() {
        "" | "none" => Formatted { text: text.to_owned(), entities: Vec::new() },
        "html" => html::parse(text)?,
        "markdownv2" => markdown_v2::parse(text)?,
        "markdown" => markdown::parse(text)?,
        _ => return Err("unsupported parse_mode".into()),
    };
    Ok(parsed.trimmed())
}

/// Returns the length in UTF-16 units, in which Telegram counts.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

impl Formatted {
    /// Removes surrounding white space, as Telegram does.
    fn trimmed(mut self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        let cut = units(&self.text[..start]);
        let text = self.text.trim().to_owned();
        let end = units(&text);
        for entity in &mut self.entities {
            let last = (entity.offset + entity.length).saturating_sub(cut).min(end);
            entity.offset = entity.offset.saturating_sub(cut);
            entity.length = last.saturating_sub(entity.offset);
        }
        self.entities.retain(|entity| entity.length > 0);
        self.entities.sort_by_key(|entity| (entity.offset, usize::MAX - entity.length));
        self.text = text;
        self
    }
}

/// The result that the parsers build.
#[derive(Default)]
struct Builder {
    done: Formatted,
    units: usize,
}

/// The start of an entity: in the source by bytes, in the result by units and bytes.
#[derive(Debug, Clone, Copy)]
struct Start {
    source: usize,
    units: usize,
    bytes: usize,
}

impl Builder {
    fn push(&mut self, c: char) {
        self.done.text.push(c);
        self.units += c.len_utf16();
    }

    fn start(&self, source: usize) -> Start {
        Start { source, units: self.units, bytes: self.done.text.len() }
    }

    /// Returns the text since `start`.
    fn since(&self, start: Start) -> &str {
        &self.done.text[start.bytes..]
    }

    /// Ends an entity that began at `start`. An empty one is dropped.
    fn end(&mut self, kind: &str, start: Start) -> Option<&mut Entity> {
        let length = self.units - start.units;
        if length == 0 {
            return None;
        }
        let entity = Entity {
            kind: kind.into(),
            offset: start.units,
            length,
            url: None,
            language: None,
            custom_emoji_id: None,
        };
        self.done.entities.push(entity);
        self.done.entities.last_mut()
    }
}

/// Returns true if a link to this address is allowed.
fn is_link(url: &str) -> bool {
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    let host = if url.contains("://") { url.split("://").nth(1).unwrap_or_default() } else { url };
    let known = !url.contains("://")
        || matches!(scheme.as_str(), "http" | "https" | "tg" | "ton" | "tonsite");
    known
        && !host.is_empty()
        && !url.contains(char::is_whitespace)
        && (host.contains('.') || scheme == "tg" || host.starts_with("localhost"))
}
