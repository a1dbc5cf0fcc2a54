//! The parameters of requests.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::{Route, WorkspaceScope, older_names, schema};

/// Returns the components of request headers that several routes accept.
pub fn shared() -> Value {
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "Makes the request safe to send again: within 24 hours the same key brings the first \
                answer back, with `Idempotent-Replayed: true`, and costs a read. Bodies are compared in their canonical \
                form (RFC 8785), so the order of keys and white space do not matter. Only answers to requests that \
                changed something are kept: what was refused or only checked can be sent again under its key, \
                corrected or not.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        },
        "IfMatch": {
            "name": "If-Match",
            "in": "header",
            "required": false,
            "description": "The version to change, as its `ETag` shows it: `\"3\"`; `*` is any. Of another version nothing is \
                changed, and the answer is 412 `stale_version`. Without it the last change wins.",
            "schema": {"type": "string", "maxLength": 30},
        },
    })
}

/// Returns the parameters of a route: path, query and headers.
pub fn of(route: &Route, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = |name| json!({"name": name, "in": "path", "required": true, "schema": in_path(route, name)});
    let mut parameters: Vec<_> = route.path_parameters().map(in_path).collect();
    if let Some(query) = route.query {
        let schema = (query.schema)(generator);
        let known = in_query(schema.as_value());
        let older = older_names::parameters(route.name);
        let older: Vec<_> =
            older.filter_map(|(name, today)| older_parameter(&known, name, today)).collect();
        parameters.extend(known);
        parameters.extend(older);
    }
    if route.method.writes() {
        parameters.push(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
    }
    if route.takes_if_match() {
        parameters.push(json!({"$ref": "#/components/parameters/IfMatch"}));
    }
    parameters
}

/// Returns the schema of a parameter of the path.
pub fn in_path(route: &Route, name: &str) -> Value {
    match (name, route.policy.workspace) {
        // Posts and messages on a simulated network have the network's own ids.
        ("id", _) if route.path.contains("{platform}") => json!({"type": "string"}),
        (
            "id",
            WorkspaceScope::Post
            | WorkspaceScope::Account
            | WorkspaceScope::Comment
            | WorkspaceScope::Conversation,
        ) => json!({"type": "integer"}),
        ("id" | "delivery_id", _) => json!({"type": "string", "format": "uuid"}),
        _ => json!({"type": "string"}),
    }
}

/// Returns a parameter under its older name.
fn older_parameter(known: &[Value], name: &str, today: &str) -> Option<Value> {
    let mut older = known.iter().find(|parameter| parameter["name"] == today)?.clone();
    older["name"] = name.into();
    older["deprecated"] = true.into();
    older["description"] = format!("Older name, taken over into `{today}`.").into();
    Some(older)
}

fn in_query(schema: &Value) -> Vec<Value> {
    let empty = Map::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let one = |(name, schema): (&String, &Value)| {
        let (schema, doc) = plain(schema.clone());
        let is_required = required.iter().any(|other| other == name);
        json!({"name": name, "in": "query", "required": is_required, "description": doc, "schema": schema})
    };
    properties.iter().map(one).collect()
}

/// Returns a property as the schema of a parameter, which is never null, and its description.
fn plain(mut schema: Value) -> (Value, String) {
    let mut doc = String::new();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("default");
        if let Some(Value::String(text)) = fields.remove("description") {
            doc = text;
        }
    }
    schema::single_types(&mut schema);
    (schema, doc)
}
