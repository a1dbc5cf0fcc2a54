//! Checks a JSON value against a [`Shape`].

use chrono::DateTime;
use serde_json::{Map, Value};
use url::Url;

use super::{Violation, Violations, excerpt, nearest};
use crate::{Setting, Shape};

/// All rules that an object with the keys `known` breaks; `path` is where it stands.
pub fn object(known: &[Setting], given: &Map<String, Value>, path: &str) -> Violations {
    let mut found = Violations::default();
    for setting in known {
        let field = format!("{path}.{}", setting.name);
        match given.get(setting.name) {
            Some(value) => check(&setting.shape, value, field, &mut found),
            None if setting.required => found.push(required(field, setting)),
            None => {}
        }
    }
    for name in given.keys().filter(|name| known.iter().all(|setting| setting.name != *name)) {
        found.note(|| {
            Violation::new(
                format!("{path}.{}", excerpt(name)),
                "unknown_field",
                format!("There is no {:?} in {path}.", excerpt(name)),
                nearest(name, known.iter().map(|setting| setting.name)),
            )
        });
    }
    found
}

fn required(field: String, setting: &Setting) -> Violation {
    let message = format!("{:?} must be given.", setting.name);
    Violation::new(field, "setting_required", message, format!("Set it. {}", setting.doc))
}

fn check(shape: &Shape, value: &Value, field: String, found: &mut Violations) {
    match (shape, value) {
        (Shape::Bool, Value::Bool(_)) => {}
        (Shape::Text { min, max } | Shape::Id { min, max }, Value::String(text)) => {
            found.extend(size(text.chars().count(), *min, *max, "characters", field));
        }
        (Shape::Url, Value::String(text)) if is_web_address(text) => {}
        (Shape::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {}
        (Shape::Integer { min, max }, Value::Number(number)) => {
            let within = number.as_i64().is_some_and(|number| (*min..=*max).contains(&number));
            found.extend((!within).then(|| invalid(shape, value, field)));
        }
        (Shape::Number { min, max }, Value::Number(number)) => {
            let within = number.as_f64().is_some_and(|number| (*min..=*max).contains(&number));
            found.extend((!within).then(|| invalid(shape, value, field)));
        }
        (Shape::Time, Value::String(text)) if DateTime::parse_from_rfc3339(text).is_ok() => {}
        (Shape::List { of, min, max }, Value::Array(items)) => {
            found.extend(size(items.len(), *min, *max, "entries", field.clone()));
            for (index, item) in items.iter().enumerate().take(*max) {
                check(of, item, format!("{field}[{index}]"), found);
            }
        }
        (Shape::Foreign, Value::Object(_)) => {}
        (Shape::Object(fields), Value::Object(given)) => {
            found.append(object(fields, given, &field));
        }
        _ => found.note(|| invalid(shape, value, field)),
    }
}

/// Longest address that is read.
const ADDRESS_MAX: usize = 8 << 10;

fn is_web_address(text: &str) -> bool {
    text.len() <= ADDRESS_MAX
        && Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// A text or list that is too short or too long.
fn size(actual: usize, min: usize, max: usize, unit: &str, field: String) -> Option<Violation> {
    let limit = match actual {
        _ if actual < min => min,
        _ if actual > max => max,
        _ => return None,
    };
    let bound = if limit == min && actual < min { "at least" } else { "at most" };
    let message = format!("{field} has {actual} {unit}; it may have {bound} {limit}.");
    let remedy = format!("Give {bound} {limit} {unit}.");
    Some(Violation::new(field, "setting_invalid", message, remedy).with_limit(limit, actual))
}

/// A value of another kind, or outside the range or the choices.
fn invalid(shape: &Shape, value: &Value, field: String) -> Violation {
    let wanted = match shape {
        Shape::Bool => "true or false".to_owned(),
        Shape::Text { .. } | Shape::Id { .. } => "a text".to_owned(),
        Shape::Url => "an address that starts with https:// or http://".to_owned(),
        Shape::Choice(choices) => format!("one of {}", choices.join(", ")),
        Shape::Integer { min, max } => format!("a whole number from {min} to {max}"),
        Shape::Number { min, max } => format!("a number from {min} to {max}"),
        Shape::Time => "a time in RFC 3339 with an offset, like 2030-01-31T09:00:00Z".to_owned(),
        Shape::List { .. } => "a list".to_owned(),
        Shape::Foreign | Shape::Object(_) => "an object".to_owned(),
    };
    let message = format!("{field} must be {wanted}.");
    let violation = Violation::new(field, "setting_invalid", message, format!("Give {wanted}."));
    match (shape, value) {
        (Shape::Choice(choices), Value::String(_)) => violation.with_limit(choices, value),
        (Shape::Integer { max, .. }, Value::Number(n)) if n.as_i64().is_some_and(|n| n > *max) => {
            violation.with_limit(max, value)
        }
        (Shape::Integer { min, .. }, Value::Number(n)) if n.as_i64().is_some_and(|n| n < *min) => {
            violation.with_limit(min, value)
        }
        _ => violation,
    }
}
