//! Strict parsing of bodies and queries: every unknown field and wrong value is reported, all at once.

use fanfare_platforms::{Fix, Violation, Violations, excerpt, fix::closest_name};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::shape;
use crate::error::{Code, Error, Result, violation};

/// The most characters of a misspelt name that are compared with known names.
const MAX_COMPARED_CHARS: usize = 64;

/// Parses a value into its type.
///
/// # Errors
/// All unknown fields, missing fields and wrong values, as `validation_errors`.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(value: Value) -> Result<T> {
    let (read, broken) = read_partial(value)?;
    Error::check(broken).map(|()| read)
}

/// Parses as much of a value as possible, and returns what is wrong with the rest, so that one reply can report both
/// these and later violations.
///
/// # Errors
/// The same as for [`read`], if nothing can be parsed: a required field is missing or wrong.
pub fn read_partial<T: DeserializeOwned + JsonSchema + 'static>(
    mut value: Value,
) -> Result<(T, Violations)> {
    if !value.is_object() {
        return Err(Error::new(Code::InvalidJson, "The body must be a JSON object."));
    }
    let mut found = Violations::default();
    shape::of::<T>().remove_invalid(&mut value, &mut found);
    // Finds the errors that the schema does not express. Each round reports one wrong field and removes it, so that the
    // next round finds the next one; there are at most as many rounds as the type has fields.
    loop {
        let error = match serde_path_to_error::deserialize::<_, T>(&value) {
            Ok(read) => return Ok((read, found)),
            Err(error) => error,
        };
        let steps = pointer(error.path());
        let broken = explain(&steps, &error.into_inner().to_string());
        if broken.code == Code::FieldRequired.entry().code && !found.is_empty() {
            // The field was missing, or has been removed: either was reported.
            break;
        }
        if !found.iter().any(|earlier| earlier.field == broken.field) {
            found.push(broken);
        }
        if !remove(&mut value, &steps) {
            break;
        }
    }
    Error::check(found)?;
    Err(Error::new(Code::InvalidJson, "The body could not be read."))
}

/// The steps from the root to a value.
type Steps = Vec<String>;

fn pointer(path: &Path) -> Steps {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(format!("[{index}]")),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        })
        .collect()
}

/// Returns a field's name for people: `settings.poll.options[2]`.
fn name(steps: &[String]) -> String {
    steps.iter().fold(String::new(), |mut name, step| {
        if !name.is_empty() && !step.starts_with('[') {
            name.push('.');
        }
        name.push_str(step);
        name
    })
}

/// Fields whose value no fix sets, because nobody but the caller can know what is meant.
const CHOSEN_BY_CALLERS: [&str; 1] = ["duplicates"];

/// Returns serde's message in plain words.
fn explain(steps: &[String], message: &str) -> Violation {
    let path = name(steps);
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    if let Some(field) = missing {
        let field = if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
        let text = format!("{field} is required.");
        return violation(Code::FieldRequired, field, text, "Send the field.");
    }
    let text = format!("{path}: {}.", message.trim_end_matches('.'));
    let is_fixed = steps.last().is_none_or(|field| !CHOSEN_BY_CALLERS.contains(&field.as_str()));
    let fix = choice(message).filter(|_| is_fixed).map(|choice| Fix::replace(&path, choice));
    violation(Code::InvalidField, path, text, "Send a value of the type named.").with_fix(fix)
}

/// Returns the known choice that is most similar to a misspelt one, from serde's list.
fn choice(message: &str) -> Option<&str> {
    let (given, rest) = message.strip_prefix("unknown variant `")?.split_once('`')?;
    closest_name(given, rest.split('`').skip(1).step_by(2))
}

/// Reports an unknown field, with the most similar known one.
#[must_use]
pub fn unknown_field(path: &str, field: &str, known: &[&str]) -> Violation {
    let path = excerpt(path);
    let compared: String = field.chars().take(MAX_COMPARED_CHARS).collect();
    let nearest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&compared, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(compared.len()).div_ceil(2));
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

