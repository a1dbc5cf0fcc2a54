//! Table `agent_feedback`.

use sea_orm::entity::prelude::*;

use crate::{AgentFeedbackId, Millis, UserId, WorkspaceId};

/// An agent's report on a tool. Only operators see it; it is deleted after 180 days.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_feedback")]
pub struct Model {
    /// Its id.
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
    /// The error code that was met.
    pub error_code: Option<String>,
    /// A comment, in which keys, tokens and e-mail addresses were blanked.
    pub comment: Option<String>,
    /// More about it, as it was sent.
    pub context: Json,
    /// The time at which it was sent.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
