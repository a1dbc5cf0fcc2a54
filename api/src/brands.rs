//! Brands of a workspace.

use fanfare_domain::{Reply, Result, brands};

use crate::{Call, discovery::InWorkspace};

/// The brands the caller sees.
pub async fn list(mut call: Call) -> Result<Reply> {
    call.query::<InWorkspace>()?;
    brands::list(&call.act).await
}

/// One brand.
pub async fn get(call: Call) -> Result<Reply> {
    brands::get(&call.act, call.brand()?).await
}

/// The accounts of a brand.
pub async fn list_accounts(call: Call) -> Result<Reply> {
    brands::accounts(&call.act, call.brand()?).await
}

/// Shows the voice of a brand.
pub async fn get_profile(call: Call) -> Result<Reply> {
    brands::profile(&call.act, call.brand()?).await
}
