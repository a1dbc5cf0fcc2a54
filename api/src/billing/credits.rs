//! The wallet that pays for a workspace.

use fanfare_core::{Listed, Reply, Result};
use fanfare_people::credits::{self, CreditUsage, EntryPage, OneWallet};

use crate::{Call, discovery::WorkspaceQuery};

/// Shows the wallet.
pub async fn show(mut call: Call) -> Result<Reply<OneWallet>> {
    call.query::<WorkspaceQuery>()?;
    credits::show(&call.act).await
}

/// Adds up what operations have cost.
pub async fn usage(mut call: Call) -> Result<Reply<Listed<CreditUsage>>> {
    let query = call.query()?;
    credits::usage(&call.act, query).await
}

/// Lists the entries of its ledger, newest first.
pub async fn ledger(mut call: Call) -> Result<Reply<Listed<EntryPage>>> {
    let part = call.query()?;
    credits::ledger(&call.act, part).await
}
