//! Credits: the wallet of a user who pays, and its ledger.
//!
//! A wallet has two pools. The included one is renewed with each period (`grants.rs`); the purchased one grows with
//! packs (`packs.rs`). An operation reserves credits before it begins, and settles or refunds them once (`spend.rs`).
//! Every change locks the wallet, applies a rule of `wallet.rs`, and writes balances and ledger with one guarded
//! statement each (`store.rs`).

mod check;
mod grants;
pub mod packs;
mod spend;
mod store;
mod usage;
mod view;
mod wallet;

pub use check::{Mismatch, check};
pub(crate) use grants::{after_refresh, update_for};
pub use grants::{operator_plan, update};
pub use spend::{
    SHORT_EXPIRY, Spend, SpentBy, VIDEO_EXPIRY, pay, refund, refund_expired, reserve, reserve_for,
    settle, video_operation,
};
pub use usage::{CreditUsage, UsageQuery, usage};
pub use view::{
    CreditEntry, EntryPage, IncludedCredits, OneWallet, OpenReservation, Wallet, WalletWorkspace,
    available, ledger, reservations, show, wallet_of,
};
pub use wallet::{LedgerLine, Period};

use fanfare_core::error::{Code, Error, Result};
use fanfare_entities::{UserId, WorkspaceId, workspace};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

/// Returns the user who pays for a workspace.
///
/// # Errors
/// [`Code::WorkspaceNotFound`].
pub async fn payer<C: ConnectionTrait>(conn: &C, id: WorkspaceId) -> Result<UserId> {
    let owner = workspace::Entity::find()
        .select_only()
        .column(workspace::Column::OwnerId)
        .filter(workspace::Column::Id.eq(id));
    let owner: Option<UserId> = owner.into_tuple().one(conn).await?;
    owner.ok_or_else(|| Error::new(Code::WorkspaceNotFound, "There is no such workspace."))
}
