//! Checks a JSON value against a [`Shape`].

use chrono::DateTime;
use serde_json::{Map, Value};
use url::Url;

use super::{Fix, Violation, Violations, excerpt, fix, nearest};
use crate::{Setting, Shape};

/// Validates an object that may have the keys `known`; `path` is its field name.
pub fn object_violations(known: &[Setting], given: &Map<String, Value>, path: &str) -> Violations {
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
        found.push_with(|| {
            let field = format!("{path}.{}", excerpt(name));
            let fix = unknown_field_fixes(known, given, name, &field);
            Violation::new(
                field,
                "unknown_field",
                format!("There is no {:?} in {path}.", excerpt(name)),
                nearest(name, known.iter().map(|setting| setting.name)),
            )
            .with_fix(fix)
        });
    }
    found
}

/// Returns the fixes of an unknown field: renames a misspelt setting and converts its value, or removes a setting that
/// only other networks have.
fn unknown_field_fixes(
    known: &[Setting],
    given: &Map<String, Value>,
    name: &str,
    field: &str,
) -> Vec<Fix> {
    let value = &given[name];
    let absent = known.iter().filter(|setting| !given.contains_key(setting.name));
    let meant = fix::closest_name(name, absent.clone().map(|setting| setting.name));
    let Some(setting) = meant.and_then(|meant| known.iter().find(|one| one.name == meant)) else {
        let elsewhere = field == format!("settings.{name}")
            && crate::all().iter().any(|platform| {
                platform.spec().settings.iter().any(|setting| setting.name == name)
            });
        return if elsewhere { vec![Fix::remove(field)] } else { Vec::new() };
    };
    let moved = Fix::rename(field, setting.name);
    let right = fix::sibling_field(field, setting.name);
    if is_right(&setting.shape, value, &right) {
        return vec![moved];
    }
    let read = read_as(&setting.shape, value, &right);
    read.map_or_else(Vec::new, |read| vec![moved, Fix::replace(&right, read)])
}

fn is_right(shape: &Shape, value: &Value, field: &str) -> bool {
    let mut found = Violations::default();
    check(shape, value, field.to_owned(), &mut found);
    found.is_empty()
}

/// Converts `value` to this shape: from another type, or from a misspelt choice.
fn read_as(shape: &Shape, value: &Value, field: &str) -> Option<Value> {
    let types: &[&str] = match shape {
        Shape::Bool => &["boolean"],
        Shape::Text { .. } | Shape::Id { .. } | Shape::Url | Shape::Time => &["string"],
        Shape::Integer { .. } => &["integer"],
        Shape::Number { .. } => &["number"],
        Shape::List { .. } => &["array"],
        Shape::Foreign | Shape::Object(_) => &["object"],
        Shape::Choice(choices) => {
            return Some(fix::closest_name(value.as_str()?, choices.iter().copied())?.into());
        }
    };
    fix::coerce(field, value, types).filter(|read| is_right(shape, read, field))
}

fn required(field: String, setting: &Setting) -> Violation {
    let message = format!("{:?} must be given.", setting.name);
    Violation::new(field, "setting_required", message, format!("Set it. {}", setting.doc))
}

fn check(shape: &Shape, value: &Value, field: String, found: &mut Violations) {
    match (shape, value) {
        (Shape::Bool, Value::Bool(_)) => {}
        (Shape::Text { min, max } | Shape::Id { min, max }, Value::String(text)) => {
            found.extend(size_violation(text.chars().count(), *min, *max, "characters", field));
        }
        (Shape::Url, Value::String(text)) if is_web_address(text) => {}
        (Shape::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {}
        (Shape::Integer { min, max }, Value::Number(number)) => {
            let within = number.as_i64().is_some_and(|number| (*min..=*max).contains(&number));
            found.extend((!within).then(|| type_violation(shape, value, field)));
        }
        (Shape::Number { min, max }, Value::Number(number)) => {
            let within = number.as_f64().is_some_and(|number| (*min..=*max).contains(&number));
            found.extend((!within).then(|| type_violation(shape, value, field)));
        }
        (Shape::Time, Value::String(text)) if DateTime::parse_from_rfc3339(text).is_ok() => {}
        (Shape::List { of, min, max }, Value::Array(items)) => {
            found.extend(size_violation(items.len(), *min, *max, "entries", field.clone()));
            for (index, item) in items.iter().enumerate().take(*max) {
                check(of, item, format!("{field}[{index}]"), found);
            }
        }
        (Shape::Foreign, Value::Object(_)) => {}
        (Shape::Object(fields), Value::Object(given)) => {
            found.append(object_violations(fields, given, &field));
        }
        _ => found.push_with(|| type_violation(shape, value, field)),
    }
}

/// The longest address that is parsed.
const ADDRESS_MAX: usize = 8 << 10;

fn is_web_address(text: &str) -> bool {
    text.len() <= ADDRESS_MAX
        && Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Returns the violation of a text or list that is too short or too long.
fn size_violation(
    actual: usize,
    min: usize,
    max: usize,
    unit: &'static str,
    field: String,
) -> Option<Violation> {
    let limit = match actual {
        _ if actual < min => min,
        _ if actual > max => max,
        _ => return None,
    };
    let bound = if limit == min && actual < min { "at least" } else { "at most" };
    let message = format!("{field} has {actual} {unit}; it may have {bound} {limit}.");
    let remedy = format!("Give {bound} {limit} {unit}.");
    let broken = Violation::new(field, "setting_invalid", message, remedy);
    Some(broken.with_limit(limit, actual).in_unit(unit))
}

/// Returns the violation of a value of the wrong type, or outside the range or the choices.
fn type_violation(shape: &Shape, value: &Value, field: String) -> Violation {
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
    let fix = read_as(shape, value, &field).map(|read| Fix::replace(&field, read));
    let violation = Violation::new(field, "setting_invalid", message, format!("Give {wanted}."));
    let violation = violation.with_fix(fix);
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
