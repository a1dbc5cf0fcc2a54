//! The input schema of a tool: path, query and body of its route as one flat object, which every client can read.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::arguments::{FIELDS, IF_MATCH, KEY};
use crate::{Route, openapi, schema};

/// Where an argument goes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In the body.
    Body,
    /// In the header `Idempotency-Key`.
    Header,
    /// Nowhere: it says what is shown of the reply.
    Reply,
}

/// The input of a tool, and how it becomes a request.
#[derive(Debug)]
pub struct ToolInput {
    /// The JSON Schema: an object without references and without a combinator at its root.
    pub schema: Map<String, Value>,
    /// The place of each argument.
    pub locations: Vec<(String, ArgumentLocation)>,
    /// The same schema without rules for the fields of the body, which the route checks.
    pub outer: Value,
}

impl ToolInput {
    /// Returns the input of a route's tool.
    pub fn of(route: &Route) -> Self {
        let mut generator = generator();
        let mut input = InputBuilder::default();
        for name in route.path_parameters() {
            input.add(
                name.to_owned(),
                openapi::path_schema(route, name),
                ArgumentLocation::Path,
                true,
            );
        }
        if let Some(query) = route.query {
            input.add_all(&(query.schema)(&mut generator).to_value(), ArgumentLocation::Query);
        }
        if let Some(body) = route.body {
            input.add_all(&(body.schema)(&mut generator).to_value(), ArgumentLocation::Body);
        }
        input.finish(route.method.writes(), route.takes_if_match())
    }

    /// Returns the place of an argument, if there is one of this name.
    pub fn location(&self, name: &str) -> Option<ArgumentLocation> {
        self.locations.iter().find(|(known, _)| known == name).map(|(_, place)| *place)
    }
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator()
}

#[derive(Default)]
struct InputBuilder {
    properties: Map<String, Value>,
    required: Vec<Value>,
    places: Vec<(String, ArgumentLocation)>,
}

impl InputBuilder {
    fn add_all(&mut self, schema: &Value, place: ArgumentLocation) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.iter().any(|other| other == name);
            self.add(name.clone(), property.clone(), place, is_required);
        }
    }

    fn add(&mut self, name: String, mut schema: Value, place: ArgumentLocation, is_required: bool) {
        if self.properties.contains_key(&name) {
            return;
        }
        slim(&mut schema);
        if is_required {
            self.required.push(name.clone().into());
        }
        self.properties.insert(name.clone(), schema);
        self.places.push((name, place));
    }

    fn finish(mut self, writes: bool, takes_if_match: bool) -> ToolInput {
        if takes_if_match {
            let doc = "Change it only if it is at this `version`.";
            let version = json!({"type": "integer", "minimum": 1, "description": doc});
            self.add(IF_MATCH.to_owned(), version, ArgumentLocation::Header, false);
        }
        if writes {
            let doc = "Makes the call safe to repeat: the same key brings the first result back.";
            let key = json!({"type": "string", "maxLength": 255, "description": doc});
            self.add(KEY.to_owned(), key, ArgumentLocation::Header, false);
        } else {
            let doc = "Only these fields of each entry, with commas.";
            let fields = json!({"type": "string", "description": doc});
            self.add(FIELDS.to_owned(), fields, ArgumentLocation::Reply, false);
        }
        let outer = self.outer();
        let schema = schema::object(self.properties, self.required);
        ToolInput { schema, locations: self.places, outer }
    }

    fn outer(&self) -> Value {
        let in_body = |name: &str| {
            self.places
                .iter()
                .any(|(known, place)| known == name && *place == ArgumentLocation::Body)
        };
        let mut properties = self.properties.clone();
        for (name, schema) in &mut properties {
            if in_body(name) {
                *schema = json!({});
            }
        }
        let mut required = self.required.clone();
        required.retain(|name| !name.as_str().is_some_and(in_body));
        json!({"properties": properties, "required": required})
    }
}

/// Returns the schema of the arguments of a tool that is no route.
pub fn of<T: JsonSchema>() -> JsonObject {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    slim(&mut schema);
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    schema::object(properties, schema["required"].as_array().cloned().unwrap_or_default())
}

/// Leaves out what an agent does not need, and writes the rest as every dialect reads it.
fn slim(schema: &mut Value) {
    schema::simplify(schema);
    schema::single_types(schema);
    strip(schema);
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for name in ["x-lines", "$schema"] {
                fields.remove(name);
            }
            if fields.get("title").is_some_and(Value::is_string) {
                fields.remove("title");
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_input_is_one_flat_object_that_every_client_reads() {
        for route in ROUTES {
            let input = ToolInput::of(route);
            assert_eq!(input.schema["type"], "object", "{}", route.name);
            assert_eq!(input.schema["additionalProperties"], false, "{}", route.name);
            for combinator in ["anyOf", "oneOf", "allOf", "$ref", "$defs"] {
                assert!(!input.schema.contains_key(combinator), "{} has {combinator}", route.name);
            }
            let schema = Value::Object(input.schema);
            assert_plain(&schema, route.name);
        }
    }

    /// Fails for what dialects of JSON Schema drop or refuse: references, several types, unions.
    fn assert_plain(schema: &Value, name: &str) {
        for (place, value) in schema.as_object().into_iter().flatten() {
            let is_odd = ["$ref", "anyOf", "oneOf", "allOf", "prefixItems"].contains(&&**place)
                || (place == "type" && value.is_array());
            assert!(!is_odd, "{name} has {place}: {value}");
            match value {
                Value::Object(properties) if place == "properties" => {
                    properties.values().for_each(|property| assert_plain(property, name));
                }
                Value::Object(_) => assert_plain(value, name),
                _ => {}
            }
        }
    }

    #[test]
    fn path_query_and_body_stand_side_by_side() {
        let named = |name: &str| ROUTES.iter().find(|route| route.name == name).unwrap();
        let input = ToolInput::of(named("update_post"));
        let place = |name: &str| {
            input.locations.iter().find(|(known, _)| known == name).map(|(_, place)| *place)
        };
        assert_eq!(place("id"), Some(ArgumentLocation::Path));
        assert_eq!(place("caption"), Some(ArgumentLocation::Body));
        assert_eq!(input.schema["required"], json!(["id"]));
        assert_eq!(input.schema["properties"]["id"]["type"], "integer");
        let listed = ToolInput::of(named("list_posts"));
        assert!(listed.locations.contains(&("limit".to_owned(), ArgumentLocation::Query)));
        assert!(listed.schema["properties"].get("idempotency_key").is_none());
    }
}
