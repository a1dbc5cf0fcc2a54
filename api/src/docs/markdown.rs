//! The documentation as Markdown, for agents, made from the route table and the error catalogue.

use fanfare_core::{
    Code,
    remedies::{NextStep, after_post_failure, fixes, next_steps},
};
use fanfare_publishing::posts::{POST_ERRORS, post_failure};

use super::{example, guides, reference::ReplyExample, schemas};
use crate::{Route, hints::Hints, openapi};

/// Returns the text of `/llms.txt`, which describes the service and leads to each document.
pub fn index(base_url: &str, routes: &[Route]) -> String {
    let mut text = format!(
        "# Fanfare\n\n> Publishes posts on social networks at their time, once, and proves what was sent. REST under \
         {base_url}/api/v1 with `Authorization: Bearer <key>`; MCP at {base_url}/mcp.\n\n\
         Times need an offset or a time zone. A refusal names the field, the reason and the remedy. Send an \
         `Idempotency-Key` with every change. Ask the user before anything becomes public or is deleted.\n\n\
         ## Documents\n\n\
         - [API reference]({base_url}/docs.md): every operation with its fields and an example\n\
         - [Errors]({base_url}/docs/errors.md): every code with its cause and its remedy\n\
         - [OpenAPI]({base_url}/openapi.json): the same for programs\n\
         - [All of it in one file]({base_url}/llms-full.txt)\n\n## Guides\n\n{}\n## Operations\n\n",
        guides::markdown_list(base_url)
    );
    for (tag, doc) in openapi::TAGS {
        text += &format!("### {tag}\n\n{doc}\n\n");
        for route in routes.iter().filter(|route| route.tag == tag) {
            let (name, method) = (route.name, route.method.as_str());
            text += &format!("- `{name}` ({method} {}): {}\n", route.path, route.summary);
        }
        text.push('\n');
    }
    text
}

/// Returns guides, reference and errors as one text.
pub fn everything(base_url: &str, routes: &[Route]) -> String {
    let guides = guides::ALL.iter().map(|guide| guide.markdown(base_url) + "\n");
    format!("{}{}\n{}", guides.collect::<String>(), reference(base_url, routes), errors())
}

/// Returns the reference.
pub fn reference(base_url: &str, routes: &[Route]) -> String {
    let mut text = format!(
        "# The Fanfare API\n\nSend your key as `Authorization: Bearer …` to {base_url}. Bodies are JSON; a field that is \
         not known is refused. Every change may carry an `Idempotency-Key`, which makes it safe to send again.\n\n\
         Guides:\n\n{}",
        guides::markdown_list(base_url)
    );
    for (tag, doc) in openapi::TAGS {
        text += &format!("\n## {tag}\n\n{doc}\n");
        for route in routes.iter().filter(|route| route.tag == tag) {
            text += &entry(base_url, route);
        }
    }
    text
}

/// Returns the entry of one operation.
pub fn entry(base_url: &str, route: &Route) -> String {
    let (method, curl) = (route.method.as_str(), example::curl(base_url, route));
    let mut text = format!(
        "\n### {} — {method} {}\n\n{}. {} {}\n\n",
        route.name,
        route.path,
        route.summary,
        route.when,
        openapi::needs(route)
    );
    for (schema, place) in schemas(route) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.iter().any(|other| other == name);
            let needed = if is_required { ", required" } else { "" };
            let doc = field["description"].as_str().unwrap_or_default();
            text += &format!("- `{name}` ({place}{needed}): {doc}\n");
        }
    }
    let answers = route.replies.iter().flatten();
    let answers: Vec<_> = answers.map(|one| format!("{}: {}", one.status, one.doc)).collect();
    text + &format!("\n```sh\n{curl}\n```\n\n{}\n", answers.join(" "))
}

/// Returns the page of one operation: its request in three forms, its replies and its errors.
pub fn operation(base_url: &str, route: &Route, answers: &[ReplyExample]) -> String {
    let mut text = entry(base_url, route).trim_start().replacen("### ", "# ", 1);
    text += &format!("\n{}\n\nAs a command:\n\n", Hints::of(route).description());
    text += &format!("```sh\n{}\n```\n\nAs a tool:\n\n", example::command(route));
    text += &format!("```json\n{}\n```\n", example::tool_call(route));
    for answer in answers {
        let body = example::pretty(&answer.body);
        text += &format!("\n## Reply {}\n\n{}\n\n", answer.success.status, answer.success.doc);
        text += &format!("```json\n{body}\n```\n");
    }
    text += "\n## Errors\n\n";
    let mut codes = openapi::codes(route);
    codes.sort_by_key(|code| code.entry().status);
    for entry in codes.iter().map(|code| code.entry()) {
        text += &format!("- {} `{}`: {}\n", entry.status, entry.code, entry.cause);
    }
    text
}

/// Returns the fixes and next calls of an error, one a line.
fn remedies(code: Code) -> String {
    let mut text = String::new();
    let fixes = fixes(code);
    if !fixes.is_empty() {
        text += &format!("- `fix`: {fixes}\n");
    }
    let calls = lines(next_steps(code));
    if text.is_empty() || !calls.is_empty() { text + &calls } else { text + "\n" }
}

fn lines(leads: &[NextStep]) -> String {
    let line = |lead: &NextStep| {
        let (call, why) = lead.description();
        format!("- `next`: {call}. {why}\n")
    };
    let lines: String = leads.iter().map(line).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Returns the list of errors.
pub fn errors() -> String {
    let entry = |code: &Code| {
        let entry = code.entry();
        let again = format!(" `retry`: {}.", code.retry().name());
        format!(
            "## {} ({})\n\n{} {}{again}\n\n{}",
            entry.code,
            entry.status,
            entry.cause,
            entry.remedy,
            remedies(*code)
        )
    };
    let intro = "# Errors\n\nEvery refusal is JSON with `error` (a sentence), `code` (one of these) and `request_id`. What is \
                 wrong with fields stands in `validation_errors`, all at once.\n\n";
    let of_post = |(code, cause): (&str, &str)| {
        let (remedy, retry) = post_failure(code)
            .map_or_else(Default::default, |failure| (failure.remedy, failure.retry.name()));
        let steps = lines(after_post_failure(code));
        format!("## {code}\n\nIn `error` of a post. {cause} {remedy} `retry`: {retry}.\n\n{steps}")
    };
    let of_requests: String = Code::ALL.iter().map(entry).collect();
    intro.to_owned() + &of_requests + &POST_ERRORS.map(of_post).concat()
}
