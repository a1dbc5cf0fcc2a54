//! What our rows made on networks, and when a lost call was first not found.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the register of results, and the time at which a whole list first did not show the result of a lost call.
pub struct RemoteResults;

impl MigrationName for RemoteResults {
    fn name(&self) -> &'static str {
        "m0070_remote_results"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for RemoteResults {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE remote_results (
        remote_id TEXT NOT NULL,
        account_id BIGINT NOT NULL,
        owner TEXT NOT NULL,
        owner_id BIGINT NOT NULL,
        recorded_at BIGINT NOT NULL,
        PRIMARY KEY (remote_id, account_id))",
    "CREATE INDEX remote_results_recorded ON remote_results (recorded_at)",
    "ALTER TABLE posts ADD COLUMN absent_at BIGINT",
    "ALTER TABLE outgoing ADD COLUMN absent_at BIGINT",
];
