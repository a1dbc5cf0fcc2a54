//! Instructions, resources and prompts for agents.

use fanfare_core::PlatformId;
use fanfare_publishing::platforms;
use rmcp::model::{
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};

use crate::{
    docs::{guides, markdown},
    openapi,
    routes::ROUTES,
};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Instructions for agents.
pub const INSTRUCTIONS: &str = "Fanfare schedules and publishes posts on social networks. Begin with whoami and \
    list_accounts. Times need an offset or a time zone. create_post with dry_run: true checks a post without making it. \
    After create_post follow the post with get_post until it is published or failed; list_attempts shows what was sent. \
    Values that are too long for a result are cut and named in its truncated; reading tools take fields to show less. \
    Ask the user before anything becomes public or is deleted. A refusal says what to change: apply its fix (JSON Patch on the arguments) or make a call of its next; send an idempotency_key \
    with every change, so that a repeated call does not act twice. Guides are resources (fanfare://docs/guides/webhooks and others). \
    Operations without a tool of their own are found with find_operation.";

/// Returns the list of documents.
pub fn resources() -> Vec<Resource> {
    let one = |uri: String, name: &str, mime: &str| Resource::new(uri, name).with_mime_type(mime);
    let guides = guides::ALL
        .iter()
        .map(|guide| one(format!("fanfare://docs/guides/{}", guide.name), guide.title(), MARKDOWN));
    let errors = "Errors of requests and posts, and what to do about each";
    let index = "The chapters of the OpenAPI document and their operations";
    let fixed = [
        one("fanfare://docs/errors".to_owned(), errors, MARKDOWN),
        one("fanfare://openapi".to_owned(), index, JSON),
    ];
    let chapters = openapi::TAGS.iter().map(|(tag, _)| {
        let name = format!("The OpenAPI document of the chapter {tag}");
        one(format!("fanfare://openapi/{}", segment(tag)), &name, JSON)
    });
    let networks = platforms::ids().map(|platform| {
        let name = format!("What {} accepts", platform.as_str());
        one(format!("fanfare://docs/platforms/{}", platform.as_str()), &name, JSON)
    });
    guides.chain(fixed).chain(chapters).chain(networks).collect()
}

/// Returns the addresses of documents of which there are many.
pub fn templates() -> Vec<ResourceTemplate> {
    let one =
        |uri: &str, name: &str, mime: &str| ResourceTemplate::new(uri, name).with_mime_type(mime);
    vec![
        one("fanfare://docs/guides/{guide}", "A guide", MARKDOWN),
        one("fanfare://docs/platforms/{platform}", "What a network accepts", JSON),
        one("fanfare://openapi/{chapter}", "A chapter of the OpenAPI document", JSON),
        one(
            "fanfare://openapi/operations/{operation}",
            "An operation of the OpenAPI document",
            JSON,
        ),
    ]
}

/// Returns the document at this address.
pub fn read(uri: &str, base_url: &str) -> Option<ReadResourceResult> {
    let (text, mime) = text(uri.strip_prefix("fanfare://")?, base_url)?;
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Some(ReadResourceResult::new(vec![contents]))
}

fn text(path: &str, base_url: &str) -> Option<(String, &'static str)> {
    if let Some(name) = path.strip_prefix("docs/guides/") {
        let guide = guides::ALL.iter().find(|guide| guide.name == name)?;
        return Some((guide.markdown(base_url), MARKDOWN));
    }
    if let Some(name) = path.strip_prefix("docs/platforms/") {
        let platform: PlatformId = name.parse().ok()?;
        return Some((json!(platforms::description(platform)).to_string(), JSON));
    }
    match path {
        "docs/errors" => Some((markdown::errors(), MARKDOWN)),
        "openapi" => Some((chapters().to_string(), JSON)),
        _ => Some((openapi_part(path.strip_prefix("openapi/")?, base_url)?.to_string(), JSON)),
    }
}

/// Returns a chapter of the OpenAPI document, or one operation.
fn openapi_part(path: &str, base_url: &str) -> Option<Value> {
    let document = openapi::document(base_url, ROUTES);
    match path.strip_prefix("operations/") {
        Some(name) => openapi::part(&document, |operation| operation["operationId"] == name),
        None => openapi::part(&document, |operation| {
            operation["tags"][0].as_str().is_some_and(|tag| segment(tag) == path)
        }),
    }
}

/// Returns the list of chapters.
fn chapters() -> Value {
    let chapter = |(tag, doc): &(&str, &str)| {
        let routes = ROUTES.iter().filter(|route| route.tag == *tag);
        let operations: Vec<_> = routes.map(|route| route.name).collect();
        json!({
            "chapter": tag,
            "description": doc,
            "uri": format!("fanfare://openapi/{}", segment(tag)),
            "operations": operations,
        })
    };
    json!({"chapters": openapi::TAGS.iter().map(chapter).collect::<Vec<_>>()})
}

/// Returns a chapter's name in addresses.
fn segment(tag: &str) -> String {
    tag.replace(' ', "-")
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
