//! The operations, as the OpenAPI document of this version describes them.

use std::sync::LazyLock;

use reqwest::Method;
use serde_json::Value;

/// The document; the test of the OpenAPI document fails when it is stale.
static TEXT: &str = include_str!("../../../docs/openapi.json");

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

/// The fields that come first in a list, in this order.
const TELLING: [&str; 17] = [
    "id",
    "sequence",
    "platform",
    "username",
    "name",
    "email",
    "filename",
    "title",
    "caption",
    "text",
    "type",
    "status",
    "scheduled_at",
    "published_at",
    "url",
    "mime",
    "created_at",
];

/// The place of a parameter in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Into the path; positional on the command line.
    Path,
    /// Into the query.
    Query,
    /// Into the body.
    Body,
}

/// The type of a parameter, as far as a command line can tell types apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
    /// The name in the API.
    pub name: String,
    /// The description.
    pub doc: String,
    /// The type.
    pub kind: Kind,
    /// The place.
    pub place: Place,
    /// True if it cannot be left out.
    pub required: bool,
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The id.
    pub id: String,
    /// The chapter, which is the first word of the command.
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
}

/// A list in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// Its field.
    pub name: String,
    /// The plain fields of its entries, those that tell most first.
    pub columns: Vec<String>,
}

impl Operation {
    /// Returns the list with which it answers; `None` if it answers with one thing.
    #[must_use]
    pub fn list(&self) -> Option<List> {
        let document = &*DOCUMENT;
        let operation = &document["paths"][&self.path][self.method.as_str().to_lowercase()];
        let reply = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let fields = resolved(document, reply)["properties"].as_object()?;
        let (mut lists, rest): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(_, schema)| schema["type"] == "array");
        let is_about_it =
            rest.iter().all(|(name, schema)| *name != "id" && kind(document, schema) != Kind::Json);
        let (name, schema) = lists.pop().filter(|_| lists.is_empty() && is_about_it)?;
        let entry = resolved(document, &schema["items"])["properties"].as_object()?;
        let is_plain = |schema| !matches!(kind(document, schema), Kind::Json | Kind::Texts);
        let plain = entry.iter().filter(|(_, schema)| is_plain(schema));
        let mut columns: Vec<_> = plain.map(|(name, _)| name.clone()).collect();
        order(&mut columns);
        Some(List { name: name.clone(), columns })
    }

    /// True if what it does cannot be taken back.
    #[must_use]
    pub fn destroys(&self) -> bool {
        self.method == Method::DELETE
            || ["cancel_", "disconnect_", "revoke_"].iter().any(|start| self.id.starts_with(start))
    }
}

/// Words that `media` and other groups of the binary take already.
const TAKEN: [(&str, &str); 1] = [("media", "upload")];

static ALL: LazyLock<Vec<Operation>> = LazyLock::new(read_all);

/// Returns every operation of the API. The document is read once, by the first command that needs it.
#[must_use]
pub fn operations() -> &'static [Operation] {
    &ALL
}

/// Puts the fields of an entry into the order in which they tell most.
pub fn order(columns: &mut [String]) {
    let place = |name: &String| TELLING.iter().position(|known| known == name);
    columns.sort_by_key(|name| place(name).unwrap_or(TELLING.len()));
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
            Some("path") => Place::Path,
            Some("query") if parameter["deprecated"] != true => Place::Query,
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
        let mut known = self::parameter(document, name, schema, Place::Body);
        known.required = required.iter().any(|other| other == name);
        parameters.push(known);
    }
    let method = method.to_uppercase().parse().ok()?;
    let (verb, path) = (verb(&tag, &id), path.to_owned());
    Some(Operation {
        verb,
        id,
        tag,
        method,
        path,
        summary: text("summary"),
        needs: text("description"),
        parameters,
    })
}

fn parameter(document: &Value, name: &str, schema: &Value, place: Place) -> Parameter {
    let doc = schema["description"].as_str().unwrap_or_default().to_owned();
    let kind = kind(document, schema);
    Parameter { name: name.to_owned(), doc, kind, place, required: false }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    name.and_then(|path| document.pointer(path)).unwrap_or(schema)
}

fn kind(document: &Value, schema: &Value) -> Kind {
    let schema = resolved(document, schema);
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let kinds = choices.iter().filter(|choice| choice["type"] != "null");
        let mut kinds = kinds.map(|choice| kind(document, choice));
        let first = kinds.next().unwrap_or(Kind::Json);
        return if kinds.all(|other| other == first) { first } else { Kind::Json };
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ if schema["enum"].is_array() || schema["const"].is_string() => vec!["string"],
        _ => Vec::new(),
    };
    let has = |name: &str| types.contains(&name);
    if has("string") {
        Kind::Text
    } else if has("integer") {
        Kind::Integer
    } else if has("number") {
        Kind::Number
    } else if has("boolean") {
        Kind::Boolean
    } else if has("array") && kind(document, &schema["items"]) == Kind::Text {
        Kind::Texts
    } else {
        Kind::Json
    }
}

/// The words of an operation's id that are not its chapter: `create_post` of `posts` is `create`, and so is `create_api_key` of
/// `keys`.
fn verb(tag: &str, id: &str) -> String {
    let singular: Vec<_> = tag.split(' ').map(|word| word.trim_end_matches('s')).collect();
    let is_chapter = |word: &&str| {
        singular.contains(&word.trim_end_matches('s')) || (tag == "keys" && *word == "api")
    };
    let words: Vec<_> = id.split('_').filter(|word| !is_chapter(word)).collect();
    let verb = words.join("-");
    let is_taken = TAKEN.contains(&(tag, verb.as_str()));
    if verb.is_empty() || is_taken { id.replace('_', "-") } else { verb }
}

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
    fn a_list_has_the_same_columns_whatever_is_in_it() {
        let list = |id: &str| operations().iter().find(|one| one.id == id).unwrap().list();
        let posts = list("list_posts").unwrap();
        assert_eq!(posts.name, "posts");
        let first = ["id", "platform", "caption", "status", "scheduled_at", "published_at"];
        assert_eq!(posts.columns[..6], first);
        assert!(
            !posts.columns.iter().any(|name| ["error", "media", "settings"].contains(&&**name))
        );
        assert_eq!(
            list("list_accounts").unwrap().columns[..4],
            ["id", "platform", "username", "status"]
        );
        for one in ["get_post", "whoami", "create_post"] {
            assert_eq!(list(one), None, "{one}");
        }
    }

    #[test]
    fn parameters_have_their_types_and_places() {
        let all = operations();
        let create = all.iter().find(|one| one.id == "create_post").unwrap();
        let named = |name: &str| create.parameters.iter().find(|one| one.name == name).unwrap();
        assert_eq!(named("caption").kind, Kind::Text);
        assert_eq!(named("media_urls").kind, Kind::Texts);
        assert_eq!(named("settings").kind, Kind::Json);
        assert_eq!(named("dry_run").kind, Kind::Boolean);
        assert!(named("account_id").required);
        let get = all.iter().find(|one| one.id == "get_post").unwrap();
        assert_eq!(get.parameters[0].place, Place::Path);
    }
}
