//! Table `agent_feedback`.

use sea_orm::entity::prelude::*;

use crate::{AgentFeedbackId, Millis, UserId, WorkspaceId};

/// An agent's report on a tool. Only operators see it; it is deleted after 180 days.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_feedback")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: AgentFeedbackId,
    /// The workspace it was sent from.
    pub workspace_id: WorkspaceId,
    /// The person it was sent for.
    pub user_id: UserId,
    /// The client it was sent with.
    pub source: String,
    /// The tool.
    pub tool: String,
    /// The outcome that the agent reports.
    pub outcome: String,
    /// The error code that the agent got.
    pub error_code: Option<String>,
    /// A comment, with keys, tokens and e-mail addresses blanked.
    pub comment: Option<String>,
    /// More context, as sent.
    pub context: Json,
    /// The time at which it was sent.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
