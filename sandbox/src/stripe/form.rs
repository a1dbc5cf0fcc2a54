//! Parameters in Stripe's format: `a[b][0][c]=v`, in a form or a query.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::error::{StripeError, StripeResult};
use crate::call::Call;

/// The most levels of a name.
const DEPTH: usize = 6;

/// The parameters of a request, as a tree with texts as leaves.
#[derive(Debug, Default, Clone)]
pub(super) struct Form {
    tree: Map<String, Value>,
    /// The names as sent, without list indexes.
    names: Vec<(String, String)>,
}

impl Form {
    /// Reads the query, then the body.
    pub fn read(call: &Call) -> StripeResult<Self> {
        let body = match call.media_type().as_str() {
            "" | "application/x-www-form-urlencoded" => call.body.as_ref(),
            other => {
                let message = format!(
                    "Invalid request: Content-Type must be application/x-www-form-urlencoded, not {other}."
                );
                return Err(StripeError::invalid(message));
            }
        };
        let mut form = Self::default();
        for (name, value) in
            form_urlencoded::parse(call.query.as_bytes()).chain(form_urlencoded::parse(body))
        {
            form.add(&name, &value)?;
        }
        Ok(form)
    }

    fn add(&mut self, name: &str, value: &str) -> StripeResult<()> {
        let malformed =
            || StripeError::invalid(format!("Invalid parameter name: {name}")).about(name);
        let (first, rest) = name.split_once('[').unwrap_or((name, ""));
        let mut steps = vec![first.to_owned()];
        if !rest.is_empty() {
            let rest = rest.strip_suffix(']').ok_or_else(malformed)?;
            steps.extend(rest.split("][").map(str::to_owned));
        }
        if first.is_empty() || steps.len() > DEPTH {
            return Err(malformed());
        }
        let is_number = |step: &str| step.bytes().all(|byte| byte.is_ascii_digit());
        let plain: Vec<_> =
            steps.iter().map(|step| if is_number(step) { "" } else { step.as_str() }).collect();
        self.names.push((plain.join("."), name.to_owned()));
        insert(&mut self.tree, &steps, value).ok_or_else(malformed)
    }

    /// Refuses parameters that are not in `known`; `*` at the end of a name matches anything below it.
    pub fn require_known(&self, known: &[&str]) -> StripeResult<()> {
        for (plain, name) in &self.names {
            let is_known = |pattern: &&str| match pattern.strip_suffix('*') {
                Some(start) => plain.starts_with(start),
                None => plain == *pattern,
            };
            if plain != "expand." && !known.iter().any(is_known) {
                return Err(StripeError::unknown(name));
            }
        }
        Ok(())
    }

    /// Returns the value at a path such as `items.0.price`.
    pub fn at(&self, path: &str) -> Option<&Value> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let mut value = self.tree.get(first)?;
        for step in rest.split('.').filter(|step| !step.is_empty()) {
            value = value.get(step)?;
        }
        Some(value)
    }

    /// Returns a text, unless it is empty.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.at(path)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns a required text.
    pub fn required(&self, path: &str) -> StripeResult<&str> {
        self.text(path).ok_or_else(|| StripeError::missing(path))
    }

    /// Returns true if the parameter was sent, even if it is empty.
    pub fn has(&self, path: &str) -> bool {
        self.at(path).is_some()
    }

    /// Returns a number.
    pub fn integer(&self, path: &str) -> StripeResult<Option<i64>> {
        let Some(text) = self.text(path) else { return Ok(None) };
        let wrong = || StripeError::invalid(format!("Invalid integer: {text}")).about(path);
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// Returns a boolean.
    pub fn flag(&self, path: &str) -> StripeResult<Option<bool>> {
        match self.text(path) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => {
                Err(StripeError::invalid(format!("Invalid boolean: {other}")).about(path))
            }
        }
    }

    /// Returns one of a few allowed values.
    pub fn word(&self, path: &str, words: &[&str]) -> StripeResult<Option<&str>> {
        let Some(text) = self.text(path) else { return Ok(None) };
        if words.contains(&text) {
            return Ok(Some(text));
        }
        let message = format!("Invalid {path}: must be one of {}", words.join(", "));
        Err(StripeError::invalid(message).about(path))
    }

    /// Returns the items of a list, in the order of their indexes.
    pub fn list(&self, path: &str) -> Vec<&Value> {
        let Some(Value::Object(list)) = self.at(path) else { return Vec::new() };
        let mut list: Vec<_> = list.iter().collect();
        list.sort_by_key(|(number, _)| number.parse::<u64>().unwrap_or(u64::MAX));
        list.into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the texts of a list.
    pub fn texts(&self, path: &str) -> Vec<&str> {
        self.list(path).into_iter().filter_map(Value::as_str).collect()
    }

    /// Returns a map of texts, such as `metadata`.
    pub fn texts_by_name(&self, path: &str) -> Map<String, Value> {
        self.at(path).and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

fn insert(tree: &mut Map<String, Value>, steps: &[String], value: &str) -> Option<()> {
    let (first, rest) = steps.split_first()?;
    // `a[]=v` takes the next index.
    let first = if first.is_empty() { tree.len().to_string() } else { first.clone() };
    if rest.is_empty() {
        tree.insert(first, value.into());
        return Some(());
    }
    let below = tree.entry(first).or_insert_with(|| Value::Object(Map::new()));
    insert(below.as_object_mut()?, rest, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)]) -> StripeResult<Form> {
        let mut form = Form::default();
        for (name, value) in pairs {
            form.add(name, value)?;
        }
        Ok(form)
    }

    #[test]
    fn names_with_brackets_make_a_tree() {
        let form = form(&[
            ("mode", "payment"),
            ("line_items[1][price]", "b"),
            ("line_items[0][price]", "a"),
            ("expand[]", "x"),
            ("expand[]", "y"),
            ("pause_collection", ""),
        ]);
        let form = form.unwrap();
        assert_eq!(form.text("line_items.0.price"), Some("a"));
        assert_eq!(form.list("line_items")[1]["price"], "b");
        assert_eq!(form.texts("expand"), ["x", "y"]);
        assert!(form.has("pause_collection") && form.text("pause_collection").is_none());
        assert!(form.require_known(&["mode", "line_items.*", "pause_collection"]).is_ok());
        assert!(form.require_known(&["mode", "line_items.*"]).is_err());
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in ["", "[a]", "a[b", "a[b][c][d][e][f][g]"] {
            assert!(form(&[(name, "x")]).is_err(), "{name}");
        }
        assert!(form(&[("a", "x"), ("a[b]", "y")]).is_err());
    }
}
