//! Instructions, resources and prompts for agents.

use fanfare_domain::{Code, PlatformId, platforms};
use rmcp::model::{
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, Role,
};
use serde_json::Value;

use crate::{openapi, routes::ROUTES};

/// Instructions for agents.
pub const INSTRUCTIONS: &str = "Fanfare schedules and publishes posts on social networks. Begin with whoami and \
    list_accounts. Times need an offset or a time zone. create_post with dry_run: true checks a post without making it. \
    After create_post follow the post with get_post until it is published or failed; list_attempts shows what was sent. \
    Ask the user before anything becomes public or is deleted. A refusal says what to change: apply its fix (JSON Patch on the arguments) or make a call of its next; send an idempotency_key \
    with every change, so that a repeated call does not act twice. Operations without a tool of their own are found \
    with find_operation.";

/// Returns the list of documents.
pub fn resources() -> Vec<Resource> {
    let one = |uri: &str, name: &str, mime: &str| Resource::new(uri, name).with_mime_type(mime);
    let mut all = vec![
        one("fanfare://docs/errors", "Errors and what to do about each", "text/markdown"),
        one("fanfare://openapi", "The OpenAPI document", "application/json"),
    ];
    for platform in platforms::ids() {
        let name = format!("What {} accepts", platform.as_str());
        all.push(one(
            &format!("fanfare://docs/platforms/{}", platform.as_str()),
            &name,
            "application/json",
        ));
    }
    all
}

/// Returns the document at this address.
pub fn read(uri: &str, base_url: &str) -> Option<ReadResourceResult> {
    let text = match uri {
        "fanfare://docs/errors" => errors(),
        "fanfare://openapi" => openapi::document(base_url, ROUTES).to_string(),
        _ => {
            let platform: PlatformId =
                uri.strip_prefix("fanfare://docs/platforms/")?.parse().ok()?;
            serde_json::to_string(&platforms::description(platform)).ok()?
        }
    };
    Some(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

fn errors() -> String {
    let entry = |code: &Code| {
        let entry = code.entry();
        format!("- `{}` ({}): {} {}\n", entry.code, entry.status, entry.cause, entry.remedy)
    };
    Code::ALL.iter().map(entry).collect()
}

struct Task {
    name: &'static str,
    description: &'static str,
    argument: (&'static str, &'static str),
    text: &'static str,
}

const TASKS: [Task; 3] = [
    Task {
        name: "plan_week",
        description: "Plan a week of posts and schedule them",
        argument: ("topic", "What the posts are about"),
        text: "Plan a week of posts about {}. List the accounts, read what each platform accepts, find available \
               slots, show me the plan and, once I agree, create the posts with one create_posts_batch call.",
    },
    Task {
        name: "fix_failed",
        description: "Find out why posts failed and mend them",
        argument: ("since", "From which day on, YYYY-MM-DD"),
        text: "List the posts that failed since {}. For each, read its error and its attempts, tell me in a sentence \
               what went wrong, mend what can be mended and retry it. Ask me before you accept the risk of a double \
               post.",
    },
    Task {
        name: "connect_account",
        description: "Connect a social account",
        argument: ("platform", "The platform, for example bluesky"),
        text: "Help me connect my account on {}. Create a connect session, give me its connect_url, and follow the \
               session until it is connected or failed.",
    },
];

/// Returns the list of prompts.
pub fn prompts() -> Vec<Prompt> {
    let one = |task: &Task| {
        let (name, description) = task.argument;
        let argument = PromptArgument::new(name).with_description(description).with_required(true);
        Prompt::new(task.name, Some(task.description), Some(vec![argument]))
    };
    TASKS.iter().map(one).collect()
}

/// Returns a prompt with its argument filled in.
pub fn prompt(name: &str, arguments: Option<&JsonObject>) -> Option<GetPromptResult> {
    let task = TASKS.iter().find(|task| task.name == name)?;
    let (argument, description) = task.argument;
    let given = arguments.and_then(|arguments| arguments.get(argument)).and_then(Value::as_str);
    let text = task.text.replace("{}", given.unwrap_or(description));
    let message = PromptMessage::new_text(Role::User, text);
    Some(GetPromptResult::new(vec![message]).with_description(task.description))
}
