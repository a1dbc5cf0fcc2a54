//! The wallet that pays for a workspace.

use fanfare_domain::{
    Reply, Result,
    credits::{self, EntryPage, OneWallet},
};

use crate::{Call, discovery::WorkspaceQuery};

/// Shows the wallet.
pub async fn show(mut call: Call) -> Result<Reply<OneWallet>> {
    call.query::<WorkspaceQuery>()?;
    credits::show(&call.act).await
}

/// Lists the entries of its ledger, newest first.
pub async fn ledger(mut call: Call) -> Result<Reply<EntryPage>> {
    let part = call.query()?;
    credits::ledger(&call.act, part).await
}
