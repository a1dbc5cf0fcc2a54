use serde_json::{Value, json};

use super::*;

fn operation(id: &str, call: &str, command: &str, names: &[(&str, bool)]) -> Operation {
    let (method, path) = call.split_once(' ').unwrap();
    let parameter = |(name, is_in_path): &(&str, bool)| Parameter {
        name: (*name).to_owned(),
        is_in_path: *is_in_path,
        is_repeated: *name == "media_urls",
    };
    Operation {
        id: id.to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        command: format!("fanfare {command}"),
        parameters: names.iter().map(parameter).collect(),
    }
}

fn words(door: Door) -> Words {
    let new = ["account_id", "caption", "settings", "scheduled_at", "media_urls", "post_type"];
    let new: Vec<_> = new.iter().map(|name| (*name, false)).collect();
    Words::new(
        door,
        vec![
            operation("create_post", "POST /api/v1/posts", "posts create", &new),
            operation("list_posts", "GET /api/v1/posts", "posts list", &[("status", false)]),
            operation("get_post", "GET /api/v1/posts/{id}", "posts get", &[("id", true)]),
            operation("create_posts_batch", "POST /api/v1/posts/batch", "posts create-batch", &[]),
            operation("whoami", "GET /api/v1/whoami", "whoami", &[]),
        ],
    )
}

#[test]
fn an_operation_has_its_name_at_each_door_however_a_text_names_it() {
    for (text, rest, mcp, cli) in [
        (
            "See `GET /api/v1/posts/{id}`.",
            "See `GET /api/v1/posts/{id}`.",
            "See `get_post`.",
            "See `fanfare posts get`.",
        ),
        (
            "GET /api/v1/posts?status=failed lists them.",
            "GET /api/v1/posts?status=failed lists them.",
            "`list_posts` lists them.",
            "`fanfare posts list` lists them.",
        ),
        (
            "One account: create_posts_batch takes 25.",
            "One account: `POST /api/v1/posts/batch` takes 25.",
            "One account: create_posts_batch takes 25.",
            "One account: `fanfare posts create-batch` takes 25.",
        ),
        (
            "Who are you, whoami?",
            "Who are you, whoami?",
            "Who are you, whoami?",
            "Who are you, whoami?",
        ),
        (
            "Nothing at /api/v1/nowhere.",
            "Nothing at /api/v1/nowhere.",
            "Nothing at /api/v1/nowhere.",
            "Nothing at /api/v1/nowhere.",
        ),
        (
            "Send `Idempotency-Key`.",
            "Send `Idempotency-Key`.",
            "Send `idempotency_key`.",
            "Send `--idempotency-key`.",
        ),
    ] {
        let said = Door::ALL.map(|door| words(door).text(text));
        assert_eq!(said, [rest, mcp, cli]);
    }
}

fn refusal() -> Value {
    json!({
        "error": "caption is too long.", "code": "caption_too_long", "remedy": "See `GET /api/v1/posts`.",
        "request_id": "req_1", "doc_url": "https://f.example/docs/errors#caption_too_long",
        "validation_errors": [{
            "field": "caption", "message": "caption is too long.", "remedy": "Send it as `settings.text`.",
            "fix": [{"op": "move", "from": "/caption", "path": "/settings/text"}],
        }],
        "next": [{"operation": "get_post", "method": "GET", "path": "/api/v1/posts/7?wait=5", "why": "GET /api/v1/posts/7 shows it."}],
        "body": {"message": "GET /api/v1/posts is what I sent."},
    })
}

#[test]
fn a_refusal_of_requests_stays_as_it_is() {
    let mut body = refusal();
    words(Door::Rest).render(&mut body, Some("create_post"));
    assert_eq!(body, refusal());
}

#[test]
fn a_refusal_of_tools_names_tools_and_their_arguments() {
    let mut body = refusal();
    words(Door::Mcp).render(&mut body, Some("create_post"));
    assert_eq!(body["remedy"], "See `list_posts`.");
    assert_eq!(
        body["next"][0],
        json!({"operation": "get_post", "arguments": {"id": 7, "wait": 5}, "why": "`get_post` shows it."})
    );
    assert_eq!(body["body"], refusal()["body"], "what was sent is not reworded");
    assert_eq!(body["validation_errors"][0]["fix"], refusal()["validation_errors"][0]["fix"]);
    let text = words(Door::Mcp).tool_text(&body);
    assert!(text.starts_with("caption_too_long: caption is too long. Remedy: "), "{text}");
    assert!(
        text.ends_with("(https://f.example/docs/errors#caption_too_long; request req_1)"),
        "{text}"
    );
}

#[test]
fn a_refusal_at_a_shell_names_commands_and_flags() {
    let lines = words(Door::Cli).command_lines(&refusal(), Some("create_post"));
    let expected = "error: caption is too long.\n  --caption: --caption is too long. Send it as `text` in `--settings`.\n\
        See `fanfare posts list`.\nfix: text in --settings in place of --caption\n\
        next: fanfare api GET '/api/v1/posts/7?wait=5' (`fanfare posts get` shows it.)\n\
        caption_too_long (request req_1) https://f.example/docs/errors#caption_too_long\n";
    // `get` has no flag `wait` here, so the call is written as it is.
    assert_eq!(
        lines.replace("GET /api/v1/posts/7?wait=5", "GET '/api/v1/posts/7?wait=5'"),
        expected
    );
}

#[test]
fn only_what_is_a_refusal_in_a_reply_is_reworded() {
    let mut reply = json!({
        "posts": [{"caption": "GET /api/v1/posts", "message": "GET /api/v1/posts",
            "error": {"code": "auth_expired", "message": "See GET /api/v1/posts.", "next": []}}],
    });
    words(Door::Mcp).render_inside(&mut reply);
    assert_eq!(reply["posts"][0]["message"], "GET /api/v1/posts");
    assert_eq!(reply["posts"][0]["error"]["message"], "See `list_posts`.");
}