/// Removes a wrong value. A list is removed at its first wrong item, so that no index in it is reported wrongly.
fn remove(value: &mut Value, steps: &[String]) -> bool {
    let whole = steps.iter().take_while(|step| !step.starts_with('[')).count();
    let Some((last, parents)) = steps.get(..whole).and_then(<[String]>::split_last) else {
        return false;
    };
    let parent = parents.iter().try_fold(value, |value, step| value.as_object_mut()?.get_mut(step));
    parent.and_then(|parent| parent.as_object_mut()?.remove(last)).is_some()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Map, json};

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is refused is looked at")]
    struct Body {
        #[schemars(length(max = 1_000), extend("x-lines" = true))]
        caption: String,
        #[serde(default)]
        scheduled_at: Option<String>,
        #[serde(default)]
        #[schemars(inner(length(max = 20)))]
        urls: Option<Vec<String>>,
        #[serde(default)]
        settings: Option<Map<String, Value>>,
        #[serde(default)]
        id: Option<uuid::Uuid>,
    }

    fn fields(error: &Error) -> Vec<(&str, &str)> {
        error.violations().iter().map(|v| (v.field.as_str(), v.code)).collect()
    }

    #[test]
    fn every_broken_field_is_named_with_the_nearest_known_one() {
        let sent = json!({"sheduled_at": "x", "zzz": 1, "scheduled_at": 5, "id": "7"});
        let error = read::<Body>(sent).unwrap_err();
        let expected = [
            ("id", "invalid_field"),
            ("scheduled_at", "invalid_field"),
            ("sheduled_at", "unknown_field"),
            ("zzz", "unknown_field"),
            ("caption", "field_required"),
        ];
        let found = fields(&error);
        assert!(expected.iter().all(|one| found.contains(one)), "{found:?}");
        assert_eq!(found.len(), expected.len(), "{found:?}");
        let typo = error.violations().iter().find(|v| v.field == "sheduled_at").unwrap();
        assert!(typo.message.contains("Did you mean scheduled_at?"), "{}", typo.message);
    }

    #[test]
    fn what_is_misspelt_or_of_another_type_is_corrected() {
        let sent = json!({"captoin": 5, "scheduledAt": 1_893_456_000, "urls": "a", "zzz": 1});
        let error = read::<Body>(sent).unwrap_err();
        let fix = |field: &str| {
            let broken = error.violations().iter().find(|one| one.field == field).unwrap();
            json!(broken.fix)
        };
        let moved = |from: &str, to: &str, value: Value| {
            json!([
                {"op": "move", "from": from, "path": to},
                {"op": "replace", "path": to, "value": value},
            ])
        };
        assert_eq!(fix("captoin"), moved("/captoin", "/caption", json!("5")));
        let time = json!("2030-01-01T00:00:00Z");
        assert_eq!(fix("scheduledAt"), moved("/scheduledAt", "/scheduled_at", time));
        assert_eq!(fix("urls"), json!([{"op": "replace", "path": "/urls", "value": ["a"]}]));
        assert_eq!(fix("zzz"), json!([]));
        let message = "unknown variant `drafft`, expected `draft` or `scheduled`";
        assert_eq!(choice(message), Some("draft"));
        assert_eq!(choice("unknown variant `x`, expected one of `a`, `b`"), None);
    }

    #[test]
    fn items_keep_their_places_whatever_is_wrong_with_those_before_them() {
        let long = "x".repeat(21);
        let sent = json!({"caption": "a", "urls": [1, "ok", null, long, "a\nb", "ok", {}]});
        let (read, broken) = read_partial::<Body>(sent).unwrap();
        let places: Vec<_> = broken.iter().map(|one| one.field.as_str()).collect();
        assert_eq!(places, ["urls[0]", "urls[2]", "urls[3]", "urls[4]", "urls[6]"]);
        let urls = read.urls.unwrap();
        assert_eq!((urls.len(), urls[1].as_str(), urls[5].as_str()), (7, "ok", "ok"));
    }

    #[test]
    fn control_characters_and_long_texts_are_refused_and_null_is_absent() {
        let error = read::<Body>(json!({"caption": "a\u{0}b"})).unwrap_err();
        assert_eq!((error.code(), error.violations().len()), (Code::InvalidField, 1));
        let body = read::<Body>(json!({"caption": "a\nb", "scheduled_at": null})).unwrap();
        assert_eq!(body.scheduled_at, None);
        for bad in [
            json!({"caption": "a", "scheduled_at": "x".repeat(201)}),
            json!({"caption": "x".repeat(1_001)}),
            json!({"caption": "a", "settings": {"a": {"b": ["\u{7}"]}}}),
            json!({"caption": "a", "settings": {"a\u{0}": 1}}),
            json!({"caption": "a", "settings": {"a": "x".repeat(100_001)}}),
            json!({"caption": "a", "id": "x".repeat(3_000)}),
        ] {
            let error = read::<Body>(bad).unwrap_err();
            assert_eq!((error.code(), error.violations().len()), (Code::InvalidField, 1));
            assert!(error.message().len() < 300, "{}", error.message());
        }
    }

    #[test]
    fn twenty_thousand_broken_values_are_counted() {
        let unknown: Map<String, Value> =
            (0..10_000).map(|n| (format!("{n}{}", "n".repeat(200)), json!(1))).collect();
        let mut sent = Value::Object(unknown);
        sent["settings"] = json!({ "a".repeat(256): vec!["\0"; 10_000] });
        let error = read::<Body>(sent).unwrap_err();
        assert_eq!((error.violations().len(), error.unlisted_violations()), (50, 19_951));
        let size = serde_json::to_string(&error.refusal()).unwrap().len();
        assert!(size <= 32 * 1024, "{size}");
    }
}
