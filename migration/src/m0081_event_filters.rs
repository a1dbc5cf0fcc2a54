//! Indexes of the filters of the event stream.

use sea_orm_migration::prelude::*;

use crate::index::{self, Index};

/// Adds an index of the events of each type, and one of those of each account.
pub struct EventFilters;

impl MigrationName for EventFilters {
    fn name(&self) -> &'static str {
        "m0081_event_filters"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for EventFilters {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index::build(manager, INDEXES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}

const INDEXES: &[Index] = &[
    (
        "events_type_sequence",
        "events (workspace_id, event_type, sequence) WHERE sequence IS NOT NULL",
    ),
    ("events_account_sequence", "events (account_id, sequence) WHERE sequence IS NOT NULL"),
];
