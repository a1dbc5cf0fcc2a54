//! What an account brings with it: a row that reads its inbox, and one that reads its business profile.

use async_trait::async_trait;
use fanfare_core::{Domain, error::Result};
use fanfare_entities::account;
use fanfare_publishing::accounts::AccountHook;
use sea_orm::DatabaseTransaction;

use super::sync;
use crate::business;

/// Reads the inbox and the business profile of each account.
#[derive(Debug, Clone, Copy)]
pub struct ReadsAccounts;

#[async_trait]
impl AccountHook for ReadsAccounts {
    async fn connected(
        &self,
        cx: &Domain,
        conn: &DatabaseTransaction,
        row: &account::Model,
    ) -> Result<()> {
        let now = cx.clock.now();
        sync::on_connect(conn, row, now).await?;
        business::sync::on_connect(conn, row, now).await
    }
}
