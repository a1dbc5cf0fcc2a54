//! Replies made from their schemas.

use serde_json::{Value, json};

use super::{DOCUMENT, Operation, resolved};

/// Depth at which a schema that holds itself ends.
const DEEPEST: usize = 8;

impl Operation {
    /// Returns a reply as the document describes it. `marks` gets the path and the text of each scalar in it.
    pub fn sample(&self, marks: &mut Vec<(String, String)>) -> Value {
        sample(self.reply(&DOCUMENT), "", marks)
    }
}

fn sample(schema: &Value, path: &str, marks: &mut Vec<(String, String)>) -> Value {
    let schema = resolved(&DOCUMENT, schema);
    let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    if let Some(choice) = choices.into_iter().flatten().find(|choice| choice["type"] != "null") {
        return sample(choice, path, marks);
    }
    let is = |kind: &str| match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    if let Some(fields) = schema["properties"].as_object() {
        let deep = path.split('/').count() > DEEPEST;
        let fields = fields.iter().filter(|_| !deep);
        return fields
            .map(|(name, schema)| (name.clone(), sample(schema, &format!("{path}/{name}"), marks)))
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    if is("array") {
        return json!([sample(&schema["items"], &format!("{path}/0"), marks)]);
    }
    if is("object") {
        return json!({});
    }
    let number = 1_000_000 + marks.len();
    let value = match (is("integer") || is("number"), is("boolean")) {
        (true, _) => json!(number),
        (_, true) => json!(true),
        _ => json!(format!("value{number}")),
    };
    if !value.is_boolean() {
        marks.push((
            path.to_owned(),
            value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        ));
    }
    value
}
