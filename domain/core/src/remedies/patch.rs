//! Applies fixes to a body, as JSON Patch (RFC 6902) does, except that adding and moving never overwrite a value.

use fanfare_platforms::Fix;
use serde_json::{Map, Value, json};

/// Applies fixes; returns `None` if one of them cannot be applied.
#[must_use]
pub fn apply(body: &Value, fixes: &[Fix]) -> Option<Value> {
    let mut next = body.clone();
    for fix in fixes {
        match fix {
            Fix::Add { path, value } => put(&mut next, path, value.clone())?,
            Fix::Move { from, path } => {
                let value = take(&mut next, from)?;
                put(&mut next, path, value)?;
            }
            Fix::Remove { path } => drop(take(&mut next, path)?),
            Fix::Replace { path, value } => *next.pointer_mut(path)? = value.clone(),
        }
    }
    Some(next)
}

/// Returns the fixes, preceded by those that add the parent objects which `body` lacks.
#[must_use]
pub fn with_parents(body: &Value, fixes: Vec<Fix>) -> Vec<Fix> {
    let mut all = Vec::with_capacity(fixes.len());
    for fix in fixes {
        if let Fix::Add { path, .. } | Fix::Move { path, .. } = &fix
            && let Some((parent, _)) = path.rsplit_once('/')
            && body.pointer(parent).is_none_or(Value::is_null)
            && parent
                .rsplit_once('/')
                .is_some_and(|(above, _)| body.pointer(above).is_some_and(Value::is_object))
        {
            let (parent, value) = (parent.to_owned(), json!({}));
            all.push(match body.pointer(&parent) {
                None => Fix::Add { path: parent, value },
                Some(_) => Fix::Replace { path: parent, value },
            });
        }
        let is_there = |path: &str| body.pointer(path).is_some();
        all.push(match fix {
            // The type of a post that does not fit is put right; other values are never overwritten.
            Fix::Add { path, value } if path == "/post_type" && is_there(&path) => {
                Fix::Replace { path, value }
            }
            fix => fix,
        });
    }
    all
}

fn holder<'a>(body: &'a mut Value, path: &str) -> Option<(&'a mut Map<String, Value>, String)> {
    let (parent, name) = path.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    Some((body.pointer_mut(parent)?.as_object_mut()?, name))
}

fn take(body: &mut Value, path: &str) -> Option<Value> {
    if let Some((parent, place)) = path.rsplit_once('/')
        && let Some(list) = body.pointer_mut(parent).and_then(Value::as_array_mut)
    {
        let place: usize = place.parse().ok().filter(|place| *place < list.len())?;
        return Some(list.remove(place));
    }
    let (fields, name) = holder(body, path)?;
    fields.remove(&name)
}

fn put(body: &mut Value, path: &str, value: Value) -> Option<()> {
    let (fields, name) = holder(body, path)?;
    if fields.contains_key(&name) {
        return None;
    }
    fields.insert(name, value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_that_does_not_fit_changes_nothing() {
        let body = json!({"captoin": "a", "caption": "b", "settings": null});
        assert_eq!(apply(&body, &[Fix::rename("captoin", "caption")]), None);
        assert_eq!(apply(&body, &[Fix::remove("zzz")]), None);
        let removed = json!({"caption": "b", "settings": null});
        assert_eq!(apply(&body, &[Fix::remove("captoin")]), Some(removed));
    }

    #[test]
    fn an_object_that_is_missing_is_added_first() {
        for (body, whole) in [
            (json!({}), json!({"settings": {"title": "a"}})),
            (json!({"settings": null}), json!({"settings": {"title": "a"}})),
            (json!({"settings": {"b": 1}}), json!({"settings": {"b": 1, "title": "a"}})),
        ] {
            let fixes = with_parents(&body, vec![Fix::add("settings.title", "a")]);
            assert_eq!(apply(&body, &fixes), Some(whole));
        }
    }
}
