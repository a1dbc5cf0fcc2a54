//! Schemas of tools as their list shows them: shorter than those that are enforced, and true of whatever those take.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::{
    arguments::{FIELDS, KEY},
    schema::ToolInput,
};

/// The most fields of an entry of a list. A larger entry is what another tool takes, and is described there.
const MAX_ENTRY_FIELDS: usize = 8;

/// Rules that descriptions name, or that a refusal explains to a caller who breaks them.
const RULES: [&str; 8] =
    ["maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "format", "default"];

/// Arguments of many tools whose names say what they are.
const PLAIN: [&str; 3] = ["workspace_id", KEY, FIELDS];

/// Returns the schema of a tool's arguments for the list of tools.
#[must_use]
pub fn listed(input: &ToolInput) -> JsonObject {
    let mut schema = input.schema.clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // Fields that exist only for a better refusal are not offered.
        properties.retain(|_, property| property["readOnly"] != true);
        for (name, property) in properties.iter_mut() {
            match PLAIN.contains(&name.as_str()) {
                true => *property = json!({"type": "string"}),
                false => shorten(property),
            }
        }
    }
    schema.retain(|name, value| name != "required" || *value != json!([]));
    schema
}

fn shorten(schema: &mut Value) {
    let has_choices = schema["enum"].is_array();
    let Some(fields) = schema.as_object_mut() else { return };
    fields.retain(|name, _| !RULES.contains(&name.as_str()));
    if has_choices && let Some(Value::String(doc)) = fields.get_mut("description") {
        // The choices stand beside it.
        doc.truncate(doc.find("\n\n").unwrap_or(doc.len()));
    }
    if let Some(items) = fields.get_mut("items") {
        let size = items["properties"].as_object().map_or(0, Map::len);
        match size > MAX_ENTRY_FIELDS {
            true => *items = json!({"type": "object"}),
            false => shorten(items),
        }
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(shorten);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn what_is_listed_has_the_same_arguments() {
        for route in ROUTES {
            let input = ToolInput::of(route);
            let listed = listed(&input);
            let required = input.schema.get("required").filter(|names| **names != json!([]));
            assert_eq!(listed.get("required"), required, "{}", route.name);
            let arguments = |schema: &JsonObject| -> Vec<(String, Value)> {
                let all = schema["properties"].as_object().unwrap().iter();
                let offered = all.filter(|(_, one)| one["readOnly"] != true);
                offered.map(|(name, one)| (name.clone(), one["type"].clone())).collect()
            };
            assert_eq!(arguments(&listed), arguments(&input.schema), "{}", route.name);
        }
    }
}
