//! Query strings, validated as strictly as bodies.

use fanfare_core::{
    Code, Error, Result,
    error::{Violations, excerpt, violation},
    input::{
        self, MAX_PARAMETERS,
        text::{self, TextRule},
    },
};
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::{Query, json};

/// The parameters of a query in the order sent, decoded.
pub type Pairs = Vec<(String, String)>;

/// Parses a query string.
///
/// # Errors
/// [`Code::InvalidField`] if it has more than [`MAX_PARAMETERS`].
pub fn pairs(query: Option<&str>) -> Result<Pairs> {
    input::pairs(query.unwrap_or_default().as_bytes(), MAX_PARAMETERS)
}

/// Parses and checks the query string of a page, or the body of a form, of at most [`MAX_PARAMETERS`].
///
/// # Errors
/// [`Code::InvalidField`] for too many of them, or for a value that is too long or has a control character other than
/// a line break.
pub fn checked_pairs(bytes: &[u8]) -> Result<Pairs> {
    checked_pairs_up_to(bytes, MAX_PARAMETERS)
}

/// Parses and checks a form of at most `most` fields.
///
/// # Errors
/// As for [`checked_pairs`].
pub fn checked_pairs_up_to(bytes: &[u8], most: usize) -> Result<Pairs> {
    let pairs = input::pairs(bytes, most)?;
    let texts = || pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let usual = |name: &str| name != NEXT && !FREE.contains(&name);
    text::check(texts().filter(|(name, _)| usual(name)), TextRule::lines(text::URL_MAX))?;
    text::check(texts().filter(|(name, _)| FREE.contains(name)), TextRule::lines(text::FREE_MAX))?;
    text::check(texts().filter(|(name, _)| *name == NEXT), TextRule::lines(LONGEST_PAGE))?;
    Ok(pairs)
}

/// The fields for texts of users, whose length the operations limit.
const FREE: [&str; 5] = ["text", "caption", "brief", "image_prompt", "video_prompt"];

/// The page that follows a log-in.
const NEXT: &str = "next";

/// The longest address of such a page: that of an OAuth authorization request contains other addresses.
const LONGEST_PAGE: usize = 16_384;

/// The parameters of a route, with their schemas.
#[derive(Debug, Default)]
pub struct Parameters(Map<String, Value>);

impl Parameters {
    /// Returns the parameters of a route's query.
    #[must_use]
    pub fn of(query: Option<Query>) -> Self {
        let schema = query.map(|query| (query.schema)(&mut SchemaGenerator::default()));
        let known =
            schema.as_ref().and_then(|schema| schema.get("properties")?.as_object().cloned());
        Self(known.unwrap_or_default())
    }

    /// Returns the query as an object, with numbers and booleans where the route expects them. Unknown parameters stay
    /// in it, so that the strict reader can suggest the nearest known one.
    ///
    /// # Errors
    /// A parameter that was sent twice, or any parameter if the route accepts none.
    pub fn read(&self, pairs: Pairs) -> Result<Value> {
        let (mut object, mut broken) = (Map::new(), Violations::default());
        // An empty cursor, which clients send for the first page, is none.
        let sent = pairs.into_iter().filter(|(name, text)| name != "cursor" || !text.is_empty());
        for (name, text) in sent {
            let shown = excerpt(&name);
            if self.0.is_empty() {
                broken.push_with(|| {
                    let message = format!("There is no query parameter {shown} here.");
                    violation(Code::UnknownField, shown, message, "Leave it out.")
                });
            } else if object.contains_key(&name) {
                broken.push_with(|| {
                    let message = format!("{shown} was sent more than once.");
                    violation(Code::InvalidField, shown, message, "Send it once.")
                });
            } else {
                let value = match self.0.get(&name) {
                    Some(schema) => typed(schema, text),
                    None => text.into(),
                };
                object.insert(name, value);
            }
        }
        Error::check(broken)?;
        Ok(object.into())
    }
}

/// Returns a text of a query as the number or boolean that its schema expects.
pub fn typed(schema: &Value, text: String) -> Value {
    if is(schema, "integer")
        && let Some(number) = number(&text)
    {
        return number;
    }
    match text.as_str() {
        "true" if is(schema, "boolean") => true.into(),
        "false" if is(schema, "boolean") => false.into(),
        _ => text.into(),
    }
}

/// Reads a number; one without a fraction is an integer, however it is written.
pub fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| json::parse(text.as_bytes()).ok().filter(Value::is_number))
}

/// Returns true if the schema allows values of this type.
pub fn is(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fanfare_core::input::strict;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        #[serde(default)]
        limit: Option<i64>,
        #[serde(default)]
        confirm: Option<bool>,
        #[serde(default)]
        cursor: Option<String>,
    }

    fn read(query: &str) -> Result<Asked> {
        let known = Parameters::of(Some(Query::of::<Asked>()));
        strict::read(known.read(pairs(Some(query))?)?)
    }

    #[test]
    fn values_take_the_type_of_their_parameter() {
        let asked = read("limit=5&confirm=true&cursor=5").unwrap();
        let cursor = Some("5".to_owned());
        assert_eq!(asked, Asked { limit: Some(5), confirm: Some(true), cursor });
        assert_eq!(read("cursor=a%20b+c").unwrap().cursor.as_deref(), Some("a b c"));
        for whole in ["limit=5.0", "limit=5e0", "limit=50E-1"] {
            assert_eq!(read(whole).unwrap().limit, Some(5), "{whole}");
        }
        assert_eq!(read("limit=5&cursor=").unwrap(), read("limit=5").unwrap());
        for bad in ["limit=five", "limit=5.5", "limit=", "confirm=yes", "confirm=1"] {
            assert_eq!(read(bad).unwrap_err().code(), Code::InvalidField, "{bad}");
        }
        let fraction = read("limit=5.5").unwrap_err();
        assert!(fraction.message().contains("a number with a fraction"), "{}", fraction.message());
    }

    #[test]
    fn an_unknown_parameter_is_named_with_the_nearest_known_one() {
        let error = read("limt=5").unwrap_err();
        assert_eq!(error.code(), Code::UnknownField);
        assert!(error.message().contains("Did you mean limit?"), "{}", error.message());
    }

    #[test]
    fn a_parameter_is_sent_once() {
        assert_eq!(read("limit=5&limit=5").unwrap_err().code(), Code::InvalidField);
    }

    #[test]
    fn a_route_without_a_query_takes_none() {
        let known = Parameters::of(None);
        assert_eq!(known.read(pairs(Some("a=1")).unwrap()).unwrap_err().code(), Code::UnknownField);
        assert!(known.read(pairs(Some("")).unwrap()).is_ok() && known.read(Pairs::new()).is_ok());
    }
}
