//! Selects the fields of a node that a request names.

use serde_json::{Map, Value};

use super::failure;
use crate::call::Call;
use crate::reply::Reply;

/// Returns the id and the fields that the request names. `known` are optional fields of such a node.
pub(crate) fn pick(call: &Call, whole: &Value, known: &[&str], node: &str) -> Result<Value, Reply> {
    let mut picked = Map::new();
    if let Some(id) = whole.get("id") {
        picked.insert("id".into(), id.clone());
    }
    for field in names(&call.query_value("fields").unwrap_or_default()) {
        match whole.get(&field) {
            Some(value) => drop(picked.insert(field, value.clone())),
            None if known.contains(&field.as_str()) => {}
            None => return Err(nonexisting(&field, node)),
        }
    }
    Ok(Value::Object(picked))
}

/// Returns the error for a field or edge that such a node has not.
pub(crate) fn nonexisting(field: &str, node: &str) -> Reply {
    let message =
        format!("(#100) Tried accessing nonexisting field ({field}) on node type ({node})");
    failure::graph(400, 100, 0, &message)
}

/// Returns the names in `a,b{c,d},e` outside of braces.
fn names(text: &str) -> Vec<String> {
    let (mut names, mut depth) = (vec![String::new()], 0_u32);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => names.push(String::new()),
            c if depth == 0 && !c.is_whitespace() => {
                names.iter_mut().last().into_iter().for_each(|name| name.push(c))
            }
            _ => {}
        }
    }
    // `a.limit(5)` is `a`.
    for name in &mut names {
        name.truncate(name.find('.').unwrap_or(name.len()));
    }
    names.retain(|name| !name.is_empty());
    names
}
