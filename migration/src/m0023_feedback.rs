//! Tables for the feedback of users and agents.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the feedback board and the private reports of agents.
pub struct Feedback;

impl MigrationName for Feedback {
    fn name(&self) -> &'static str {
        "m0023_feedback"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Feedback {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE feedback (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        user_id {uuid} NOT NULL,
        category TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        source TEXT NOT NULL,
        client TEXT,
        request_id TEXT,
        related_tool TEXT,
        status TEXT NOT NULL,
        hidden BOOLEAN NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE INDEX feedback_newest ON feedback (hidden, id)",
    "CREATE TABLE agent_feedback (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        user_id {uuid} NOT NULL,
        source TEXT NOT NULL,
        tool TEXT NOT NULL,
        outcome TEXT NOT NULL,
        error_code TEXT,
        comment TEXT,
        context {json} NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE INDEX agent_feedback_age ON agent_feedback (created_at)",
];
