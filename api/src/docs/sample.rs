//! Makes example values from JSON Schemas, so that they are never out of date.

use serde_json::{Map, Value, json};

/// Makes samples for the schemas of a document.
pub struct Sampler<'a>(pub &'a Value);

impl Sampler<'_> {
    /// Returns a value of this schema.
    pub fn of(&self, schema: &Value) -> Value {
        self.named(schema, "", &[]).unwrap_or_default()
    }

    /// Returns a value for a field inside these schemas; `None` for one that would recurse for ever.
    fn named(&self, schema: &Value, name: &str, within: &[String]) -> Option<Value> {
        if let Some(path) = schema["$ref"].as_str() {
            if within.iter().any(|outer| outer == path) {
                return None;
            }
            let target = self.0.pointer(path.strip_prefix('#')?)?;
            return self.named(target, name, &[within, &[path.to_owned()]].concat());
        }
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
            return Some(first.clone());
        }
        let choices = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array());
        let parts = schema["allOf"].as_array();
        if choices.is_none() && parts.is_none() {
            return self.typed(schema, name, within);
        }
        let mut whole = match choices {
            Some(choices) => self.chosen(choices, name, within)?,
            None => json!({}),
        };
        for part in parts.into_iter().flatten() {
            merge(&mut whole, self.named(part, name, within)?);
        }
        if schema["properties"].is_object() {
            merge(&mut whole, self.object(schema, within));
        }
        Some(whole)
    }

    /// Returns the first choice that does not recurse.
    fn chosen(&self, choices: &[Value], name: &str, within: &[String]) -> Option<Value> {
        let may_be_null = choices.iter().any(is_null);
        if may_be_null && is_left_out(name) {
            return Some(Value::Null);
        }
        let mut full = choices.iter().filter(|choice| !is_null(choice));
        let found = full.find_map(|choice| self.named(choice, name, within));
        found.or(may_be_null.then_some(Value::Null))
    }

    fn typed(&self, schema: &Value, name: &str, within: &[String]) -> Option<Value> {
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ if schema["properties"].is_object() => vec!["object"],
            _ => return Some(json!({})),
        };
        if kinds.contains(&"null") && is_left_out(name) {
            return Some(Value::Null);
        }
        let kind = kinds.into_iter().find(|kind| *kind != "null").unwrap_or("null");
        Some(match kind {
            "string" => text(schema, name).into(),
            "integer" => whole_number(schema, name).into(),
            "number" => schema["minimum"].as_f64().unwrap_or(0.5).max(0.5).into(),
            "boolean" => (name != "deleted" && name != "sandbox").into(),
            "array" => self.list(schema, name, within),
            "object" => self.object(schema, within),
            _ => Value::Null,
        })
    }

    fn list(&self, schema: &Value, name: &str, within: &[String]) -> Value {
        if let Some(fixed) = schema["prefixItems"].as_array() {
            return fixed.iter().map(|item| self.named(item, name, within)).collect();
        }
        let one = schema["items"].as_object().map(|items| Value::Object(items.clone()));
        let one = one.and_then(|items| self.named(&items, name, within));
        let least = usize::try_from(schema["minItems"].as_u64().unwrap_or(1)).unwrap_or(1);
        Value::Array(one.map(|one| vec![one; least.max(1)]).unwrap_or_default())
    }

    fn object(&self, schema: &Value, within: &[String]) -> Value {
        let mut fields = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            fields.insert(name.clone(), self.named(field, name, within).unwrap_or_default());
        }
        if let Some(Value::Object(more)) =
            of_this_kind(schema, &fields).map(|described| self.object(described, within))
        {
            fields.extend(more);
        }
        Value::Object(fields)
    }
}

/// Returns what the conditions of a schema say of an object with these fields.
fn of_this_kind<'a>(schema: &'a Value, fields: &Map<String, Value>) -> Option<&'a Value> {
    let condition = schema["if"]["properties"].as_object()?;
    let fits = condition.iter().all(|(name, wanted)| {
        let mut choices = wanted["enum"].as_array().into_iter().flatten();
        choices.any(|choice| fields.get(name) == Some(choice))
    });
    if fits { Some(&schema["then"]) } else { of_this_kind(&schema["else"], fields) }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// Returns true for fields that are usually null.
