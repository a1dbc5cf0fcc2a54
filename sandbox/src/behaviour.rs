//! How an account's network behaves besides its faults: lists that lag, a clock that is off, texts that come back changed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// What `PUT /_control/{platform}/behaviour` sets for an account. What is left out is as it usually is.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Behaviour {
    /// The time for which lists and look-ups do not show what was just made, in milliseconds.
    pub list_lag_ms: u32,
    /// The time by which this network's clock is ahead of the sandbox's, in milliseconds: of what is made with the
    /// account, and of `Date`.
    pub clock_ms: i64,
    /// Changes of texts in what reads show, in this order.
    pub rewrite: Vec<Rewrite>,
}

/// A change of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rewrite {
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
    /// Half of the text, with an ellipsis.
    Cut,
}

/// The names of fields that hold the id of the object that they are in.
const ID_FIELDS: [&str; 5] = ["id", "uri", "ts", "name", "videoId"];

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

impl Behaviour {
    /// Returns what a read shows: without the objects with these ids, which were made a moment ago, and with changed
    /// texts.
    pub fn shown(&self, mut body: Value, fresh: &[String]) -> Value {
        if !fresh.is_empty() {
            hide(&mut body, fresh);
        }
        if !self.rewrite.is_empty() {
            self.rewrite_texts(&mut body);
        }
        body
    }

    fn rewrite_texts(&self, value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(|one| self.rewrite_texts(one)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if TEXT_FIELDS.contains(&name.as_str()) => {
                            *text =
                                self.rewrite.iter().fold(text.clone(), |text, op| op.apply(&text));
                        }
                        value => self.rewrite_texts(value),
                    }
                }
            }
            _ => {}
        }
    }
}

impl Rewrite {
    fn apply(self, text: &str) -> String {
        match self {
            // An id or an address is no text.
            Self::Entities | Self::Cut if !text.contains(' ') => text.to_owned(),
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Trim => text.trim().to_owned(),
            Self::Fold => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Self::Strip => {
                text.replace(['\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}', '\u{ad}'], "")
            }
            Self::Entities => {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                text.replace('>', "&gt;").replace('"', "&quot;")
            }
            Self::Cut => {
                let half = text.chars().count().div_ceil(2);
                format!("{}…", text.chars().take(half).collect::<String>())
            }
        }
    }
}

/// Takes the objects with these ids out of lists, and puts null in the place of one that was looked up.
fn hide(value: &mut Value, ids: &[String]) {
    match value {
        Value::Array(list) => {
            list.retain(|one| !is_one_of(one, ids, 2));
            list.iter_mut().for_each(|one| hide(one, ids));
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                if is_one_of(value, ids, 0) {
                    *value = Value::Null;
                }
                hide(value, ids);
            }
        }
        _ => {}
    }
}

/// Returns true for an object with one of these ids, or with one `deep` levels below.
fn is_one_of(value: &Value, ids: &[String], deep: usize) -> bool {
    let Value::Object(fields) = value else { return false };
    let is_id = |value: &Value| match value {
        Value::String(text) => ids.contains(text),
        Value::Number(number) => ids.contains(&number.to_string()),
        _ => false,
    };
    ID_FIELDS.iter().filter_map(|name| fields.get(*name)).any(is_id)
        || (deep > 0 && fields.values().any(|value| is_one_of(value, ids, deep - 1)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Behaviour;

    fn behaviour(rewrite: Value) -> Behaviour {
        serde_json::from_value(json!({ "rewrite": rewrite })).unwrap()
    }

    #[test]
    fn what_was_just_made_is_not_shown() {
        let fresh = ["7".to_owned(), "urn:x:8".to_owned()];
        let body = json!({
            "data": [{"id": 7}, {"id": "9", "parent": 7}, {"post": {"id": "7"}}, {"urn": "urn:x:8", "id": "urn:x:8"}],
            "publication": {"post": {"id": "7", "slug": "a"}},
        });
        let shown = json!({"data": [{"id": "9", "parent": 7}], "publication": {"post": null}});
        assert_eq!(behaviour(json!([])).shown(body, &fresh), shown);
    }

    #[test]
    fn texts_come_back_changed() {
        let changed = behaviour(json!(["nfd", "fold", "trim", "strip", "entities"]));
        let body = json!({"id": "é", "items": [{"text": " é &\n <b> \u{200b}"}]});
        let shown = json!({"id": "é", "items": [{"text": "e\u{301} &amp; &lt;b&gt; "}]});
        assert_eq!(changed.shown(body, &[]), shown);
        let cut = behaviour(json!(["cut"])).shown(json!({"text": "one two"}), &[]);
        assert_eq!(cut, json!({"text": "one …"}));
    }
}
