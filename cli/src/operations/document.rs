//! The operations of the OpenAPI document of this version.

use std::sync::LazyLock;

use reqwest::Method;
use serde_json::Value;

use super::shape::Shape;

/// The document; a test fails if it is out of date.
static TEXT: &str = include_str!("../../../docs/openapi.json");

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

/// Where a parameter goes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterLocation {
    /// In the path; positional on the command line.
    Path,
    /// In the query.
    Query,
    /// In the body.
    Body,
}

/// The type of a parameter, as far as the command line distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Text, or several types that include it.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// Several texts: the flag may be repeated.
    Texts,
    /// Anything else: JSON, or `@` and a file.
    Json,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name in the API.
    pub name: String,
    /// The description.
    pub doc: String,
    /// The type.
    pub kind: ParameterKind,
    /// Where it goes.
    pub location: ParameterLocation,
    /// True if it is required.
    pub required: bool,
    /// The values that it may have, if they are few.
    pub choices: Vec<String>,
}

impl Parameter {
    /// Returns true if its texts are words, which may be written in one, between commas.
    #[must_use]
    pub fn are_words(&self) -> bool {
        ["platforms", "scopes", "default_scopes", "events", "days", "times"].contains(&&*self.name)
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The id.
    pub id: String,
    /// The chapter, which is the first word of its command.
    pub tag: String,
    /// The second word of its command.
    pub verb: String,
    /// HTTP method.
    pub method: Method,
    /// Path with `{parameters}`.
    pub path: String,
    /// The summary.
    pub summary: String,
    /// The requirements.
    pub needs: String,
    /// Path, query and body.
    pub parameters: Vec<Parameter>,
    /// True if it can be asked to change one version alone.
    pub takes_if_match: bool,
    /// An example of its body.
    pub example: Value,
    /// The main entry of its reply, if it names one.
    pub shows: Option<String>,
}

impl Operation {
    /// Returns true if it has a parameter of this name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// Returns what its reply shows.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let document = &*DOCUMENT;
        Shape::of(document, self.reply(document), self.shows.as_deref())
    }

    /// Returns the schema of its first successful reply.
    fn reply<'a>(&self, document: &'a Value) -> &'a Value {
        let operation = &document["paths"][&self.path][self.method.as_str().to_lowercase()];
        let replies = operation["responses"].as_object().into_iter().flatten();
        let mut good = replies.filter(|(status, _)| status.starts_with('2'));
        let schema = good.find_map(|(_, reply)| reply.pointer("/content/application~1json/schema"));
        schema.unwrap_or(&Value::Null)
    }

    /// Returns true if it may change something.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.method != Method::GET
    }

    /// Returns true if it cannot be undone.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.method == Method::DELETE
            || ["cancel_", "disconnect_", "revoke_"].iter().any(|start| self.id.starts_with(start))
    }
}

/// The parameter that names a version.
const IF_MATCH: &str = "#/components/parameters/IfMatch";

static ALL: LazyLock<Vec<Operation>> = LazyLock::new(read_all);

/// Returns every operation of the API. The document is parsed once, by the first command that needs it.
#[must_use]
pub fn operations() -> &'static [Operation] {
    &ALL
}

fn read_all() -> Vec<Operation> {
    let document = &*DOCUMENT;
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            if path.starts_with("/api/v1/")
                && let Some(read) = read(document, path, method, operation)
            {
                all.push(read);
            }
        }
    }
    all
}

fn read(document: &Value, path: &str, method: &str, operation: &Value) -> Option<Operation> {
    let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
    let (id, tag) = (text("operationId"), operation["tags"][0].as_str()?.to_owned());
    let mut parameters = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let place = match parameter["in"].as_str() {
            Some("path") => ParameterLocation::Path,
            Some("query") if parameter["deprecated"] != true => ParameterLocation::Query,
            _ => continue,
        };
        let mut known =
            self::parameter(document, parameter["name"].as_str()?, &parameter["schema"], place);
        known.doc = parameter["description"].as_str().unwrap_or_default().to_owned();
        known.required = parameter["required"] == true;
        parameters.push(known);
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let body = resolved(document, body);
    let required = body["required"].as_array().cloned().unwrap_or_default();
    for (name, schema) in body["properties"].as_object().into_iter().flatten() {
        if schema["deprecated"] == true || parameters.iter().any(|known| known.name == *name) {
            continue;
        }
        let mut known = self::parameter(document, name, schema, ParameterLocation::Body);
        known.required = required.iter().any(|other| other == name);
        parameters.push(known);
    }
    let content = &operation["requestBody"]["content"]["application/json"];
    let method = method.to_uppercase().parse().ok()?;
    let verb = text("x-command").strip_prefix(&format!("fanfare {tag} "))?.to_owned();
    let path = path.to_owned();
    Some(Operation {
        verb,
        id,
        tag,
        method,
        path,
        summary: text("summary"),
        needs: text("description"),
        parameters,
        takes_if_match: operation["parameters"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["$ref"] == IF_MATCH)),
        example: content["example"].clone(),
        shows: operation["x-shows"].as_str().map(str::to_owned),
    })
}

