//! What a reply shows: its main entry, and the columns of a list.

use serde_json::{Map, Value};

use super::document::{ParameterKind, kind, resolved};

/// The columns of lists, the most important first.
const COLUMN_ORDER: [&str; 18] = [
    "id",
    "sequence",
    "index",
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

/// The part of a reply that is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// The path of the main entry, such as `post` or `captions.variants`; `None` if it is the reply itself.
    pub main: Option<String>,
    /// The columns of a main entry that is a list, as paths within a row; the most important first.
    pub columns: Option<Vec<String>>,
}

impl Shape {
    /// Returns the rows of the main entry if it is a list. A row also holds what the entries around it say.
    pub fn rows(&self, body: &Value) -> Option<Vec<Map<String, Value>>> {
        let path: Vec<_> = self.main.as_deref()?.split('.').collect();
        let mut rows = Vec::new();
        body[path[0]].is_array().then(|| collect(&mut rows, body, &path, ("", &Map::new())))?;
        Some(rows)
    }

    /// Returns the shape of replies of this schema. `named` is the main entry that the operation names.
    pub fn of(document: &Value, reply: &Value, named: Option<&str>) -> Self {
        let reply = main_kind(document, resolved(document, reply), named);
        let fields = reply["properties"].as_object();
        let Some(fields) = fields else { return Self::default() };
        let main = named.map(str::to_owned).or_else(|| {
            let holds = |wanted: &dyn Fn(&Value) -> bool| {
                let mut found = fields.iter().filter(|(_, schema)| wanted(schema));
                found.next().filter(|_| found.next().is_none()).map(|(name, _)| name.clone())
            };
            let is_object = |schema: &Value| entry(document, schema)["properties"].is_object();
            let is_inner = |schema: &Value| is_object(schema) || is_list(document, schema);
            let single = holds(&is_object).or_else(|| holds(&is_inner));
            single.filter(|_| !fields.contains_key("id"))
        });
        let Some(path) = main else { return Self::default() };
        // A row of a list in a list also shows what the outer entry says.
        let (mut schema, mut columns, mut around) = (reply, Vec::new(), "");
        for name in path.split('.') {
            schema = entry(document, &schema["properties"][name]);
            if is_list(document, schema) {
                schema = entry(document, &schema["items"]);
                join(&mut columns, around, columns_of(document, schema));
                around = name;
            }
        }
        sort(&mut columns);
        let columns = (!columns.is_empty()).then_some(columns);
        Self { main: Some(path), columns }
    }
}

/// Returns the kind of a reply that has the entry `named`, if there are several; a dry run, for example, has another.
fn main_kind<'a>(document: &'a Value, reply: &'a Value, named: Option<&str>) -> &'a Value {
    let first = named.and_then(|path| path.split('.').next());
    let kinds = reply["anyOf"].as_array().or(reply["oneOf"].as_array());
    let Some((kinds, first)) = kinds.zip(first) else { return reply };
    let mut kinds = kinds.iter().map(|kind| resolved(document, kind));
    kinds.find(|kind| kind["properties"].get(first).is_some()).unwrap_or(reply)
}

/// Returns the heading of a column: the message of an error stands for the error.
pub fn heading(column: &str) -> &str {
    column.strip_suffix(".message").unwrap_or(column)
}

/// Sorts columns, the most important first; those of inner objects come after those of the same name.
fn sort(columns: &mut [String]) {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let place = |name: &String| COLUMN_ORDER.iter().position(|known| *known == last(name));
    columns.sort_by_key(|name| (place(name).unwrap_or(COLUMN_ORDER.len()), name.contains('.')));
}

/// Returns the name of a column of an entry of `list` whose name the entries inside it have too.
fn outer_name(list: &str, column: &str) -> String {
    format!("{}.{column}", list.trim_end_matches('s'))
}

/// Adds the columns of inner entries to those of the entries of `list` around them.
fn join(columns: &mut Vec<String>, list: &str, inner: Vec<String>) {
    for outer in columns.iter_mut().filter(|outer| inner.contains(outer)) {
        *outer = outer_name(list, outer);
    }
    columns.extend(inner);
}

