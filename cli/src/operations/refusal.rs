//! Prints errors: what is wrong, what to do, and the id of the request.

use std::io::{self, Write};

use serde_json::Value;

use super::{
    document::{ParameterKind, operations},
    shell::{option, quoted},
};

/// Prints an error on standard error: what is wrong, what to do, and the id of the request.
pub fn print(body: &Value, as_json: bool) {
    let text = if as_json { format!("{body}\n") } else { refusal(body) };
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints why an item of a batch failed.
pub fn print_item(failed: &Value) {
    let text = format!("item {}: {}", failed["index"], refusal(failed));
    let _ = io::stderr().write_all(text.as_bytes());
}

fn refusal(body: &Value) -> String {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let mut lines = vec![format!("error: {}", in_commands(text("error")))];
    for broken in body["validation_errors"].as_array().into_iter().flatten() {
        let part = |name: &str| broken[name].as_str().unwrap_or_default();
        lines.push(format!(
            "  {}: {} {}",
            part("field"),
            part("message"),
            in_commands(part("remedy"))
        ));
    }
    let mut broken = body["validation_errors"].as_array().into_iter().flatten();
    if let Some(remedy) = body["remedy"].as_str()
        && broken.all(|one| one["remedy"] != remedy)
    {
        lines.push(in_commands(remedy));
    }
    let broken = body["validation_errors"].as_array().into_iter().flatten();
    let listed = |name: &'static str| {
        let own = body[name].as_array().into_iter().flatten();
        broken.clone().flat_map(move |one| one[name].as_array().into_iter().flatten()).chain(own)
    };
    lines.extend(listed("fix").map(|fix| format!("fix: {fix}")));
    lines.extend(listed("next").map(next_command));
    lines.push(match body["request_id"].as_str() {
        Some(id) => format!("{} (request {id})", text("code")),
        None => text("code").to_owned(),
    });
    lines.join("\n") + "\n"
}

/// Returns a text in which each call by HTTP is named by its command.
fn in_commands(text: &str) -> String {
    let mut text = text.to_owned();
    for one in operations() {
        let call = format!("{} {}", one.method, one.path);
        let mut from = 0;
        while let Some(place) = text[from..].find(&call).map(|place| place + from) {
            let (mut start, mut end) = (place, place + call.len());
            if text[end..].starts_with(['/', '?', '-', '_', '{']) {
                from = end;
                continue;
            }
            if text[..start].ends_with('`') && text[end..].starts_with('`') {
                (start, end) = (start - 1, end + 1);
            }
            let command = format!("`fanfare {} {}`", one.tag, one.verb);
            from = start + command.len();
            text.replace_range(start..end, &command);
        }
    }
    text
}

/// Returns a next call of an error as a command.
fn next_command(next: &Value) -> String {
    let text = |name: &str| next[name].as_str().unwrap_or_default();
    let why = text("why");
    if let Some(url) = next["url"].as_str() {
        return format!("next: {url} ({why})");
    }
    if let Some(command) = command(next) {
        return format!("next: {command} ({why})");
    }
    let fields = next["body"].as_object().into_iter().flatten();
    let fields: String =
        fields.map(|(name, value)| format!(" -f {}", quoted(&format!("{name}={value}")))).collect();
    format!("next: fanfare api {} {}{fields} ({why})", text("method"), text("path"))
}

/// Returns the command of a call's operation; `None` if the command cannot express the call.
fn command(next: &Value) -> Option<String> {
    let operation = operations().iter().find(|one| next["operation"] == *one.id)?;
    let (path, query) = match next["path"].as_str()?.split_once('?') {
        Some((path, query)) => (path, query),
        None => (next["path"].as_str()?, ""),
    };
    let mut words = vec!["fanfare".to_owned(), operation.tag.clone(), operation.verb.clone()];
    for (known, word) in operation.path.split('/').zip(path.split('/')) {
        if known.starts_with('{') {
            words.push(quoted(word));
        }
    }
    let asked = url::form_urlencoded::parse(query.as_bytes());
    let asked = asked.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned())));
    let sent = next["body"].as_object().cloned().unwrap_or_default();
    for (name, value) in asked.chain(sent) {
        operation
            .parameters
            .iter()
            .find(|one| one.name == name && one.kind != ParameterKind::Texts)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.push(option(&name, &text));
    }
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_named_by_their_commands() {
        for (text, expected) in [
            ("`GET /api/v1/accounts` lists them.", "`fanfare accounts list` lists them."),
            (
                "Check the id; GET /api/v1/posts/{id}/attempts shows it.",
                "Check the id; `fanfare posts list-attempts` shows it.",
            ),
            ("Send the setting.", "Send the setting."),
        ] {
            assert_eq!(in_commands(text), expected);
        }
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let body = json!({"error": "No.", "code": "invalid_field", "request_id": "req_1",
            "validation_errors": [{"field": "limit", "message": "limit is 0.", "remedy": "Send 1.",
                "fix": [{"op": "remove", "path": "/limit"}]}],
            "next": [
                {"operation": "update_post", "method": "PATCH", "path": "/api/v1/posts/7",
                    "body": {"caption": "it's"}, "why": "Changes it."},
                {"operation": "list_posts", "method": "GET", "path": "/api/v1/posts?status=failed", "why": "Lists them."},
                {"operation": "retry_post", "method": "POST", "path": "/api/v1/posts/7/retry",
                    "body": {"text": "it's"}, "why": "Sends it."}]});
        assert_eq!(
            refusal(&body),
            "error: No.\n  limit: limit is 0. Send 1.\nfix: {\"op\":\"remove\",\"path\":\"/limit\"}\n\
             next: fanfare posts update 7 --caption='it'\\''s' (Changes it.)\n\
             next: fanfare posts list --status=failed (Lists them.)\n\
             next: fanfare api POST /api/v1/posts/7/retry -f 'text=\"it'\\''s\"' (Sends it.)\n\
             invalid_field (request req_1)\n"
        );
    }
}
