//! The names that networks have for posts.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the table of further names of posts, by which lists and webhooks call them.
pub struct PostNames;

impl MigrationName for PostNames {
    fn name(&self) -> &'static str {
        "m0099_post_names"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostNames {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE post_names (
        account_id BIGINT NOT NULL,
        remote_id TEXT NOT NULL,
        post_id BIGINT NOT NULL,
        PRIMARY KEY (account_id, remote_id))",
    "CREATE INDEX post_names_post ON post_names (post_id)",
];
