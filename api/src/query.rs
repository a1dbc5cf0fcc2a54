//! Query strings, validated as strictly as bodies.

use fanfare_domain::{
    Code, Error, Result,
    error::{Violations, excerpt, violation},
    input::text::{self, TextRule},
};
use schemars::SchemaGenerator;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::Query;

/// The parameters of a query in the order sent, decoded.
pub type Pairs = Vec<(String, String)>;

/// Parses a query string.
#[must_use]
pub fn pairs(query: Option<&str>) -> Pairs {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect()
}

/// Parses and checks the query string of a page, or the body of a form.
///
/// # Errors
/// [`Code::InvalidField`] for a value that is too long or has a control character other than a line break.
pub fn checked_pairs(bytes: &[u8]) -> Result<Pairs> {
    let pairs: Pairs = form_urlencoded::parse(bytes).into_owned().collect();
    let texts = || pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let usual = |name: &str| name != NEXT && !FREE.contains(&name);
    text::check(texts().filter(|(name, _)| usual(name)), TextRule::lines(text::URL_MAX))?;
    text::check(texts().filter(|(name, _)| FREE.contains(name)), TextRule::lines(text::FREE_MAX))?;
    text::check(texts().filter(|(name, _)| *name == NEXT), TextRule::lines(LONGEST_PAGE))?;
    Ok(pairs)
}

/// The fields for the text of posts and answers, whose length the operations limit.
const FREE: [&str; 2] = ["text", "caption"];

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
        for (name, text) in pairs {
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
                let value = self.value(&name, text);
                object.insert(name, value);
            }
        }
        Error::check(broken)?;
        Ok(object.into())
    }

    fn value(&self, name: &str, text: String) -> Value {
        let wants = |kind: &str| self.0.get(name).is_some_and(|schema| is(schema, kind));
        if wants("integer")
            && let Ok(number) = text.parse::<i64>()
        {
            return number.into();
        }
        match text.as_str() {
            "true" if wants("boolean") => true.into(),
            "false" if wants("boolean") => false.into(),
            _ => text.into(),
        }
    }
}

/// Returns true if the schema allows values of this type.
fn is(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fanfare_domain::input::strict;
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
        strict::read(known.read(pairs(Some(query)))?)
    }

    #[test]
    fn values_take_the_type_of_their_parameter() {
        let asked = read("limit=5&confirm=true&cursor=5").unwrap();
        let cursor = Some("5".to_owned());
        assert_eq!(asked, Asked { limit: Some(5), confirm: Some(true), cursor });
        assert_eq!(read("cursor=a%20b+c").unwrap().cursor.as_deref(), Some("a b c"));
        for bad in ["limit=five", "limit=5.5", "limit=", "confirm=yes", "confirm=1"] {
            assert_eq!(read(bad).unwrap_err().code(), Code::InvalidField, "{bad}");
        }
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
        assert_eq!(known.read(pairs(Some("a=1"))).unwrap_err().code(), Code::UnknownField);
        assert!(known.read(pairs(Some(""))).is_ok() && known.read(pairs(None)).is_ok());
    }
}
