//! Parts of the document, for readers who cannot take all of it: some operations, with the components that they use.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Returns the document of the operations that `keep` returns true for; `None` if there are none.
#[must_use]
pub fn part(document: &Value, keep: impl Fn(&Value) -> bool) -> Option<Value> {
    let mut paths = Map::new();
    for (path, operations) in document["paths"].as_object()? {
        let mut kept = operations.as_object()?.clone();
        kept.retain(|_, operation| keep(operation));
        if !kept.is_empty() {
            paths.insert(path.clone(), kept.into());
        }
    }
    if paths.is_empty() {
        return None;
    }
    let paths = Value::Object(paths);
    let mut components = used(document, &paths);
    components["securitySchemes"] = document["components"]["securitySchemes"].clone();
    let mut part = json!({"paths": paths, "components": components});
    for name in ["openapi", "info", "servers", "security"] {
        part[name] = document[name].clone();
    }
    Some(part)
}

/// Returns the components that a value refers to, and those that they refer to.
fn used(document: &Value, from: &Value) -> Value {
    let (mut found, mut open) = (BTreeSet::new(), references(from));
    let mut components = json!({});
    while let Some(path) = open.pop() {
        let steps: Vec<_> = path.trim_start_matches("#/components/").split('/').collect();
        let (Some(component), [kind, name]) =
            (document.pointer(path.trim_start_matches('#')), steps.as_slice())
        else {
            continue;
        };
        if found.insert(path.clone()) {
            components[*kind][*name] = component.clone();
            open.extend(references(component));
        }
    }
    components
}

fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{openapi, routes::ROUTES};

    #[test]
    fn the_chapters_together_are_the_document_and_each_stands_alone() {
        let document = openapi::document("https://f.example", ROUTES);
        let mut operations = 0;
        for (tag, _) in openapi::TAGS {
            let part = part(&document, |operation| operation["tags"][0] == tag).unwrap();
            for path in references(&part) {
                assert!(part.pointer(path.trim_start_matches('#')).is_some(), "{tag}: {path}");
            }
            assert!(part.to_string().len() < 300_000, "{tag}: {}", part.to_string().len());
            let methods = part["paths"].as_object().unwrap().values();
            operations += methods.map(|methods| methods.as_object().unwrap().len()).sum::<usize>();
        }
        let all = document["paths"].as_object().unwrap().values();
        assert_eq!(
            operations,
            all.map(|methods| methods.as_object().unwrap().len()).sum::<usize>()
        );
        assert!(part(&document, |_| false).is_none());
    }
}