fn is_left_out(name: &str) -> bool {
    let words =
        ["error", "cursor", "reason", "addon", "pause", "pending_change", "next_attempt_at"];
    words.iter().any(|word| name.ends_with(word)) || name.starts_with("requested_")
}

fn merge(whole: &mut Value, part: Value) {
    if let (Value::Object(whole), Value::Object(part)) = (whole, part) {
        whole.extend(part);
    }
}

fn whole_number(schema: &Value, name: &str) -> i64 {
    let usual = match name {
        "id" => 42,
        "account_id" | "social_account_id" => 7,
        "post_id" | "post_ids" | "similar" => 42,
        _ => 1,
    };
    let least = schema["minimum"].as_i64().unwrap_or(i64::MIN);
    let most = schema["maximum"].as_i64().unwrap_or(i64::MAX);
    if usual < least { least } else { usual.min(most) }
}

fn text(schema: &Value, name: &str) -> String {
    let usual = match (schema["format"].as_str(), name) {
        (Some("date-time"), _) => "2030-01-31T09:00:00Z",
        (Some("date"), _) => "2030-01-31",
        (Some("uuid"), _) => "0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d",
        (Some("uri"), _) => "https://example.com/",
        (_, "caption" | "text") => "Hello!",
        (_, "username") => "ada",
        (_, "platform") => "bluesky",
        (_, "email") => "ada@example.com",
        (_, "name" | "display_name" | "label") => "Ada",
        (_, "timezone") => "Europe/Berlin",
        (_, "filename") => "photo.jpg",
        (_, "mime") => "image/jpeg",
        (_, "from" | "to" | "date") => "2030-01-31",
        (_, name) if name.ends_with("_at") || name.ends_with("_until") => "2030-01-31T09:00:00Z",
        (_, name) if name.ends_with("url") || name.ends_with("urls") => {
            "https://example.com/photo.jpg"
        }
        (_, "request_id") => "req_0192f0c12d3e",
        (_, name) if name.ends_with("id") => "0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d",
        _ => return if name.is_empty() { "text".to_owned() } else { name.replace('_', " ") },
    };
    usual.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_every_field_with_a_value_of_its_type() {
        let document = json!({"components": {"Thing": {"type": "object", "properties": {"id": {"type": "integer"}}}}});
        let schema = json!({"type": "object", "properties": {
            "things": {"type": "array", "items": {"$ref": "#/components/Thing"}},
            "next_cursor": {"type": ["string", "null"]},
            "status": {"enum": ["open", "closed"]},
            "made_at": {"type": "string", "format": "date-time"},
            "either": {"anyOf": [{"type": "null"}, {"$ref": "#/components/Thing"}]},
        }});
        assert_eq!(
            Sampler(&document).of(&schema),
            json!({"things": [{"id": 42}], "next_cursor": null, "status": "open",
                "made_at": "2030-01-31T09:00:00Z", "either": {"id": 42}})
        );
    }

    #[test]
    fn a_sample_keeps_the_conditions_of_its_schema() {
        let of = |kind: &str, field: &str| {
            let data = json!({"type": "object", "properties": {field: {"type": "boolean"}}});
            (
                json!({"properties": {"kind": {"enum": [kind]}}}),
                json!({"properties": {"data": data}}),
            )
        };
        let (first, second) = (of("a", "one"), of("b", "two"));
        for (kind, data) in
            [("a", json!({"one": true})), ("b", json!({"two": true})), ("c", json!({}))]
        {
            let schema = json!({
                "type": "object",
                "properties": {"kind": {"enum": [kind]}, "data": {"type": "object"}},
                "if": first.0, "then": first.1,
                "else": {"if": second.0, "then": second.1},
            });
            let sample = Sampler(&Value::Null).of(&schema);
            assert_eq!(sample, json!({"kind": kind, "data": data}));
        }
    }

    #[test]
    fn a_schema_that_holds_itself_has_an_end() {
        let own = json!({"$ref": "#/a"});
        let document = json!({"a": {"type": "object", "properties": {
            "one": {"anyOf": [own, {"type": "null"}]}, "more": {"type": "array", "items": own},
        }}});
        assert_eq!(Sampler(&document).of(&own), json!({"one": null, "more": []}));
    }
}
