//! Users' feedback on a public board, and agents' reports to the operators.

mod agent;
mod board;
mod redaction;

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, Violations, violation},
};
use fanfare_entities::{FeedbackId, feedback, feedback::FeedbackStatus};
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, EntityTrait};
use serde::{Deserialize, Serialize};

pub use agent::{NewAgentFeedback, StoredAgentFeedback, prune, report};
pub use board::{
    BoardMessage, find, find_any, list, list_all, moderate, status_name, status_named,
};
pub use fanfare_entities::feedback::FeedbackCategory;
use redaction::redacted;

/// A message for the public board.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFeedback {
    /// The kind of message.
    pub category: FeedbackCategory,
    /// Its title, 3 to 120 characters.
    #[schemars(length(min = 3, max = 120))]
    pub title: String,
    /// Its text, 10 to 5,000 characters. Everybody can read it; keys, tokens and e-mail addresses are removed.
    #[schemars(length(min = 10, max = 5_000), extend("x-lines" = true))]
    pub description: String,
    /// True: the user agrees that title and description become public.
    #[serde(default)]
    pub confirm: bool,
    /// The kind of client that sends it.
    #[serde(default)]
    pub source: Source,
    /// The name of the program that sends it, for the operators.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub client: Option<String>,
    /// The subject, for the operators.
    #[serde(default)]
    pub context: Context,
}

/// The kind of client that sends feedback.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FeedbackSource")]
pub enum Source {
    /// The API.
    #[default]
    Api,
    /// The MCP server.
    Mcp,
    /// The command line.
    Cli,
    /// The dashboard.
    Dashboard,
    /// An agent.
    Agent,
}

impl Source {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Mcp => "mcp",
            Self::Cli => "cli",
            Self::Dashboard => "dashboard",
            Self::Agent => "agent",
        }
    }
}

/// The subject of feedback.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FeedbackContext")]
pub struct Context {
    /// `request_id` of a reply.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub request_id: Option<String>,
    /// Name of an operation.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub related_tool: Option<String>,
}

/// A message on the public board.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredFeedback {
    /// Its id.
    feedback_id: FeedbackId,
    /// Its page on the board.
    #[schemars(extend("format" = "uri"))]
    board_url: String,
    /// Id of the request.
    request_id: String,
}

/// Puts a message on the board.
///
/// # Errors
/// [`Code::ConfirmRequired`], or all violations of the message.
pub async fn submit(
    act: &Act,
    new: NewFeedback,
    flaws: Violations,
) -> Result<Reply<StoredFeedback>> {
    check(&new, flaws)?;
    let now = act.cx.clock.now();
    let id = FeedbackId::fresh();
    let row = feedback::ActiveModel {
        id: Set(id),
        workspace_id: Set(act.membership.workspace_id),
        user_id: Set(act.caller.user_id),
        category: Set(new.category),
        title: Set(redacted(new.title.trim())),
        description: Set(redacted(new.description.trim())),
        source: Set(new.source.as_str().to_owned()),
        client: Set(new.client.as_deref().map(redacted)),
        request_id: Set(new.context.request_id.as_deref().map(redacted)),
        related_tool: Set(new.context.related_tool.as_deref().map(redacted)),
        status: Set(FeedbackStatus::Open),
        hidden: Set(false),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let tx = act.begin().await?;
    feedback::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    let stored = StoredFeedback {
        feedback_id: id,
        board_url: format!("{}/feedback/{id}", act.cx.settings.base_url),
        request_id: act.request_id.clone(),
    };
    act.finish(tx, Reply::ok(&stored).with_status(201)).await
}

/// Refuses blank texts and a missing consent, together with the violations from parsing.
fn check(new: &NewFeedback, mut broken: Violations) -> Result<()> {
    for (field, text, least) in [("title", &new.title, 3), ("description", &new.description, 10)] {
        let length = text.trim().chars().count();
        if length < least && !broken.iter().any(|earlier| earlier.field == field) {
            let message = format!("{field} has {length} characters; it needs at least {least}.");
            let short = violation(Code::InvalidField, field, message, "Write more.");
            broken.push(short.with_limit(least, length).in_unit("characters"));
        }
    }
    if !new.confirm {
        let message = "The message becomes public; confirm is not true.";
        let remedy =
            "Ask the user whether title and description may be public, and send confirm: true.";
        broken.push(violation(Code::ConfirmRequired, "confirm", message, remedy));
    }
    Error::check(broken)
}