fn parameter(document: &Value, name: &str, schema: &Value, place: ParameterLocation) -> Parameter {
    let doc = schema["description"].as_str().unwrap_or_default().to_owned();
    let kind = kind(document, schema);
    let choices = choices(document, schema);
    Parameter { name: name.to_owned(), doc, kind, location: place, required: false, choices }
}

/// Returns the values that a schema lists.
fn choices(document: &Value, schema: &Value) -> Vec<String> {
    let schema = resolved(document, schema);
    let inner = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    let inner = inner.into_iter().flatten().flat_map(|inner| choices(document, inner));
    let own = schema["enum"].as_array().into_iter().flatten().chain([&schema["const"]]);
    inner.chain(own.filter_map(|value| value.as_str().map(str::to_owned))).collect()
}

/// Returns the schema that a reference names.
pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    let found = name.and_then(|path| document.pointer(path)).unwrap_or(schema);
    // Of objects that a tag tells apart, the first stands for all.
    match found["oneOf"].as_array().map(Vec::as_slice) {
        Some([first, ..]) if found["discriminator"].is_object() => resolved(document, first),
        _ => found,
    }
}

/// Returns the type of a parameter, or of a field of a reply.
pub(super) fn kind(document: &Value, schema: &Value) -> ParameterKind {
    let schema = resolved(document, schema);
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let kinds = choices.iter().filter(|choice| choice["type"] != "null");
        let mut kinds = kinds.map(|choice| kind(document, choice));
        let first = kinds.next().unwrap_or(ParameterKind::Json);
        return if kinds.all(|other| other == first) { first } else { ParameterKind::Json };
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ if schema["enum"].is_array() || schema["const"].is_string() => vec!["string"],
        _ => Vec::new(),
    };
    let has = |name: &str| types.contains(&name);
    if has("string") {
        ParameterKind::Text
    } else if has("integer") {
        ParameterKind::Integer
    } else if has("number") {
        ParameterKind::Number
    } else if has("boolean") {
        ParameterKind::Boolean
    } else if has("array") && kind(document, &schema["items"]) == ParameterKind::Text {
        ParameterKind::Texts
    } else {
        ParameterKind::Json
    }
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_operation_has_a_command_of_its_own() {
        let all = operations();
        assert!(all.len() > 50, "{}", all.len());
        let commands: HashSet<_> = all.iter().map(|one| (&one.tag, &one.verb)).collect();
        assert_eq!(commands.len(), all.len());
        let verb = |id: &str| all.iter().find(|one| one.id == id).map(|one| one.verb.as_str());
        assert_eq!(verb("create_post"), Some("create"));
        assert_eq!(verb("list_brand_accounts"), Some("list-accounts"));
        assert_eq!(verb("upload_media"), Some("upload-media"));
        assert_eq!(verb("whoami"), Some("whoami"));
        assert_eq!(verb("create_api_key"), Some("create"));
        assert_eq!(verb("list_oauth_clients"), Some("list"));
    }

    #[test]
    fn parameters_have_their_types_and_places() {
        let all = operations();
        let create = all.iter().find(|one| one.id == "create_post").unwrap();
        let named = |name: &str| create.parameters.iter().find(|one| one.name == name).unwrap();
        assert_eq!(named("caption").kind, ParameterKind::Text);
        assert_eq!(named("media_urls").kind, ParameterKind::Texts);
        assert_eq!(named("settings").kind, ParameterKind::Json);
        assert_eq!(named("dry_run").kind, ParameterKind::Boolean);
        assert!(named("account_id").required);
        let get = all.iter().find(|one| one.id == "get_post").unwrap();
        assert_eq!(get.parameters[0].location, ParameterLocation::Path);
    }
}
