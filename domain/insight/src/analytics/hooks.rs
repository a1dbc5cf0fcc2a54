//! What an account brings with it: a row that reads its numbers. They are read a last time before it leaves.

use async_trait::async_trait;
use fanfare_core::{Domain, error::Result};
use fanfare_entities::account;
use fanfare_publishing::accounts::AccountHook;
use sea_orm::DatabaseTransaction;

use super::{is_archived, on_connect, on_disconnect, sync};

/// Reads the numbers of each account.
#[derive(Debug, Clone, Copy)]
pub struct ReadsNumbers;

#[async_trait]
impl AccountHook for ReadsNumbers {
    async fn connected(
        &self,
        cx: &Domain,
        conn: &DatabaseTransaction,
        row: &account::Model,
    ) -> Result<()> {
        on_connect(cx, conn, row).await
    }

    async fn before_disconnect(&self, cx: &Domain, row: &account::Model) {
        if is_archived(row) {
            sync::read_last(cx, row).await;
        }
    }

    async fn disconnected(
        &self,
        cx: &Domain,
        conn: &DatabaseTransaction,
        row: &account::Model,
    ) -> Result<()> {
        on_disconnect(cx, conn, row).await
    }
}
