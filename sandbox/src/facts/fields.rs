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

/// Returns the first field that none of the objects has, and the kind that has it not.
pub(crate) fn unknown(
    named: &str,
    kinds: &[String],
    nodes: &HashMap<String, Node>,
) -> Option<(String, String)> {
    let known: Vec<_> = kinds.iter().filter_map(|kind| Some((kind, nodes.get(kind)?))).collect();
    let (first, _) = known.first()?;
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
    fn has(&self, name: &str) -> bool {
        self.fields.iter().chain(&self.edges).any(|known| known == name)
    }
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
    use super::split;

    #[test]
    fn names_are_split_outside_of_braces() {
        let found = split("id, comments.limit(1){from{name},id},shares");
        let found: Vec<_> = found.iter().map(|(name, inside)| (name.as_str(), *inside)).collect();
        let expected = [("id", None), ("comments", Some("from{name},id")), ("shares", None)];
        assert_eq!(found, expected);
    }
}
