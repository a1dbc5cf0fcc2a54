//! Entries of the audit log for what people, keys and tools do to a workspace and to its access: written in the transaction
//! of the change, so that there is neither one without the other. Posts have their ledger and events instead.

use fanfare_entities::{Millis, UserId, WorkspaceId, audit_entry};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::OnConflict,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Act, Domain,
    error::{Error, Result},
    token,
};

/// The outcome of every entry here: what is refused has none.
const DONE: &str = "Done.";

/// The author of a change: `user:`, `key:`, `client:` or `system:` and an id. Names and addresses are not kept.
#[derive(Debug, Clone)]
pub struct Author {
    name: String,
    /// The user for whom a key or a tool acts.
    user: Option<UserId>,
    request_id: String,
}

impl Author {
    /// Returns the caller of a request.
    #[must_use]
    pub fn of(act: &Act) -> Self {
        let caller = &act.caller;
        let (name, user) = match &caller.token {
            _ if caller.is_browser_session() => (format!("user:{}", caller.user_id), None),
            Some(token) => (format!("client:{}", token.client_id), Some(caller.user_id)),
            None => (format!("key:{}", caller.key_id), Some(caller.user_id)),
        };
        Self { name, user, request_id: act.request_id.clone() }
    }

    /// Returns a user who is logged in with a browser.
    #[must_use]
    pub fn user(id: UserId, request_id: &str) -> Self {
        Self { name: format!("user:{id}"), user: None, request_id: request_id.to_owned() }
    }

    /// Returns a tool that acts for itself.
    pub fn client(id: &str) -> Self {
        Self { name: format!("client:{id}"), user: None, request_id: String::new() }
    }

    /// Returns the service itself, at the word of an outside service.
    pub fn system(told_by: &str) -> Self {
        Self { name: format!("system:{told_by}"), user: None, request_id: String::new() }
    }
}

/// A change, as its entry shows it.
#[derive(Debug)]
pub struct Change {
    /// What was done, such as `key_created`.
    pub action: &'static str,
    /// What it was done to, as kind and id.
    pub target: String,
    /// The workspace that it belongs to, if it belongs to one.
    pub workspace: Option<WorkspaceId>,
    /// What else there is to know: ids, roles and scopes, and no secret.
    pub details: Value,
}

/// Writes the entry of a change, in its transaction.
///
/// # Errors
/// The database's, and then the change is not made.
pub async fn write<C: ConnectionTrait>(
    tx: &C,
    author: &Author,
    change: Change,
    now: Millis,
) -> Result<()> {
    let mut details = change.details;
    if let Some(user) = author.user {
        details["user"] = json!(format!("user:{user}"));
    }
    let row = audit_entry::ActiveModel {
        action_id: Set(Uuid::now_v7()),
        operator: Set(author.name.clone()),
        action: Set(change.action.to_owned()),
        target: Set(change.target),
        workspace_id: Set(change.workspace),
        reason: Set(String::new()),
        outcome: Set(DONE.to_owned()),
        details: Set(details),
        request_id: Set(author.request_id.clone()),
        created_at: Set(now),
        ..Default::default()
    };
    audit_entry::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(())
}

/// Writes the entry of a change that a request made to its workspace, in its transaction.
///
/// # Errors
/// The database's, and then the change is not made.
pub async fn note<C: ConnectionTrait>(
    tx: &C,
    act: &Act,
    (action, target): (&'static str, String),
    details: Value,
) -> Result<()> {
    let workspace = Some(act.membership.workspace_id);
    let change = Change { action, target, workspace, details };
    write(tx, &Author::of(act), change, act.cx.clock.now()).await
}

/// Counts a refused log-in: one entry for a kind of log-in, a network address and a minute. The name that was tried is not
/// kept, since people type passwords there.
pub async fn note_refused_login(cx: &Domain, realm: &str, address: &str) -> Result<()> {
    let now = cx.clock.now();
    let minute = now.div_euclid(60_000);
    let name = token::hash(&format!("refused log-in {realm} {address} {minute}"));
    let action_id = Uuid::parse_str(name.get(..32).unwrap_or_default()).map_err(Error::internal)?;
    let tx = cx.db.begin().await?;
    let row = audit_entry::ActiveModel {
        action_id: Set(action_id),
        operator: Set("nobody".to_owned()),
        action: Set("log_in_refused".to_owned()),
        target: Set(format!("{realm} from {address}")),
        reason: Set(String::new()),
        outcome: Set(String::new()),
        details: Set(json!({"tries": 0})),
        request_id: Set(String::new()),
        created_at: Set(now),
        ..Default::default()
    };
    let once = OnConflict::column(audit_entry::Column::ActionId).do_nothing().to_owned();
    audit_entry::Entity::insert(row).on_conflict(once).exec_without_returning(&tx).await?;
    let of_minute = audit_entry::Column::ActionId.eq(action_id);
    let found = audit_entry::Entity::find().filter(of_minute.clone()).lock_exclusive();
    let before = found.one(&tx).await?.and_then(|row| row.details["tries"].as_i64());
    let tries = before.unwrap_or_default() + 1;
    let times = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
    let row = audit_entry::ActiveModel {
        outcome: Set(format!("Refused {times} in this minute.")),
        details: Set(json!({"tries": tries})),
        ..Default::default()
    };
    audit_entry::Entity::update_many().set(row).filter(of_minute).exec(&tx).await?;
    tx.commit().await?;
    Ok(())
}
