//! Bodies and queries that are read strictly: every unknown field and wrong value is named, all at once.

use fanfare_platforms::Violation;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::error::{Code, Error, Result, violation};

/// At most this many broken fields are named in one answer.
const MOST: usize = 50;

/// Reads a value into its type.
///
/// # Errors
/// All unknown fields, missing fields and wrong values, as `validation_errors`.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T> {
    let (read, broken) = read_rest(value)?;
    Error::check(broken).map(|()| read)
}

/// Reads what can be read of a value, and says what is wrong with the rest, so that one answer can name that together
/// with what is wrong in meaning.
///
/// # Errors
/// The same as for [`read`], if nothing can be read: a required field is missing or broken.
pub fn read_rest<T: DeserializeOwned>(mut value: Value) -> Result<(T, Vec<Violation>)> {
    if !value.is_object() {
        return Err(Error::new(Code::InvalidJson, "The body must be a JSON object."));
    }
    let mut found = Vec::new();
    nul(&value, &mut String::new(), &mut found);
    // Each round names one broken field and takes it out, so that the next round finds the next.
    while found.len() < MOST {
        let error = match serde_path_to_error::deserialize::<_, T>(value.clone()) {
            Ok(read) => {
                found.dedup();
                return Ok((read, found));
            }
            Err(error) => error,
        };
        let path = pointer(error.path());
        let (broken, at) = explain(&path, &error.into_inner().to_string());
        let known = found.iter().any(|earlier: &Violation| earlier.field == broken.field);
        if known && broken.code == Code::FieldRequired.entry().code {
            break;
        }
        found.push(broken);
        if !remove(&mut value, &at) {
            break;
        }
    }
    found.dedup();
    Error::check(found)?;
    Err(Error::new(Code::InvalidJson, "The body could not be read."))
}

/// The steps from the root to a value.
type Steps = Vec<String>;

fn pointer(path: &Path) -> Steps {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        })
        .collect()
}

/// A field's name for people: `settings.poll.options[2]`.
fn name(steps: &[String]) -> String {
    steps.iter().fold(String::new(), |mut name, step| {
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            name.push_str(&format!("[{step}]"));
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(step);
        }
        name
    })
}

/// What serde says, for people; and which value to take out before looking further.
fn explain(path: &[String], message: &str) -> (Violation, Steps) {
    let below = |field: &str| {
        let mut steps = path.to_vec();
        if steps.last().is_none_or(|last| last != field) {
            steps.push(field.to_owned());
        }
        steps
    };
    if let Some(field) = quoted(message, "unknown field `") {
        let steps = below(field);
        let known = known_names(message);
        let broken = unknown_field(&name(&steps), field, &known);
        return (broken, steps);
    }
    if let Some(field) = quoted(message, "missing field `") {
        let steps = below(field);
        let field = name(&steps);
        let text = format!("{field} is required.");
        return (violation(Code::FieldRequired, field, text, "Send the field."), steps);
    }
    let field = name(path);
    let text = format!("{field}: {}.", message.trim_end_matches('.'));
    let broken = violation(Code::InvalidField, field, text, "Send a value of the type named.");
    (broken, path.to_vec())
}

/// An unknown field, with the nearest known one.
#[must_use]
pub fn unknown_field(path: &str, field: &str, known: &[&str]) -> Violation {
    let nearest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(field, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(field.len()).div_ceil(2));
    let (message, remedy) = match nearest {
        Some((_, name)) => (
            format!("There is no field {path}. Did you mean {name}?"),
            format!("Use {name}, or leave the field out."),
        ),
        None => (
            format!("There is no field {path}."),
            format!("Leave it out. Known fields: {}.", known.join(", ")),
        ),
    };
    violation(Code::UnknownField, path, message, remedy)
}

fn quoted<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.split('`').next()
}

/// The names serde lists behind "expected": `a` or `b`, one of `a`, `b`.
fn known_names(message: &str) -> Vec<&str> {
    let Some((_, expected)) = message.split_once("`, ") else { return Vec::new() };
    expected.split('`').skip(1).step_by(2).collect()
}

fn remove(value: &mut Value, steps: &[String]) -> bool {
    let Some((last, parents)) = steps.split_last() else { return false };
    let parent = parents.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get_mut(step),
        Value::Array(list) => step.parse::<usize>().ok().and_then(|place| list.get_mut(place)),
        _ => None,
    });
    match parent {
        Some(Value::Object(map)) => map.remove(last).is_some(),
        Some(Value::Array(list)) => {
            let place = last.parse::<usize>().ok().filter(|place| *place < list.len());
            place.map(|place| list.remove(place)).is_some()
        }
        _ => false,
    }
}

/// U+0000 anywhere in texts or names: PostgreSQL cannot store it.
fn nul(value: &Value, path: &mut String, found: &mut Vec<Violation>) {
    let mut visit = |step: String, child: &Value| {
        let length = path.len();
        path.push_str(&step);
        nul(child, path, found);
        path.truncate(length);
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, child)| visit(format!("[{place}]"), child));
        }
        Value::Object(map) => map.iter().for_each(|(key, child)| {
            let bad = key.contains('\0').then(|| Value::String("\0".into()));
            visit(format!(".{}", key.replace('\0', "")), bad.as_ref().unwrap_or(child));
        }),
        Value::String(text) if text.contains('\0') => {
            let field = path.trim_start_matches('.').to_owned();
            let message = format!("{field} holds a NUL character.");
            found.push(violation(
                Code::InvalidField,
                field,
                message,
                "Remove the character U+0000.",
            ));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::read;
    use crate::error::Code;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        #[expect(dead_code, reason = "only its presence is looked at")]
        caption: String,
        #[serde(default)]
        scheduled_at: Option<String>,
    }

    #[test]
    fn every_broken_field_is_named_with_the_nearest_known_one() {
        let error =
            read::<Body>(json!({"sheduled_at": "x", "zzz": 1, "scheduled_at": 5})).unwrap_err();
        let fields: Vec<_> =
            error.violations().iter().map(|v| (v.field.as_str(), v.code)).collect();
        assert!(fields.contains(&("sheduled_at", "unknown_field")), "{fields:?}");
        assert!(fields.contains(&("zzz", "unknown_field")), "{fields:?}");
        assert!(fields.contains(&("scheduled_at", "invalid_field")), "{fields:?}");
        assert!(fields.contains(&("caption", "field_required")), "{fields:?}");
        let typo = error.violations().iter().find(|v| v.field == "sheduled_at").unwrap();
        assert!(typo.message.contains("Did you mean scheduled_at?"), "{}", typo.message);
    }

    #[test]
    fn nul_is_refused_and_null_is_absent() {
        let error = read::<Body>(json!({"caption": "a\u{0}b"})).unwrap_err();
        assert_eq!((error.code(), error.violations().len()), (Code::InvalidField, 1));
        let body = read::<Body>(json!({"caption": "a", "scheduled_at": null})).unwrap();
        assert_eq!(body.scheduled_at, None);
    }
}
