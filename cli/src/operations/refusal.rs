//! Prints errors in the words of the command line: what is wrong, what to do, and the id of the request.

use std::{
    io::{self, Write},
    sync::LazyLock,
};

use fanfare_doors::{Door, Operation, Parameter, Words};
use serde_json::Value;

use super::document::{self, ParameterKind, ParameterLocation, operations};

static WORDS: LazyLock<Words> =
    LazyLock::new(|| Words::new(Door::Cli, operations().iter().map(named).collect()));

/// Returns the words of the command line.
pub fn words() -> &'static Words {
    &WORDS
}

/// Returns an operation with its names.
fn named(operation: &document::Operation) -> Operation {
    let parameter = |one: &document::Parameter| Parameter {
        name: one.name.clone(),
        is_in_path: one.location == ParameterLocation::Path,
        is_repeated: one.kind == ParameterKind::Texts,
    };
    Operation {
        id: operation.id.clone(),
        method: operation.method.to_string(),
        path: operation.path.clone(),
        command: format!("fanfare {} {}", operation.tag, operation.verb),
        parameters: operation.parameters.iter().map(parameter).collect(),
    }
}

/// Prints an error on standard error: what is wrong, what to do, and the id of the request. `operation` is the one that
/// was asked for, if it is known.
pub fn print(body: &Value, as_json: bool, operation: Option<&str>) {
    let text = if as_json {
        let mut body = body.clone();
        words().render(&mut body, operation);
        format!("{body}\n")
    } else {
        words().command_lines(body, operation)
    };
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints why an item of a batch failed.
pub fn print_item(failed: &Value, operation: Option<&str>) {
    let text = format!("item {}: {}", failed["index"], words().command_lines(failed, operation));
    let _ = io::stderr().write_all(text.as_bytes());
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
            ("Use create_posts_batch.", "Use `fanfare posts create-batch`."),
            ("Send the setting.", "Send the setting."),
        ] {
            assert_eq!(words().text(text), expected);
        }
    }

    #[test]
    fn fields_are_flags() {
        let body = json!({"error": "limit is 0.", "code": "invalid_field",
            "remedy": "Send `scheduled_at`, or post_type and settings.poll.",
            "validation_errors": [
                {"field": "caption", "message": "caption is 300 long.", "remedy": "Shorten the caption.",
                    "fix": [{"op": "move", "from": "/text", "path": "/caption"}]},
                {"field": "settings.poll", "message": "There is no field settings.poll.", "remedy": "Send it as `settings.poll`.",
                    "fix": [{"op": "add", "path": "/settings/poll", "value": {"options": ["a"]}}]}]});
        assert_eq!(
            words().command_lines(&body, Some("create_post")),
            "error: limit is 0.\n  --caption: --caption is 300 long. Shorten the caption.\n\
             \x20 poll in --settings: There is no field poll in --settings. Send it as `poll` in `--settings`.\n\
             Send `--scheduled-at`, or --post-type and poll in --settings.\n\
             fix: --caption in place of --text\nfix: poll in --settings: '{\"options\":[\"a\"]}'\ninvalid_field\n"
        );
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let body = json!({"error": "No.", "code": "invalid_field", "request_id": "req_1",
            "doc_url": "https://f.example/docs/errors#invalid_field", "status": "failed", "allowed": ["draft"],
            "validation_errors": [{"field": "limit", "message": "limit is 0.", "remedy": "Send 1.",
                "fix": [{"op": "remove", "path": "/limit"}]}],
            "next": [
                {"operation": "update_post", "method": "PATCH", "path": "/api/v1/posts/7",
                    "body": {"caption": "it's"}, "why": "Changes it."},
                {"operation": "list_posts", "method": "GET", "path": "/api/v1/posts?status=failed", "why": "Lists them."},
                {"operation": "retry_post", "method": "POST", "path": "/api/v1/posts/7/retry",
                    "body": {"text": "it's"}, "why": "Sends it."}]});
        assert_eq!(
            words().command_lines(&body, Some("list_posts")),
            "error: No.\n  --limit: --limit is 0. Send 1.\nstatus: failed; allowed: draft\nfix: leave out --limit\n\
             next: fanfare posts update 7 --caption='it'\\''s' (Changes it.)\n\
             next: fanfare posts list --status=failed (Lists them.)\n\
             next: fanfare api POST /api/v1/posts/7/retry -f 'text=\"it'\\''s\"' (Sends it.)\n\
             invalid_field (request req_1) https://f.example/docs/errors#invalid_field\n"
        );
    }
}
