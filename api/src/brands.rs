//! Brands of a workspace.

use fanfare_core::{Listed, Reply, Result};
use fanfare_publishing::{accounts::AccountPage, brands};

use crate::Call;

/// Lists the brands that the caller sees.
pub async fn list(mut call: Call) -> Result<Reply<Listed<brands::BrandPage>>> {
    let list = call.query()?;
    brands::list(&call.act, list).await
}

/// Shows a brand.
pub async fn get(call: Call) -> Result<Reply<brands::OneBrand>> {
    brands::get(&call.act, call.brand()?).await
}

/// Lists the accounts of a brand.
pub async fn list_accounts(mut call: Call) -> Result<Reply<Listed<AccountPage>>> {
    let part = call.query()?;
    brands::accounts(&call.act, call.brand()?, part).await
}

/// Shows the voice of a brand.
pub async fn get_profile(call: Call) -> Result<Reply<brands::OneBrandProfile>> {
    brands::profile(&call.act, call.brand()?).await
}