/// Collects the entries at a path; `around` is the list and the entry that they are in.
fn collect(
    rows: &mut Vec<Map<String, Value>>,
    within: &Value,
    path: &[&str],
    around: (&str, &Map<String, Value>),
) {
    let Some((name, rest)) = path.split_first() else { return };
    for entry in within[name].as_array().into_iter().flatten().filter_map(Value::as_object) {
        let mut row = entry.clone();
        for (key, value) in around.1 {
            let key = if row.contains_key(key) { outer_name(around.0, key) } else { key.clone() };
            row.insert(key, value.clone());
        }
        let is_leaf = rest.first().is_none_or(|inner| {
            entry.get(*inner).and_then(Value::as_array).is_none_or(Vec::is_empty)
        });
        if is_leaf {
            rows.push(row);
        } else {
            let inner = Value::Object(entry.clone());
            row.remove(rest[0]);
            collect(rows, &inner, rest, (name, &row));
        }
    }
}

/// Returns the schema without the choice of null.
fn entry<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = resolved(document, schema);
    let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    let mut choices = choices.into_iter().flatten().filter(|choice| choice["type"] != "null");
    match choices.next() {
        Some(choice) => resolved(document, choice),
        None => schema,
    }
}

fn is_list(document: &Value, schema: &Value) -> bool {
    entry(document, schema)["type"] == "array"
}

/// Returns the scalar fields of an entry, and those of its inner objects; of an error its message alone.
fn columns_of(document: &Value, schema: &Value) -> Vec<String> {
    let is_plain = |schema: &Value| {
        !matches!(kind(document, schema), ParameterKind::Json | ParameterKind::Texts)
    };
    let mut columns = Vec::new();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if is_plain(schema) {
            columns.push(name.clone());
            continue;
        }
        let inner = entry(document, schema)["properties"].as_object().into_iter().flatten();
        let inner: Vec<_> = inner.filter(|(_, schema)| is_plain(schema)).collect();
        match inner.iter().any(|(inner, _)| *inner == "message") {
            true => columns.push(format!("{name}.message")),
            false => columns.extend(inner.iter().map(|(inner, _)| format!("{name}.{inner}"))),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::super::document::operations;

    fn main_of(id: &str) -> String {
        let operation = operations().iter().find(|one| one.id == id).unwrap();
        operation.shape().main.unwrap_or_default()
    }

    #[test]
    fn the_main_entry_is_found_or_named() {
        for (id, main) in [
            ("get_post", "post"),
            ("get_comment", "comment"),
            ("create_webhook", "webhook"),
            ("create_api_key", "api_key"),
            ("list_posts", "posts"),
            ("create_post", "post"),
            ("create_posts_batch", "posts"),
            ("generate_captions", "captions.variants"),
            ("generate_image", "images"),
            ("get_video_options", "providers.models.estimates"),
            ("ask_support", "answer"),
            ("list_platforms", "platforms"),
            ("list_reviews", "reviews"),
            ("whoami", "user"),
            ("upload_media", ""),
        ] {
            assert_eq!(main_of(id), main, "{id}");
        }
    }

    #[test]
    fn every_list_shows_a_list() {
        for operation in operations().iter().filter(|one| one.id.starts_with("list_")) {
            let main = operation.shape().main.unwrap_or_default();
            assert!(!["", "limits"].contains(&main.as_str()), "{}: {main}", operation.id);
        }
    }

    #[test]
    fn a_list_has_the_same_columns_whatever_is_in_it() {
        let columns = |id: &str| {
            operations().iter().find(|one| one.id == id).unwrap().shape().columns.unwrap()
        };
        let posts = columns("list_posts");
        let first = ["id", "platform", "caption", "status", "scheduled_at", "published_at"];
        assert_eq!(posts[..6], first);
        assert!(posts.iter().any(|name| name == "error.message"), "{posts:?}");
        assert!(!posts.iter().any(|name| ["error", "media", "settings"].contains(&&**name)));
        assert_eq!(columns("list_accounts")[..4], ["id", "platform", "username", "status"]);
        assert_eq!(columns("generate_captions")[..2], ["platform", "text"]);
        let numbers = columns("list_account_analytics");
        for name in ["account.username", "summary.followers_end", "summary.views"] {
            assert!(numbers.iter().any(|column| column == name), "{name} of {numbers:?}");
        }
    }
}
