//! Refusals as somebody at a shell reads them.

use serde_json::Value;
use url::form_urlencoded;

use crate::{Operation, scan};

/// Returns the flag of a parameter.
#[must_use]
pub fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// Returns a flag with its value.
#[must_use]
pub fn option(name: &str, value: &str) -> String {
    format!("{}={}", flag(name), quoted(value))
}

/// Quotes a word if a shell would split it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |mark: char| mark.is_ascii_alphanumeric() || "-_=.:/@,".contains(mark);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Returns the name of a field as a flag; what lies inside of it stands before. A position has its name in capitals.
pub fn field(name: &str, operation: &Operation) -> String {
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (outer, inner) = (&name[..end], name[end..].trim_start_matches('.'));
    if operation.parameters.iter().any(|one| one.name == outer && one.is_in_path) {
        return outer.to_uppercase();
    }
    match (operation.takes_flag(outer), inner) {
        (false, _) => name.to_owned(),
        (true, "") => flag(outer),
        (true, inner) => format!("{inner} in {}", flag(outer)),
    }
}

/// Returns a text in which fields of the operation are flags. `about` is the field that a message is about.
pub fn with_flags(text: &str, about: Option<&str>, operation: &Operation) -> String {
    let (mut text, mut from) = (text.to_owned(), 0);
    while let Some((start, end)) = scan::word(&text, from) {
        let found = text[start..end].to_owned();
        let (before, after) = (&text[..start], &text[end..]);
        let is_marked = before.ends_with('`') && after.starts_with('`');
        let is_own = start == 0 && about == Some(&*found);
        // Names of one word may be ordinary words; inside of a name in marks they are no field.
        let is_name = is_marked || is_own || (found.contains(['_', '.']) && !in_marks(before));
        let named = match is_name {
            true => field(&found, operation),
            false => found.clone(),
        };
        from = end;
        if named == found {
            continue;
        }
        let put = match is_marked {
            true => format!("`{}`", named.replace(" in --", "` in `--")),
            false => named,
        };
        let (start, end) = if is_marked { (start - 1, end + 1) } else { (start, end) };
        text.replace_range(start..end, &put);
        from = start + put.len();
    }
    text
}

fn in_marks(before: &str) -> bool {
    before.matches('`').count() % 2 == 1
}

/// Returns a refusal, whose texts are in the words of the command line, as lines.
pub fn lines(body: &Value, operation: Option<&Operation>, known: &[Operation]) -> String {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let named = |name: &str| operation.map_or_else(|| name.to_owned(), |it| field(name, it));
    let broken = || body["validation_errors"].as_array().into_iter().flatten();
    let mut lines = vec![format!("error: {}", text("error"))];
    for one in broken() {
        let part = |name: &str| one[name].as_str().unwrap_or_default();
        lines.push(format!("  {}: {} {}", named(part("field")), part("message"), part("remedy")));
    }
    if let Some(remedy) = body["remedy"].as_str()
        && broken().all(|one| one["remedy"] != remedy)
    {
        lines.push(remedy.to_owned());
    }
    if let Some(status) = body["status"].as_str() {
        let allowed = body["allowed"].as_array().into_iter().flatten();
        let allowed: Vec<_> = allowed.filter_map(Value::as_str).collect();
        lines.push(format!("status: {status}; allowed: {}", allowed.join(", ")));
    }
    let listed = |name: &'static str| {
        let own = body[name].as_array().into_iter().flatten();
        broken().flat_map(move |one| one[name].as_array().into_iter().flatten()).chain(own)
    };
    lines.extend(listed("fix").map(|one| format!("fix: {}", fix(one, operation))));
    lines.extend(listed("next").map(|next| format!("next: {}", next_command(next, known))));
    let mut last = text("code").to_owned();
    if let Some(id) = body["request_id"].as_str() {
        last += &format!(" (request {id})");
    }
    if let Some(url) = body["doc_url"].as_str() {
        last += &format!(" {url}");
    }
    lines.push(last);
    lines.join("\n") + "\n"
}

/// Returns a fix as what to do with flags. One that is about no flag stays JSON Patch on the body.
fn fix(fix: &Value, operation: Option<&Operation>) -> String {
    let Some(operation) = operation else { return fix.to_string() };
    let named = |pointer: &str| {
        let dotted = pointer.trim_start_matches('/').replace('/', ".");
        let outer = dotted.split('.').next().unwrap_or_default();
        match operation.takes_flag(outer) {
            true => field(&dotted, operation),
            // A flag that there is not was sent by `--input` or by its name.
            false => flag(&dotted),
        }
    };
    let (path, from) = (fix["path"].as_str(), fix["from"].as_str());
    let path = named(path.unwrap_or_default());
    let value = || match &fix["value"] {
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    };
    match (fix["op"].as_str(), from) {
        (Some("move"), Some(from)) => format!("{path} in place of {}", named(from)),
        (Some("remove"), _) => format!("leave out {path}"),
        _ if path.starts_with("--") => format!("{path}={}", value()),
        _ => format!("{path}: {}", value()),
    }
}

/// Writes the next calls in a reply as commands, each under its number.
pub fn name_calls(reply: &mut Value, known: &[Operation]) {
    match reply {
        Value::Object(fields) => {
            for (name, value) in fields {
                let calls = value.as_array().filter(|calls| {
                    name == "next" && calls.iter().all(|call| call["why"].is_string())
                });
                let Some(calls) = calls else {
                    name_calls(value, known);
                    continue;
                };
                let named = calls.iter().map(|call| next_command(call, known).into());
                let named = named.enumerate().map(|(at, call)| (at.to_string(), call));
                *value = Value::Object(named.collect());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_calls(item, known)),
        _ => {}
    }
}

/// Returns a next call of an error as a command.
fn next_command(next: &Value, known: &[Operation]) -> String {
    let text = |name: &str| next[name].as_str().unwrap_or_default();
    let why = text("why");
    if let Some(url) = next["url"].as_str() {
        return format!("{url} ({why})");
    }
    if let Some(command) = command(next, known) {
        return format!("{command} ({why})");
    }
    let fields = next["body"].as_object().into_iter().flatten();
    let fields: String =
        fields.map(|(name, value)| format!(" -f {}", quoted(&format!("{name}={value}")))).collect();
    format!("fanfare api {} {}{fields} ({why})", text("method"), text("path"))
}

/// Returns the command of a call's operation; `None` if the command cannot express the call.
fn command(next: &Value, known: &[Operation]) -> Option<String> {
    let operation = known.iter().find(|one| next["operation"] == *one.id)?;
    let (path, query) = match next["path"].as_str()?.split_once('?') {
        Some((path, query)) => (path, query),
        None => (next["path"].as_str()?, ""),
    };
    let mut words = vec![operation.command.clone()];
    for (known, word) in operation.path.split('/').zip(path.split('/')) {
        if known.starts_with('{') {
            words.push(quoted(word));
        }
    }
    let asked = form_urlencoded::parse(query.as_bytes());
    let asked = asked.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned())));
    let sent = next["body"].as_object().cloned().unwrap_or_default();
    for (name, value) in asked.chain(sent) {
        operation.parameters.iter().find(|one| one.name == name && !one.is_repeated)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.push(option(&name, &text));
    }
    Some(words.join(" "))
}
