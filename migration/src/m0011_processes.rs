//! The process that holds a reserved `Idempotency-Key`, and the processes that are alive.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the table of processes that answer requests, and the process of a reservation, so that reservations of dead
/// processes are released.
pub struct Processes;

impl MigrationName for Processes {
    fn name(&self) -> &'static str {
        "m0011_processes"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Processes {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE api_processes (
        id {uuid} NOT NULL,
        seen_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "ALTER TABLE idempotency_keys ADD COLUMN process_id {uuid}",
];
