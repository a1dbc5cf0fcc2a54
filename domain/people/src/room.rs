//! How much of its plan's room a workspace has taken, as replies show it.

use fanfare_core::{Domain, access::Membership, error::Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    quota::{Quota, count_accounts},
    users,
};

/// The room of a workspace's plan.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PlanRoom {
    /// Connected accounts.
    pub accounts: AccountRoom,
    /// Members, invited people included.
    pub members: Room,
    /// Brands.
    pub brands: Room,
}

/// A number of which a plan includes so many.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    /// The number there is.
    pub used: u64,
    /// The most there can be.
    pub max: u64,
}

/// The room for accounts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct AccountRoom {
    #[serde(flatten)]
    room: Room,
    /// Whether accounts on simulated networks count: they do not.
    counts_sandbox: bool,
}

impl AccountRoom {
    /// Returns the number there is and the most there can be.
    #[must_use]
    pub const fn room(&self) -> Room {
        self.room
    }
}

/// Returns the room of the membership's workspace; `None` for a membership that is locked to brands, which sees a part
/// of it.
///
/// # Errors
/// The database's.
pub async fn of(cx: &Domain, place: &Membership) -> Result<Option<PlanRoom>> {
    if place.brands.is_some() {
        return Ok(None);
    }
    let (conn, id) = (&cx.db.read, place.workspace_id);
    let room =
        |quota: Quota, used| Room { used, max: quota.of(&crate::settings(cx).plans, place.plan) };
    let accounts = room(Quota::Accounts, count_accounts(conn, id).await?);
    Ok(Some(PlanRoom {
        accounts: AccountRoom { room: accounts, counts_sandbox: false },
        members: room(Quota::Members, users::count_members(conn, id).await?),
        brands: room(Quota::Brands, users::count_brands(conn, id).await?),
    }))
}
