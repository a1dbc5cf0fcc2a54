//! Connected accounts.

use fanfare_core::{Deleted, Listed, Reply, Result};
use fanfare_publishing::accounts;

use crate::Call;

/// Lists the connected accounts of the workspace.
pub async fn list(mut call: Call) -> Result<Reply<Listed<accounts::AccountPage>>> {
    let list = call.query()?;
    accounts::list(&call.act, list).await
}

/// Shows the JSON Schema of an account's settings.
pub async fn schema(call: Call) -> Result<Reply<accounts::AccountSchema>> {
    accounts::schema(&call.act, call.account()?).await
}

/// Disconnects an account.
pub async fn disconnect(call: Call) -> Result<Reply<Deleted>> {
    accounts::disconnect(&call.act, call.account()?).await
}
