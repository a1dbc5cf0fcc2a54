//! Agents' reports about tools; only operators see them.

use fanfare_core::{
    Act, Domain, PlatformId, Reply, batches,
    error::{Code, Error, Result},
};
use fanfare_entities::{AgentFeedbackId, Millis, agent_feedback};
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait};
use serde::{Deserialize, Serialize};

use super::redaction::redacted;

/// The time for which a report is kept, in ms: 180 days.
const RETENTION: Millis = 180 * 24 * 3_600_000;

/// A report about an agent's experience with a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAgentFeedback {
    /// The way in which the agent uses the service.
    pub source: Source,
    /// The tool or operation.
    #[schemars(length(min = 1, max = 64))]
    pub tool: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The `code` of the last refusal.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub error_code: Option<String>,
    /// A comment. Keys, tokens and e-mail addresses are removed.
    #[serde(default)]
    #[schemars(length(max = 1_000), extend("x-lines" = true))]
    pub comment: Option<String>,
    /// Details of the attempt.
    #[serde(default)]
    pub context: Context,
}

/// A way to use the service.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AgentFeedbackSource")]
pub enum Source {
    /// The MCP server.
    Mcp,
    /// The command line.
    Cli,
    /// The API.
    Api,
    /// A client library.
    Sdk,
    /// Anything else.
    Other,
}

impl Source {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Cli => "cli",
            Self::Api => "api",
            Self::Sdk => "sdk",
            Self::Other => "other",
        }
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AgentFeedbackOutcome")]
pub enum Outcome {
    /// The task was completed.
    Success,
    /// The task was completed in part.
    Partial,
    /// It failed.
    Failure,
    /// The task needs something that the agent cannot provide.
    Blocked,
    /// The agent gave up.
    Abandoned,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failure => "failure",
            Self::Blocked => "blocked",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Details of the attempt.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AgentFeedbackContext")]
pub struct Context {
    /// `request_id` of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub request_id: Option<String>,
    /// The platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 32))]
    pub platform: Option<PlatformName>,
    /// The agent's program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub client: Option<String>,
    /// The agent's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub model: Option<String>,
    /// The number of the attempt, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub attempt: Option<u32>,
    /// The duration, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 86_400_000))]
    pub duration_ms: Option<u32>,
}

/// The name of a platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlatformName(PlatformId);

impl TryFrom<String> for PlatformName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map(Self).map_err(|_| "there is no platform of this name".to_owned())
    }
}

impl From<PlatformName> for String {
    fn from(name: PlatformName) -> Self {
        name.0.as_str().to_owned()
    }
}

/// A report that was stored.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredAgentFeedback {
    /// Its id.
    event_id: AgentFeedbackId,
    /// Id of the request.
    request_id: String,
}

/// Stores a report for the operators.
///
/// # Errors
/// [`Code::InvalidField`] if the tool has no name.
pub async fn report(act: &Act, new: NewAgentFeedback) -> Result<Reply<StoredAgentFeedback>> {
    if new.tool.trim().is_empty() {
        let remedy = "Send the name of the tool or operation.";
        return Err(Error::field(Code::InvalidField, "tool", "tool is empty.", remedy));
    }
    let id = AgentFeedbackId::fresh();
    let NewAgentFeedback { source, tool, outcome, error_code, comment, mut context } = new;
    for text in [&mut context.request_id, &mut context.client, &mut context.model] {
        *text = text.as_deref().map(redacted);
    }
    let row = agent_feedback::ActiveModel {
        id: Set(id),
        workspace_id: Set(act.membership.workspace_id),
        user_id: Set(act.caller.user_id),
        source: Set(source.as_str().to_owned()),
        tool: Set(redacted(&tool)),
        outcome: Set(outcome.as_str().to_owned()),
        error_code: Set(error_code.as_deref().map(redacted)),
        comment: Set(comment.as_deref().map(redacted)),
        context: Set(serde_json::to_value(&context).unwrap_or_default()),
        created_at: Set(act.cx.clock.now()),
    };
    let tx = act.begin().await?;
    agent_feedback::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    let stored = StoredAgentFeedback { event_id: id, request_id: act.request_id.clone() };
    act.finish(tx, Reply::ok(&stored).with_status(201)).await
}

/// Deletes reports after 180 days; returns how many.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let at = agent_feedback::Column::CreatedAt;
    batches::delete::<agent_feedback::Entity>(cx, at, at.lt(cx.clock.now() - RETENTION)).await
}
