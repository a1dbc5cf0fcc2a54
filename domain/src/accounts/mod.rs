//! Connected social accounts.

mod connect;
mod disconnect;
mod facts;
pub mod oauth_connect;
mod options;
mod pictures;
mod quota;
mod refresh;
mod refresh_schedule;
mod sandbox;
mod session;
mod shared_credentials;
mod simulator;
pub mod upkeep;

use fanfare_entities::{AccountId, account, account::AccountStatus};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::{
    Act, Domain, Reply,
    clock::show,
    error::{Code, Error, Result},
};

pub use connect::{ConnectRequest, connect};
pub(crate) use connect::{refusal, silent};
pub use disconnect::{disconnect, needs_reconnect};
pub use facts::renew;
pub use options::{options, options_of};
pub use refresh::{Refreshed, refresh};
pub use sandbox::{
    Faults, NewSandboxAccount, create_sandbox, sandbox_posts, set_faults, shown_url,
};
pub use session::{facts, session, session_with};
pub use simulator::Simulator;

/// Name of the table, as secrets are bound to it.
const TABLE: &str = "accounts";

/// Accounts the membership may see, disconnected ones left out.
fn visible(act: &Act) -> sea_orm::Select<account::Entity> {
    let query = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    match &act.membership.brands {
        Some(brands) => query.filter(account::Column::BrandId.is_in(brands.iter().copied())),
        None => query,
    }
}

/// One account; the one that the request names was read with the membership.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn find(act: &Act, id: AccountId) -> Result<account::Model> {
    if let Some(account) = act.membership.account.as_ref().filter(|account| account.id == id) {
        return Ok(account::Model::clone(account));
    }
    let found = visible(act).filter(account::Column::Id.eq(id)).one(&act.cx.db.read).await?;
    found.ok_or_else(|| Error::new(Code::AccountNotFound, format!("There is no account {id}.")))
}

/// An account by its id alone, for the workers.
///
/// # Errors
/// The database's.
pub async fn row(cx: &Domain, id: AccountId) -> Result<Option<account::Model>> {
    Ok(account::Entity::find_by_id(id).one(&cx.db.write).await?)
}

/// All accounts of the membership's workspace, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(act: &Act) -> Result<Reply> {
    let rows = visible(act).order_by_asc(account::Column::Id).all(&act.cx.db.read).await?;
    Ok(Reply::of("accounts", rows.iter().map(|row| view(&act.cx, row)).collect::<Vec<_>>()))
}

/// The account record. Never holds a credential.
#[must_use]
pub fn view(cx: &Domain, row: &account::Model) -> Value {
    let mut view = json!({
        "id": row.id,
        "platform": row.platform,
        "username": row.username,
        "display_name": row.display_name,
        "workspace_id": row.workspace_id,
        "workspace_client_id": row.brand_id,
        "status": match row.status {
            AccountStatus::Connected => "connected",
            AccountStatus::ReconnectRequired => "reconnect_required",
            AccountStatus::Disconnected => "disconnected",
        },
        "sandbox": row.sandbox,
        "token_expires_at": row.token_expires_at.map(show),
        "created_at": show(row.created_at),
    });
    if let Some(did) = row.meta.get("did") {
        view["did"] = did.clone();
    }
    if row.sandbox {
        view["sandbox_page_url"] = sandbox::page(cx, row).into();
    }
    view
}

/// JSON Schema of the account's settings.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn schema(act: &Act, id: AccountId) -> Result<Reply> {
    let row = find(act, id).await?;
    let platform = crate::posts::platform(&row.platform)?;
    let spec = fanfare_platforms::find(platform).spec_of(&facts(&row)?);
    let schema = fanfare_platforms::settings_schema(&spec);
    let post_types: Vec<_> = spec.post_types.iter().map(|kind| kind.name).collect();
    Ok(Reply::ok(json!({
        "account_id": row.id, "platform": row.platform, "post_types": post_types, "schema": schema,
        "content_limits": fanfare_platforms::content_limits(&spec),
        "media_limits": fanfare_platforms::media_limits(&spec.media),
    })))
}
