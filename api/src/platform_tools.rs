//! Helper tools for the platforms.

use fanfare_core::{Reply, Result};
use fanfare_publishing::platform_tools;

use crate::{Call, discovery::WorkspaceQuery};

/// Runs a helper.
pub async fn trigger(mut call: Call) -> Result<Reply<platform_tools::HelperResult>> {
    let trigger = call.body()?;
    platform_tools::trigger(&call.act, trigger).await
}

/// Shows the remaining quota for X.
pub async fn x_quota(mut call: Call) -> Result<Reply<platform_tools::OneQuota>> {
    call.query::<WorkspaceQuery>()?;
    platform_tools::x_quota(&call.act).await
}
