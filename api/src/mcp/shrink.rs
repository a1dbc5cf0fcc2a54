//! Makes replies as small as the context of an agent needs them: only the fields that it asks for, and long values cut.

use fanfare_core::{Code, Error, Result};
use serde_json::{Map, Value};

/// The field that names what was cut or left out of the object that it is in.
const TRUNCATED: &str = "truncated";

/// The most bytes that naming what was cut takes, for lists.
const MARK_MAX: usize = 100;

/// What is cut, one round after another until the reply is small enough: texts of more than so many bytes, and fields
/// of entries of more than so many.
const ROUNDS: [(usize, usize); 4] = [(8_000, usize::MAX), (2_000, 8_000), (500, 2_000), (160, 400)];

/// Cuts a reply to at most `most` bytes of JSON. Ids, statuses, addresses and all other short values stay; the object
/// that held what was cut names it in `truncated`.
pub fn fit(reply: &mut Value, most: usize) {
    for (text, field) in ROUNDS {
        if reply.to_string().len() <= most {
            return;
        }
        cut_texts(reply, text);
        if let Value::Object(fields) = reply {
            for value in fields.values_mut() {
                drop_fields(value, field);
            }
        }
    }
    shorten_lists(reply, most);
}

/// Cuts the texts of a value that are longer than this.
fn cut_texts(value: &mut Value, most: usize) {
    match value {
        Value::Object(fields) => {
            let mut marked = Vec::new();
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if text.len() > most && !is_exact(name) => {
                        cut(text, most);
                        marked.push(name.clone());
                    }
                    _ => cut_texts(value, most),
                }
            }
            mark(fields, marked);
        }
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) if text.len() > most && !text.contains("://") => {
                        cut(text, most);
                    }
                    _ => cut_texts(item, most),
                }
            }
        }
        _ => {}
    }
}

fn cut(text: &mut String, most: usize) {
    text.truncate(text.floor_char_boundary(most));
    text.push('…');
}

/// Returns true for fields whose values are of no use if a part is missing.
fn is_exact(name: &str) -> bool {
    ["id", "url", "cursor", "code", "path", "token", "key"].iter().any(|end| name.ends_with(end))
}

/// Leaves out the lists and objects of a value that take more bytes than this; an object with an id loses fields only.
fn drop_fields(value: &mut Value, most: usize) {
    match value {
        Value::Object(fields) => {
            let kept = fields.values_mut().filter(|value| value.get("id").is_some());
            kept.for_each(|value| drop_fields(value, most));
            let is_large = |value: &Value| {
                let is_part = value.is_array() || (value.is_object() && value.get("id").is_none());
                is_part && value.to_string().len() > most
            };
            let large: Vec<String> = fields
                .iter()
                .filter(|(name, value)| *name != TRUNCATED && is_large(value))
                .map(|(name, _)| name.clone())
                .collect();
            for name in &large {
                fields.remove(name);
            }
            mark(fields, large);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_fields(item, most)),
        _ => {}
    }
}

/// Takes entries off the ends of the longest lists until the reply is small enough.
fn shorten_lists(reply: &mut Value, most: usize) {
    let mut length = reply.to_string().len() + MARK_MAX;
    let Value::Object(fields) = reply else { return };
    let mut cut = Vec::new();
    while length > most {
        let lists =
            fields.iter_mut().filter_map(|(name, value)| Some((name, value.as_array_mut()?)));
        let longest = lists.max_by_key(|(_, items)| items.len());
        let Some((name, last)) = longest.and_then(|(name, items)| Some((name, items.pop()?)))
        else {
            break;
        };
        length = length.saturating_sub(last.to_string().len() + 1);
        cut.push(name.clone());
    }
    mark(fields, cut);
}

fn mark(fields: &mut Map<String, Value>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let marked = fields.entry(TRUNCATED).or_insert_with(|| Value::Array(Vec::new()));
    let Some(marked) = marked.as_array_mut() else { return };
    for name in names {
        if !marked.iter().any(|known| *known == name) {
            marked.push(name.into());
        }
    }
}

