//! Items that a network lists in a form that is not known here: the others are kept, and once a day the activity list says
//! how many there are.

use fanfare_core::{Domain, Tx, error::Result};
use fanfare_entities::{Millis, account, event};
use fanfare_publishing::accounts::{Account, account_event};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;

/// The time within which it is said once.
const DAY: Millis = 24 * 3_600_000;

/// The kind of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Messages, comments, and posts with comments.
    Inbox,
    /// Reviews.
    Reviews,
}

impl Unread {
    const fn event_type(self) -> &'static str {
        match self {
            Self::Inbox => "inbox.items_unread",
            Self::Reviews => "reviews.items_unread",
        }
    }

    const fn items(self) -> [&'static str; 2] {
        match self {
            Self::Inbox => ["One message or comment", "messages and comments"],
            Self::Reviews => ["One review", "reviews"],
        }
    }
}

/// Adds an entry to the activity list for the items of an account that could not be read, unless a day has one already.
///
/// # Errors
/// The database's.
pub async fn list_unread(
    cx: &Domain,
    account: &account::Model,
    kind: Unread,
    count: usize,
) -> Result<()> {
    if count == 0 || was_listed(cx, account, kind).await? {
        return Ok(());
    }
    let [one, many] = kind.items();
    let items = if count == 1 { one.to_owned() } else { format!("{count} {many}") };
    let message = format!(
        "{items} of {} on {} cannot be read: the platform lists them in a form that is not known here. All others were \
         read.",
        account.username, account.platform
    );
    let data = json!({"account": Account::of(cx, account), "items": count});
    let mut tx = Tx::begin(cx).await?;
    tx.emit(account_event(account, (kind.event_type(), false), &data, message));
    tx.commit().await
}

async fn was_listed(cx: &Domain, account: &account::Model, kind: Unread) -> Result<bool> {
    // Ids are indexed and begin with their time, so that an entry of the last day is found soon.
    let last = event::Entity::find()
        .filter(event::Column::WorkspaceId.eq(account.workspace_id))
        .filter(event::Column::AccountId.eq(account.id))
        .filter(event::Column::EventType.eq(kind.event_type()))
        .order_by_desc(event::Column::Id)
        .one(&cx.db.write)
        .await?;
    Ok(last.is_some_and(|entry| entry.created_at > cx.clock.now() - DAY))
}
