//! Helper tools of the platforms.

use fanfare_domain::{Reply, Result, helpers};

use crate::{Call, discovery::InWorkspace};

/// Runs a helper.
pub async fn trigger(mut call: Call) -> Result<Reply<helpers::HelperResult>> {
    let trigger = call.body()?;
    helpers::trigger(&call.act, trigger).await
}

/// What is left of the allowance for X.
pub async fn x_quota(mut call: Call) -> Result<Reply<helpers::OneQuota>> {
    call.query::<InWorkspace>()?;
    helpers::x_quota(&call.act).await
}
