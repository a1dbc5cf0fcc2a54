//! What other features do when an account is connected or disconnected. They stand on this one, so it is given them.

use async_trait::async_trait;
use fanfare_core::{Domain, error::Result};
use fanfare_entities::account;
use sea_orm::DatabaseTransaction;

/// A feature that keeps something for each account.
#[async_trait]
pub trait AccountHook: Send + Sync {
    /// Makes its rows for an account, in the transaction that connects it or connects it again.
    ///
    /// # Errors
    /// The database's; the account is not connected then.
    async fn connected(
        &self,
        cx: &Domain,
        conn: &DatabaseTransaction,
        row: &account::Model,
    ) -> Result<()>;

    /// Asks the network a last time, while the account is still connected.
    async fn before_disconnect(&self, _cx: &Domain, _row: &account::Model) {}

    /// Changes its rows in the transaction that disconnects an account.
    ///
    /// # Errors
    /// The database's; the account stays connected then.
    async fn disconnected(
        &self,
        _cx: &Domain,
        _conn: &DatabaseTransaction,
        _row: &account::Model,
    ) -> Result<()> {
        Ok(())
    }
}

/// The hooks of a service, in the order in which they are called.
pub type AccountHooks = Vec<Box<dyn AccountHook>>;
