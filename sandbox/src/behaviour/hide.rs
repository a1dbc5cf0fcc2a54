//! Takes things that were made a moment ago out of what a read shows.

use serde_json::{Map, Value};

/// The names of fields that hold the id of the object that they are in.
const ID_FIELDS: [&str; 5] = ["id", "uri", "ts", "name", "videoId"];

/// Takes the objects with these ids out of lists, and puts null in the place of one that was looked up.
pub(super) fn hide(value: &mut Value, ids: &[String]) {
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
    ids.iter().any(|id| is_named(fields, id))
        || (deep > 0 && fields.values().any(|value| is_one_of(value, ids, deep - 1)))
}

/// Returns true for an object with this id.
pub(super) fn is_named(fields: &Map<String, Value>, id: &str) -> bool {
    ID_FIELDS.iter().filter_map(|name| fields.get(*name)).any(|value| match value {
        Value::String(text) => text == id,
        Value::Number(number) => number.to_string() == id,
        _ => false,
    })
}
