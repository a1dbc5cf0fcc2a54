//! Arguments and variables of an operation, against what the network describes.

use serde_json::Value;

use super::graphql::{Field, Operation};
use crate::facts::{self, Facts};

/// Types that variables may have.
const TYPES: [&str; 7] =
    ["ID", "ObjectId", "String", "Int", "Float", "Boolean", "PublishPostInput"];

/// Returns what is wrong with the variables or arguments of an operation.
pub(super) fn objection(operation: &Operation) -> Option<String> {
    let unknown = operation.variables.iter().find(|kind| !TYPES.contains(&kind.as_str()));
    if let Some(kind) = unknown {
        return Some(format!("Unknown type \"{kind}\"."));
    }
    let root = if operation.is_mutation { "Mutation" } else { "Query" };
    in_fields(facts::of("hashnode")?, root, &operation.fields)
}

fn in_fields(facts: &Facts, parent: &str, fields: &[Field]) -> Option<String> {
    fields.iter().find_map(|field| {
        let inner = || {
            let kind = facts.kind_of_field(parent, &field.name)?;
            in_fields(facts, kind, &field.fields)
        };
        of_field(facts, parent, field).or_else(inner)
    })
}

fn of_field(facts: &Facts, parent: &str, field: &Field) -> Option<String> {
    let place = format!("{parent}.{}", field.name);
    if !facts.has_arguments(&place) {
        let name = field.arguments.keys().next()?;
        return Some(format!("Unknown argument \"{name}\" on field \"{place}\"."));
    }
    let given = Value::Object(field.arguments.clone());
    let found = facts.arguments(&place, &given)?;
    // The fields of an article are judged where it is published.
    let is_ours = !found.path().starts_with("input.") || found.path().starts_with("input.tags");
    is_ours.then(|| format!("Arguments of field \"{place}\": {found}."))
}
