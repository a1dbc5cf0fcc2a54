//! Connecting accounts.

use fanfare_core::{Reply, Result};
use fanfare_publishing::accounts::{self, oauth_connect};

use crate::{Call, discovery::WorkspaceQuery, wait};

/// Lists the ways to connect each platform.
pub async fn list_options(mut call: Call) -> Result<Reply<accounts::ConnectOptionsList>> {
    call.query::<WorkspaceQuery>()?;
    accounts::list_options(&call.act).await
}

/// Shows the way to connect one platform.
pub async fn get_options(mut call: Call) -> Result<Reply<accounts::OneConnectOptions>> {
    call.query::<WorkspaceQuery>()?;
    accounts::show_options(&call.act, call.path("platform")).await
}

/// Connects an account with credentials, or renews its credentials.
pub async fn with_credentials(mut call: Call) -> Result<Reply<accounts::ConnectResponse>> {
    let platform = call.platform()?;
    let request = call.body()?;
    accounts::connect(&call.act, platform, request).await
}

/// Creates a link with which a person connects an account.
pub async fn create_session(mut call: Call) -> Result<Reply<oauth_connect::OneSession>> {
    let platform = call.platform()?;
    let new = call.body()?;
    oauth_connect::create(&call.act, platform, new).await
}

/// Shows on which terms programs send people to connect accounts.
pub async fn get_settings(mut call: Call) -> Result<Reply<oauth_connect::OneConnectSettings>> {
    call.query::<WorkspaceQuery>()?;
    oauth_connect::show_settings(&call.act).await
}

/// Changes these terms.
pub async fn change_settings(mut call: Call) -> Result<Reply<oauth_connect::OneConnectSettings>> {
    let changes = call.body()?;
    oauth_connect::change_settings(&call.act, changes).await
}

/// Shows the progress of a connect session.
pub async fn get_session(mut call: Call) -> Result<Reply<oauth_connect::OneSession>> {
    let (wait, id) = (call.query()?, call.connect_session()?);
    wait::for_change(wait, (&call.progress, &call.act.cx.stopping), || {
        oauth_connect::show(&call.act, id)
    })
    .await
}
