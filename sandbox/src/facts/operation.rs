//! Operations: method, path and permissions.

use salvo::http::Method;
use serde::Deserialize;

use super::{is_method, is_version};

/// An operation of a network.
#[derive(Deserialize)]
pub(crate) struct Operation {
    pub name: String,
    method: String,
    /// `/v5/pins/{pin_id}`; `{name+}` takes the rest of the path.
    path: String,
    /// Lists of permissions, of which a token has to have one whole.
    pub scopes: Vec<Vec<String>>,
    #[serde(default)]
    body: Body,
    /// The kinds of objects whose fields `fields` may name.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// The kinds of objects whose numbers `metric` may name.
    #[serde(default)]
    pub metrics: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Body {
    #[serde(rename = "type", default)]
    kind: String,
}

/// How well a path fits: for each segment, true for a word and false for a placeholder.
pub(crate) type Fit = Vec<bool>;

impl Operation {
    /// Returns how well a request fits, if it does.
    pub fn fit(&self, method: &Method, segments: &[&str]) -> Option<Fit> {
        if !is_method(method, &self.method) {
            return None;
        }
        let mut pattern = self.path.split('/').filter(|segment| !segment.is_empty());
        let mut fit = Fit::new();
        for segment in segments {
            let mut expected = pattern.next()?;
            // A version may be left out.
            if is_version(expected) && !is_version(segment) {
                expected = pattern.next()?;
            }
            if expected.ends_with("+}") {
                return Some(fit);
            }
            if expected == "{version}" && !is_version(segment) {
                return None;
            }
            fit.push(fits(expected, segment)?);
        }
        pattern.next().is_none().then_some(fit)
    }

    /// Returns the permissions that are missing, from the list that is nearest.
    pub fn lacking(&self, granted: &[String]) -> Option<Vec<String>> {
        let missing = |names: &Vec<String>| -> Vec<String> {
            names.iter().filter(|name| !granted.contains(name)).cloned().collect()
        };
        let nearest = self.scopes.iter().map(missing).min_by_key(Vec::len)?;
        (!nearest.is_empty()).then_some(nearest)
    }

    /// Returns true if the body has names: JSON or a form.
    pub fn has_readable_body(&self) -> bool {
        ["json", "form", "multipart"].contains(&self.body.kind.as_str())
    }

    #[cfg(test)]
    pub fn path(&self) -> String {
        self.path.clone()
    }
}

/// Returns whether a segment is the expected word (true) or fits its placeholder (false); `None` if it is neither.
/// Words may stand around a placeholder: `bot{token}`, `{post}:report`.
fn fits(expected: &str, segment: &str) -> Option<bool> {
    match expected.split_once('{') {
        None => expected.eq_ignore_ascii_case(segment).then_some(true),
        Some((before, rest)) => {
            let after = rest.split_once('}').map(|(_, after)| after).unwrap_or_default();
            let inner = segment.strip_prefix(before)?.strip_suffix(after)?;
            (!inner.is_empty()).then_some(!before.is_empty() || !after.is_empty())
        }
    }
}
