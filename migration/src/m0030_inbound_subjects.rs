//! The comment that an event waits for, and the time at which a comment was last hidden or shown.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds both, so that an event is retried when its comment arrives, and not with every other one.
pub struct InboundSubjects;

impl MigrationName for InboundSubjects {
    fn name(&self) -> &'static str {
        "m0030_inbound_subjects"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for InboundSubjects {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE inbox_comments ADD COLUMN visibility_changed_at BIGINT",
    "ALTER TABLE inbound_events ADD COLUMN subject_hash TEXT",
    "CREATE INDEX inbound_events_subject ON inbound_events (account_id, subject_hash) WHERE due_at IS NOT NULL",
];
