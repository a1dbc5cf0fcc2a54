//! Connecting accounts.

use fanfare_domain::{Reply, Result, accounts};

use crate::{Call, discovery::InWorkspace};

/// How each platform is connected.
pub async fn list_options(mut call: Call) -> Result<Reply> {
    call.query::<InWorkspace>()?;
    accounts::options(&call.act).await
}

/// How one platform is connected.
pub async fn get_options(mut call: Call) -> Result<Reply> {
    let platform = call.platform()?;
    call.query::<InWorkspace>()?;
    accounts::options_of(&call.act, platform).await
}

/// Connects an account with credentials, or renews its credentials.
pub async fn with_credentials(mut call: Call) -> Result<Reply> {
    let platform = call.platform()?;
    let request = call.body()?;
    accounts::connect(&call.act, platform, request).await
}
