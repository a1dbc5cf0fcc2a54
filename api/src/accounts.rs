//! Connected accounts.

use fanfare_domain::{Reply, Result, accounts};

use crate::{Call, discovery::InWorkspace};

/// The connected accounts of the workspace.
pub async fn list(mut call: Call) -> Result<Reply> {
    call.query::<InWorkspace>()?;
    accounts::list(&call.act).await
}

/// JSON Schema of an account's settings.
pub async fn schema(call: Call) -> Result<Reply> {
    accounts::schema(&call.act, call.account()?).await
}

/// Ends a connection.
pub async fn disconnect(call: Call) -> Result<Reply> {
    accounts::disconnect(&call.act, call.account()?).await
}
