//! OAuth clients, grants and tokens.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables of the OAuth provider.
pub struct Oauth;

impl MigrationName for Oauth {
    fn name(&self) -> &'static str {
        "m0018_oauth"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Oauth {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE oauth_clients (
        client_id TEXT NOT NULL PRIMARY KEY,
        kind TEXT NOT NULL,
        owner_id {uuid},
        name TEXT NOT NULL,
        redirect_uris TEXT NOT NULL,
        scopes TEXT NOT NULL,
        failure TEXT,
        fresh_until BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE oauth_grants (
        id {uuid} NOT NULL PRIMARY KEY,
        client_id TEXT NOT NULL,
        client_name TEXT NOT NULL,
        user_id {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        scopes TEXT NOT NULL,
        resource TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        last_used_at BIGINT,
        ended_at BIGINT)",
    "CREATE TABLE oauth_codes (
        hash TEXT NOT NULL PRIMARY KEY,
        client_id TEXT NOT NULL,
        client_name TEXT NOT NULL,
        redirect_uri TEXT NOT NULL,
        user_id {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        scopes TEXT NOT NULL,
        resource TEXT NOT NULL,
        challenge TEXT NOT NULL,
        grant_id {uuid},
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        used_at BIGINT,
        answered_at BIGINT)",
    "CREATE TABLE oauth_tokens (
        hash TEXT NOT NULL PRIMARY KEY,
        prefix TEXT NOT NULL,
        kind TEXT NOT NULL,
        grant_id {uuid} NOT NULL,
        parent_hash TEXT,
        scopes TEXT NOT NULL,
        resource TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        used_at BIGINT,
        answered_at BIGINT,
        revoked_at BIGINT)",
    "ALTER TABLE signups ADD COLUMN authorize_query TEXT",
    "ALTER TABLE user_sessions ADD COLUMN confirmed_at BIGINT",
    "CREATE INDEX oauth_clients_owner ON oauth_clients (owner_id) WHERE owner_id IS NOT NULL",
    "CREATE INDEX oauth_grants_client ON oauth_grants (client_id)",
    "CREATE INDEX oauth_grants_user ON oauth_grants (user_id)",
    "CREATE INDEX oauth_codes_expires ON oauth_codes (expires_at)",
    "CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id)",
    "CREATE INDEX oauth_tokens_parent ON oauth_tokens (parent_hash) WHERE parent_hash IS NOT NULL",
    "CREATE INDEX oauth_tokens_expires ON oauth_tokens (expires_at)",
];
