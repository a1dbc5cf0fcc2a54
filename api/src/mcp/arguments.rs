//! The arguments of tool calls: read as clients send them, and checked against the tool's schema before anything runs.

use fanfare_core::{
    Code, Error, Result,
    error::{Fix, Violations},
    input::{closest_name, shape::Shape, strict},
};
use rmcp::{ErrorData, model::JsonObject};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::schema::{ArgumentLocation, ToolInput};
use crate::{Route, older_names, query};

/// The arguments of `find_operation`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// What is to be done, in a few words.
    pub query: String,
}

/// The arguments of `read_operation`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Name of the operation.
    pub operation: String,
    /// Its arguments, flat: path, query and body.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
}

/// The arguments of `change_operation`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Name of the operation.
    pub operation: String,
    /// Its arguments, flat: path, query and body.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
    /// Makes the call safe to repeat: the same key brings the first result back.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub idempotency_key: Option<String>,
}

/// The name of the argument that makes a call safe to repeat.
pub const KEY: &str = "idempotency_key";

/// The argument that becomes the header `If-Match`.
pub const IF_MATCH: &str = "if_match";

/// The name of the argument that chooses among the fields of a reply.
pub const FIELDS: &str = "fields";

/// The field of a runner in which the arguments of its operation are.
const INNER: &str = "arguments";

/// Returns the arguments as the object that a client means: some write it as text.
pub fn as_object(arguments: Value) -> Option<JsonObject> {
    match arguments {
        Value::Null => Some(JsonObject::new()),
        Value::Object(arguments) => Some(arguments),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => Some(arguments),
            _ => None,
        },
        _ => None,
    }
}

/// Reads the arguments of a tool that runs operations. A field of the operation that stands beside `arguments` is
/// refused with the fix that moves it there.
///
/// # Errors
/// All violations of the schema, or an error of the protocol if `arguments` are no object.
pub fn runner<T: DeserializeOwned + JsonSchema + 'static>(
    mut sent: JsonObject,
    operation: Option<&ToolInput>,
) -> Result<T, NotRun> {
    if let Some(inner) = sent.remove(INNER) {
        let Some(read) = as_object(inner) else {
            return Err(ErrorData::invalid_params("arguments must be an object.", None).into());
        };
        sent.insert(INNER.to_owned(), read.into());
    }
    let inner = sent.get(INNER).and_then(Value::as_object).cloned().unwrap_or_default();
    let (read, mut broken) = match strict::read_partial::<T>(sent.into()) {
        Ok((read, broken)) => (Ok(read), broken),
        Err(error) => (Err(Error::new(error.code(), error.message())), error.into_violations()),
    };
    for violation in broken.iter_mut().filter(|one| one.code == Code::UnknownField.entry().code) {
        let field = violation.field.clone();
        let belongs = operation.is_some_and(|input| input.location(&field).is_some());
        if belongs && !inner.contains_key(&field) {
            violation.message = format!("{field} is an argument of the operation.");
            violation.remedy = format!("Move it into {INNER}.");
            violation.fix = vec![Fix::relocate(&field, &format!("{INNER}.{field}"))];
        } else if field == KEY {
            violation.fix = vec![Fix::remove(KEY)];
        }
    }
    Error::check(broken)?;
    Ok(read?)
}

/// Why an operation is not run.
pub enum NotRun {
    /// An error of the protocol.
    Protocol(ErrorData),
    /// A result that agents read.
    Refused(Error),
}

impl From<ErrorData> for NotRun {
    fn from(error: ErrorData) -> Self {
        Self::Protocol(error)
    }
}

impl From<Error> for NotRun {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Puts the key beside the arguments among them.
///
/// # Errors
/// [`Code::ConflictingFields`] if another one is there.
pub fn with_key(mut arguments: JsonObject, key: Option<String>) -> Result<JsonObject> {
    let Some(key) = key else { return Ok(arguments) };
    let other = arguments.insert(KEY.to_owned(), key.clone().into());
    if other.is_none_or(|other| other.is_null() || other == *key) {
        return Ok(arguments);
    }
    let message = "idempotency_key stands beside the arguments and among them, with two values.";
    Err(Error::field(Code::ConflictingFields, KEY, message, "Send it once."))
}

/// Checks the arguments that do not go into the body, and that there are no others than the tool knows. The route
/// itself checks the body, together with what is unknown there.
///
/// # Errors
/// All violations of the schema, with fixes.
pub fn check(route: &Route, input: &ToolInput, arguments: &JsonObject) -> Result<()> {
    let mut checked = JsonObject::new();
    let known: Vec<String> = input.outer["properties"]
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    for (name, value) in arguments {
        let value = match input.location(name) {
            // What is in the body is known, and checked there.
            Some(ArgumentLocation::Body) => Value::Null,
            Some(_) if value.is_null() => continue,
            Some(_) => as_sent(&input.outer["properties"][name], value.clone()),
            None if older_names::is_known(route.name, name) => continue,
            // Judged as what it was probably meant to be.
            None => match closest_name(name, known.iter().map(String::as_str)) {
                Some(near) => as_sent(&input.outer["properties"][near], value.clone()),
                None => value.clone(),
            },
        };
        checked.insert(name.clone(), value);
    }
    let mut found = Violations::default();
    Shape::new(input.outer.clone()).remove_invalid(&mut checked.into(), &mut found);
    let unknown = Code::UnknownField.entry().code;
    if route.body.is_some() && found.iter().all(|one| one.code == unknown) {
        return Ok(());
    }
    for violation in found.iter_mut().filter(|one| one.code == unknown && one.field == KEY) {
        violation.message = format!("{} changes nothing, so it needs no {KEY}.", route.name);
        violation.remedy = "Leave it out.".to_owned();
        violation.fix = vec![Fix::remove(KEY)];
    }
    Error::check(found)
}

/// Returns an argument as the value that its text would be in a query string.
fn as_sent(schema: &Value, value: Value) -> Value {
    match value {
        Value::String(text) => query::typed(schema, text),
        Value::Number(_) | Value::Bool(_) if query::is(schema, "string") => {
            value.to_string().into()
        }
        Value::Number(number) => query::number(&number.to_string()).unwrap_or(number.into()),
        other => other,
    }
}