/// Leaves only these fields, named with commas between them, and `id` in the entries of a reply: the objects of its
/// lists, or the one object that it shows.
///
/// # Errors
/// [`Code::InvalidField`] for a name that no entry has.
pub fn select(reply: &mut Value, wanted: &str) -> Result<()> {
    let wanted: Vec<&str> =
        wanted.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut entries = Vec::new();
    for value in reply.as_object_mut().into_iter().flat_map(Map::values_mut) {
        match value {
            Value::Object(fields) => entries.push(fields),
            Value::Array(items) => {
                entries.extend(items.iter_mut().filter_map(Value::as_object_mut))
            }
            _ => {}
        }
    }
    let Some(first) = entries.first() else { return Ok(()) };
    let known: Vec<&str> = first.keys().map(String::as_str).collect();
    let unknown =
        wanted.iter().find(|name| !entries.iter().any(|entry| entry.contains_key(**name)));
    if let Some(name) = unknown {
        let message = format!("fields names {name:?}, which the reply does not have.");
        let remedy = format!("Use some of: {}.", known.join(", "));
        return Err(Error::field(Code::InvalidField, "fields", message, remedy));
    }
    for entry in entries {
        entry.retain(|name, _| name == "id" || wanted.contains(&name.as_str()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MOST: usize = 40_000;

    fn fitted(mut reply: Value) -> Value {
        fit(&mut reply, MOST);
        let length = reply.to_string().len();
        assert!(length <= MOST, "{length}");
        reply
    }

    #[test]
    fn a_small_reply_stays_as_it_is() {
        let reply = json!({"posts": [{"id": 1, "caption": "x".repeat(30_000)}]});
        assert_eq!(fitted(reply.clone()), reply);
    }

    #[test]
    fn one_long_text_is_cut_and_named() {
        let shown =
            fitted(json!({"post": {"id": 7, "status": "draft", "caption": "é".repeat(500_000)}}));
        let post = &shown["post"];
        assert_eq!((&post["id"], &post["status"]), (&json!(7), &json!("draft")));
        assert_eq!(post["truncated"], json!(["caption"]));
        assert!(post["caption"].as_str().unwrap().ends_with('…'));
    }

    #[test]
    fn every_id_and_status_of_a_batch_is_kept() {
        let urls: Vec<String> =
            (0..35).map(|n| format!("https://a.example/{n}/{}", "x".repeat(2_000))).collect();
        let item = |index: usize| {
            json!({"index": index, "replayed": false, "outcome": "created", "warnings": [], "post": {
                "id": index, "status": "draft", "caption": "word ".repeat(200_000), "media_urls": urls,
                "metadata": {"segments": vec!["word ".repeat(1_000); 100]},
            }})
        };
        let items: Vec<Value> = (0..25).map(item).collect();
        let shown = fitted(json!({"total": 25, "posts": items, "errors": []}));
        let posts = shown["posts"].as_array().unwrap();
        assert_eq!(posts.len(), 25);
        for (index, item) in posts.iter().enumerate() {
            assert_eq!(item["post"]["id"], index);
            assert_eq!(item["post"]["status"], "draft");
        }
    }

    #[test]
    fn a_list_of_many_small_entries_ends_early_and_says_so() {
        let rows: Vec<Value> = (0..5_000).map(|id| json!({"id": id, "name": "n"})).collect();
        let shown = fitted(json!({"rows": rows, "total": 5_000}));
        assert_eq!(shown["truncated"], json!(["rows"]));
        assert_eq!(shown["rows"][0], json!({"id": 0, "name": "n"}));
    }

    #[test]
    fn fields_are_chosen_and_unknown_ones_named() {
        let reply =
            json!({"posts": [{"id": 1, "status": "draft", "caption": "c"}], "next_cursor": "1"});
        let mut chosen = reply.clone();
        select(&mut chosen, "status").unwrap();
        assert_eq!(chosen, json!({"posts": [{"id": 1, "status": "draft"}], "next_cursor": "1"}));
        let refused = select(&mut reply.clone(), "status, stauts").unwrap_err();
        assert!(refused.message().contains("stauts"), "{}", refused.message());
    }
}
