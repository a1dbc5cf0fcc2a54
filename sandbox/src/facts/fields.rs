//! The fields that `fields=id,comments{from{name}}` names, against those that objects have.

use std::collections::HashMap;

use serde::Deserialize;

/// A kind of object.
#[derive(Deserialize)]
pub(crate) struct Node {
    fields: Vec<String>,
    #[serde(default)]
    edges: Vec<String>,
    /// The kinds of objects that fields and edges hold, where they are known.
    #[serde(default)]
    of: HashMap<String, String>,
}

/// The modifiers of a field, as in `comments.limit(5)`.
const MODIFIERS: [&str; 13] = [
    "limit", "summary", "filter", "order", "offset", "since", "until", "after", "before", "type",
    "width", "height", "fields",
];
/// The parts of a summary.
const SUMMARIES: [&str; 7] = ["true", "false", "1", "0", "total_count", "order", "can_comment"];

/// Returns the first field that none of the objects has, and the kind that has it not.
pub(crate) fn unknown(
    named: &str,
    kinds: &[String],
    nodes: &HashMap<String, Node>,
) -> Option<(String, String)> {
    let known: Vec<_> = kinds.iter().filter_map(|kind| Some((kind, nodes.get(kind)?))).collect();
    let (first, _) = known.first()?;
    if let Some(strange) = strange_modifier(named) {
        return Some((strange, (*first).clone()));
    }
    for (name, inside) in split(named) {
        let having: Vec<_> = known.iter().filter(|(_, node)| node.has(&name)).collect();
        if having.is_empty() {
            return Some((name, (*first).clone()));
        }
        let inner: Vec<String> =
            having.iter().filter_map(|(_, node)| node.of.get(&name).cloned()).collect();
        if let Some(found) = inside.and_then(|inside| unknown(inside, &inner, nodes)) {
            return Some(found);
        }
    }
    None
}

impl Node {
    /// Returns the kind of object that a field holds.
    pub fn kind_of(&self, field: &str) -> Option<&str> {
        self.of.get(field).map(String::as_str)
    }

    /// Returns true if the objects have a field or edge.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().chain(&self.edges).any(|known| known == name)
    }
}

/// Returns the first modifier behind a field that is none.
fn strange_modifier(named: &str) -> Option<String> {
    let pieces = named.split(['.', ',', '}', '{']).filter_map(|piece| piece.split_once('('));
    let strange = pieces.filter(|(name, given)| {
        let given = given.split(')').next().unwrap_or_default();
        let fits = *name != "summary" || SUMMARIES.contains(&given.trim());
        !(fits && MODIFIERS.contains(name))
    });
    strange.map(|(name, given)| format!("{name}({given}")).next()
}

/// Returns the names outside of braces, each with what stands in its braces. `a.limit(5){b}` is `a` with `b`.
fn split(text: &str) -> Vec<(String, Option<&str>)> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let named = parts.into_iter().map(|part| {
        let end = part.find(['{', '.', '(']).unwrap_or(part.len());
        let inside = part.find('{').map(|open| part[open + 1..].trim_end_matches('}'));
        (part[..end].trim().to_owned(), inside)
    });
    named.filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{split, strange_modifier};

    #[test]
    fn names_are_split_outside_of_braces() {
        let found = split("id, comments.limit(1){from{name},id},shares");
        let found: Vec<_> = found.iter().map(|(name, inside)| (name.as_str(), *inside)).collect();
        let expected = [("id", None), ("comments", Some("from{name},id")), ("shares", None)];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_stands_behind_a_field_is_known() {
        let good = "id,comments.summary(total_count).limit(0){from.fields(id)},likes.limit(2)";
        assert_eq!(strange_modifier(good), None);
        for bad in ["likes.limits(2)", "likes.summary(total_counts)", "id,likes.as(hearts)"] {
            assert!(strange_modifier(bad).is_some(), "{bad}");
        }
    }
}
