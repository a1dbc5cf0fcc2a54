//! The schemas of a file, each compiled when it is first needed.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Registry, ValidationError, Validator};
use serde_json::{Value, json};

use super::Objection;

/// The schemas of one file.
pub(crate) struct Schemas {
    address: String,
    whole: Value,
    registry: Registry<'static>,
    compiled: RwLock<HashMap<String, Option<Arc<Validator>>>>,
}

impl Schemas {
    pub fn new(address: String, whole: Value, registry: Registry<'static>) -> Self {
        Self { address, whole, registry, compiled: RwLock::default() }
    }

    /// Returns the schema at a place such as `/operations/3/query`.
    pub fn at(&self, place: &str) -> Option<&Value> {
        self.whole.pointer(place)
    }

    /// Returns a schema, or that to which it refers.
    pub fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let target = schema.get("$ref").and_then(Value::as_str);
        match target.and_then(|target| self.at(target.trim_start_matches('#'))) {
            Some(named) => self.resolved(named),
            None => schema,
        }
    }

    /// Returns the first thing that speaks against a request's names and values. What is missing, too long or too much
    /// is for the handlers, which know what the network says of it.
    pub fn objection(&self, place: &str, value: &Value, in_query: bool) -> Option<Objection> {
        let validator = self.compiled(place)?;
        let mut found: Vec<_> = validator.iter_errors(value).filter(is_of_names).collect();
        // A misspelt name is more telling than a value.
        found.sort_by_key(|error| {
            !matches!(error.kind(), ValidationErrorKind::AdditionalProperties { .. })
        });
        found.first().map(|error| objection(error, in_query))
    }

    /// Returns what is wrong with an answer. Descriptions that were made from types do not say what may be null.
    pub fn stray(&self, place: &str, answer: &Value) -> Option<Objection> {
        let validator = self.compiled(place)?;
        validator
            .iter_errors(answer)
            .find(|error| !is_null(error))
            .map(|error| objection(&error, false))
    }

    /// Returns everything that is wrong with a value, with `[]` for the places in lists. A name that is not known is for
    /// the strict reading.
    pub fn all(&self, place: &str, value: &Value) -> BTreeSet<String> {
        let Some(validator) = self.compiled(place) else { return BTreeSet::new() };
        let errors = validator.iter_errors(value);
        let told = errors.filter(|error| !is_null(error) && !is_unknown(error));
        told.map(|error| without_places(&objection(&error, false).to_string())).collect()
    }

    fn compiled(&self, place: &str) -> Option<Arc<Validator>> {
        let known =
            self.compiled.read().unwrap_or_else(PoisonError::into_inner).get(place).cloned();
        if let Some(known) = known {
            return known;
        }
        let made = self.compile(place).ok().map(Arc::new);
        let mut compiled = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        compiled.entry(place.to_owned()).or_insert(made).clone()
    }

    fn compile(&self, place: &str) -> Result<Validator, ValidationError<'static>> {
        let schema = json!({"$ref": format!("{}#{place}", self.address)});
        jsonschema::options().with_registry(&self.registry).build(&schema)
    }

    /// Compiles every schema of this many operations; `Err` names the first that cannot be.
    #[cfg(test)]
    pub fn compile_all(&self, operations: usize) -> Result<(), String> {
        for number in 0..operations {
            let place = format!("/operations/{number}");
            let answers =
                self.whole.pointer(&format!("{place}/answers")).and_then(Value::as_object);
            let statuses = answers.into_iter().flat_map(|answers| answers.keys());
            let answers = statuses.map(|status| format!("{place}/answers/{status}"));
            let all = answers.chain([format!("{place}/query"), format!("{place}/body/schema")]);
            for place in all.filter(|place| self.at(place).is_some()) {
                self.compile(&place).map_err(|why| format!("{place}: {why}"))?;
            }
        }
        Ok(())
    }
}

fn is_null(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Type { .. }) && error.instance().is_null()
}

fn is_unknown(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::AdditionalProperties { .. })
}

/// Returns `a.0.b is missing` as `a[].b is missing`.
fn without_places(what: &str) -> String {
    let (place, rest) = what.split_once(' ').unwrap_or((what, ""));
    let is_place = |part: &str| part.trim_end_matches(':').parse::<u32>().is_ok();
    let mut made = String::new();
    for part in place.split('.') {
        match part {
            _ if is_place(part) => {
                made.push_str("[]");
                made.push_str(&part[part.trim_end_matches(':').len()..]);
            }
            _ if made.is_empty() => made.push_str(part),
            _ => made.extend([".", part]),
        }
    }
    format!("{made} {rest}")
}

/// Returns true if an error is about a name, a type or a value out of a list.
fn is_of_names(error: &ValidationError<'_>) -> bool {
    use ValidationErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::AdditionalProperties { .. }
            | Kind::Type { .. }
            | Kind::Enum { .. }
            | Kind::Constant { .. }
            | Kind::Pattern { .. }
            | Kind::FalseSchema
    )
}

fn objection(error: &ValidationError<'_>, in_query: bool) -> Objection {
    let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let name = unexpected.first().cloned().unwrap_or_default();
            Objection::Name { in_query, path, name }
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default().to_owned();
            Objection::Missing { path, name }
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            let named =
                options.map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
            let why = format!("is not one of {}", named.collect::<Vec<_>>().join(", "));
            Objection::Value { in_query, path, why }
        }
        ValidationErrorKind::Pattern { pattern } => {
            let why = unlisted(pattern, error.instance().as_str().unwrap_or_default());
            let why = why.unwrap_or_else(|| error.masked_with("the value").to_string());
            Objection::Value { in_query, path, why }
        }
        _ => Objection::Value { in_query, path, why: error.masked_with("the value").to_string() },
    }
}

/// Returns which part of a list is none of those that a pattern such as `^(a|b)(,(a|b))*$` allows.
fn unlisted(pattern: &str, list: &str) -> Option<String> {
    let known: Vec<&str> = pattern.strip_prefix("^(")?.split_once(')')?.0.split('|').collect();
    let unknown = list.split(',').find(|one| !known.contains(one))?;
    Some(format!("'{unknown}' is not one of {}", known.join(", ")))
}
