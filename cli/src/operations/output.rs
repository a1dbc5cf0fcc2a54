//! Prints replies: as a table on a terminal, as tab-separated lines elsewhere.

use std::io::{IsTerminal, Write};

use serde_json::{Map, Value};

use super::document::{ListField, ParameterKind, operations, sort_columns};

/// The most columns of a table.
const COLUMNS: usize = 7;

/// The widest cell of a table, in characters.
const WIDEST: usize = 48;

/// Prints a reply on standard output; `list` describes the list in it.
pub fn print(body: &Value, as_json: bool, list: Option<&ListField>) {
    let text = match as_json {
        true => format!("{body}\n"),
        false => rendered(body, std::io::stdout().is_terminal(), list),
    };
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints an error on standard error: what is wrong, what to do, and the id of the request.
pub fn print_refusal(body: &Value, as_json: bool) {
    let text = if as_json { format!("{body}\n") } else { refusal(body) };
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn refusal(body: &Value) -> String {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let mut lines = vec![format!("error: {}", text("error"))];
    for broken in body["validation_errors"].as_array().into_iter().flatten() {
        let part = |name: &str| broken[name].as_str().unwrap_or_default();
        lines.push(format!("  {}: {} {}", part("field"), part("message"), part("remedy")));
    }
    if let Some(remedy) = body["remedy"].as_str() {
        lines.push(remedy.to_owned());
    }
    let broken = body["validation_errors"].as_array().into_iter().flatten();
    let listed = |name: &'static str| {
        let own = body[name].as_array().into_iter().flatten();
        broken.clone().flat_map(move |one| one[name].as_array().into_iter().flatten()).chain(own)
    };
    lines.extend(listed("fix").map(|fix| format!("fix: {fix}")));
    lines.extend(listed("next").map(next_command));
    lines.push(format!("{} (request {})", text("code"), text("request_id")));
    lines.join("\n") + "\n"
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
        words.push(format!("--{}={}", name.replace('_', "-"), quoted(&text)));
    }
    Some(words.join(" "))
}

/// Quotes a word if a shell would split it.
fn quoted(word: &str) -> String {
    let is_plain = |mark: char| mark.is_ascii_alphanumeric() || "-_=.:/@".contains(mark);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn rendered(body: &Value, to_person: bool, list: Option<&ListField>) -> String {
    let Some(fields) = body.as_object() else { return format!("{}\n", cell(body)) };
    if let Some((rows, list)) = list.and_then(|list| Some((fields.get(&list.name)?, list))) {
        let rows: Vec<_> =
            rows.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        return lines(&rows, &list.columns, to_person);
    }
    // A list with its cursor, a single resource in a wrapper, or the resource itself.
    if let Some(rows) = fields.values().find_map(Value::as_array).filter(|_| fields.len() <= 3) {
        let rows: Vec<_> = rows.iter().filter_map(Value::as_object).collect();
        return lines(&rows, &columns(&rows), to_person);
    }
    match fields.values().next().and_then(Value::as_object).filter(|_| fields.len() == 1) {
        Some(inner) => pairs(inner, to_person),
        None => pairs(fields, to_person),
    }
}

fn pairs(fields: &Map<String, Value>, to_person: bool) -> String {
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    let line = |(name, value): (&String, &Value)| match to_person {
        true => format!("{name:width$}  {}\n", cell(value)),
        false => format!("{name}\t{}\n", cell(value)),
    };
    fields.iter().map(line).collect()
}

/// Returns the scalar fields of the first entry, for a list that the document does not describe.
fn columns(rows: &[&Map<String, Value>]) -> Vec<String> {
    let first = rows.first().into_iter().flat_map(|row| row.iter());
    let plain = first.filter(|(_, value)| !value.is_object() && !value.is_array());
    let mut columns: Vec<_> = plain.map(|(name, _)| name.clone()).collect();
    sort_columns(&mut columns);
    columns
}

fn lines(rows: &[&Map<String, Value>], columns: &[String], to_person: bool) -> String {
    if to_person { table(rows, columns) } else { tabs(rows, columns) }
}

fn tabs(rows: &[&Map<String, Value>], columns: &[String]) -> String {
    let line = |row: &&Map<String, Value>| {
        let cells: Vec<_> =
            columns.iter().map(|name| cell(row.get(name).unwrap_or(&Value::Null))).collect();
        cells.join("\t") + "\n"
    };
    rows.iter().map(line).collect()
}

fn table(rows: &[&Map<String, Value>], columns: &[String]) -> String {
    if rows.is_empty() {
        return "Nothing.\n".to_owned();
    }
    let columns = &columns[..columns.len().min(COLUMNS)];
    let mut lines = vec![columns.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>()];
    for row in rows {
        let cells = columns.iter().map(|name| short(&cell(row.get(name).unwrap_or(&Value::Null))));
        lines.push(cells.collect());
    }
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let padded = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(padded).collect()
}

/// Returns a value on one line, without control characters, which could move a terminal's cursor.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().map(|mark| if mark.is_control() { ' ' } else { mark }).collect()
}

fn short(text: &str) -> String {
    if text.chars().count() <= WIDEST {
        return text.to_owned();
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_a_table_for_people_and_tabs_for_programs() {
        let list = json!({"posts": [{"id": 1, "caption": "a\tb\u{1b}[2J", "settings": {}}, {"id": 22}], "next_cursor": null});
        assert_eq!(rendered(&list, false, None), "1\ta b [2J\n22\t-\n");
        let table = rendered(&list, true, None);
        assert!(table.starts_with("ID  CAPTION\n"), "{table}");
        assert!(!table.contains('\u{1b}'));
        assert_eq!(rendered(&json!({"posts": []}), true, None), "Nothing.\n");
    }

    #[test]
    fn one_thing_is_shown_without_its_wrapper() {
        assert_eq!(
            rendered(&json!({"post": {"id": 1, "status": "failed"}}), false, None),
            "id\t1\nstatus\tfailed\n"
        );
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
