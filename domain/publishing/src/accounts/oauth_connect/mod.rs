//! Connect sessions: a user connects an account in a browser while a caller polls the session.
//!
//! The row holds the progress. A caller creates and reads it (`mod.rs`); the user continues it at the page
//! (`access.rs`, `authorize.rs`); the network redirects the user back (`callback.rs`). Every step is one guarded update, so
//! that two tabs, a reloaded page and an earlier end cannot undo one another.

mod access;
mod authorize;
mod callback;
mod flow_state;
mod links;
mod settings;
mod view;

use fanfare_core::{
    Act, Domain, RefusalDetails, Reply, batches,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    AccountId, BrandId, ConnectSessionId, Millis,
    connect_session::{self, ConnectStatus},
};
use fanfare_platforms::{self as platforms, ConnectSpec, PlatformId};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    IntoActiveModel, QueryFilter, sea_query::IntoCondition,
};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::connect::{brand_required, require_brand};

pub use access::{AccountChoice, ConnectAccess, ConnectMethod, ConnectStage, ConnectVisitor};
pub(super) use authorize::redirect_uri;
pub use callback::{Callback, callback};
pub use fanfare_platforms::{
    CredentialField,
    oauth::{Oauth, Permission},
};
pub use links::{GUEST_STATE, LinkOffer, claim as claim_link, offer as link_offer};
pub use settings::{
    ConnectSettings, ConnectSettingsChanges, OneConnectSettings, change_settings, show_settings,
};
pub use view::{ConnectSession, OneSession};
pub(super) use view::{Method, method, start_page};

/// The lifetime of a session, in ms.
const LIFETIME: Millis = 30 * 60_000;

/// The time after which a claimed code that was not exchanged is given up, in ms: its process has died.
const FINISHING_TIMEOUT: Millis = 60_000;

/// Statuses from which a session can still change.
const OPEN: [ConnectStatus; 4] = [
    ConnectStatus::Created,
    ConnectStatus::Opened,
    ConnectStatus::AwaitingProvider,
    ConnectStatus::AwaitingCredentials,
];

/// A request to connect an account in a browser.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewConnectSession {
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// Brand of a newly connected account; a membership locked to brands must name one of them.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
    /// Redirect to the platform as soon as the link is opened, without a page in between.
    #[serde(default)]
    pub auto_start: bool,
    /// Connect an account on the simulated network.
    #[serde(default)]
    pub sandbox: bool,
    /// The address to send the person back to at the end, with `connect_session_id`, `status` and `reference` added:
    /// an allowed redirect URI of the app, or one of the workspace's `return_urls`.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    pub return_url: Option<String>,
    /// A text by which you know the person, given back in the session, its events and `return_url`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub reference: Option<String>,
    /// Make a link that needs no account of this service. The workspace must allow it; the link works in one browser.
    #[serde(default)]
    pub guest: bool,
}

/// Creates a session.
///
/// # Errors
/// [`Code::PlatformNotConfigured`], [`Code::BrandRequired`], [`Code::BrandNotFound`], or an address that may not be used.
pub async fn create(
    act: &Act,
    platform: PlatformId,
    new: NewConnectSession,
) -> Result<Reply<OneSession>> {
    let tx = act.begin().await?;
    let row = insert(act, tx.conn(), platform, &new).await?;
    let reply = view::reply(act, &row).await?.with_status(201);
    act.finish(tx, reply).await
}

/// Creates a session for the user of a page and returns its id.
///
/// # Errors
/// Like [`create`].
pub async fn begin(
    act: &Act,
    platform: PlatformId,
    new: NewConnectSession,
) -> Result<ConnectSessionId> {
    Ok(insert(act, &act.cx.db.write, platform, &new).await?.id)
}

async fn insert<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    platform: PlatformId,
    new: &NewConnectSession,
) -> Result<connect_session::Model> {
    let brand = new.workspace_client_id.map(BrandId);
    require_brand(act, conn, brand).await?;
    if act.membership.brands.is_some() && brand.is_none() {
        return Err(brand_required());
    }
    require_app(act, platform, new.sandbox)?;
    let app_name = links::check(act, conn, new).await?;
    let now = act.cx.clock.now();
    let row = connect_session::Model {
        id: ConnectSessionId::fresh(),
        workspace_id: act.membership.workspace_id,
        brand_id: brand,
        user_id: act.caller.user_id,
        platform: platform.as_str().to_owned(),
        sandbox: new.sandbox,
        auto_start: new.auto_start,
        status: ConnectStatus::Created,
        note: None,
        error_code: None,
        opened_by: None,
        state_hash: None,
        secret_id: None,
        taken_at: None,
        choices: None,
        account_ids: json!([]),
        return_url: new.return_url.clone(),
        reference: new.reference.clone(),
        app_name,
        guest: new.guest,
        guest_hash: None,
        created_at: now,
        updated_at: now,
        expires_at: act.caller.capped(now + LIFETIME),
    };
    let new = row.clone().into_active_model().reset_all();
    connect_session::Entity::insert(new).exec_without_returning(conn).await?;
    Ok(row)
}

/// Fails if no app is registered with the platform: the user would be sent to a page that cannot work.
fn require_app(act: &Act, platform: PlatformId, sandbox: bool) -> Result<()> {
    let spec = platforms::find(platform).spec();
    if sandbox {
        return super::sandbox_control::simulator(&act.cx).map(drop);
    }
    let ConnectSpec::Oauth(oauth) = spec.connect else { return Ok(()) };
    if oauth.instance.is_some() || crate::settings(&act.cx).apps.contains_key(&platform) {
        return Ok(());
    }
    let message = format!("No app of this service is registered with {}.", spec.label);
    let missing_environment = Some(platform.app_variables().to_vec());
    Err(Error::new(Code::PlatformNotConfigured, message)
        .with_details(RefusalDetails { missing_environment, ..RefusalDetails::default() }))
}

/// Returns a session.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`].
pub async fn show(act: &Act, id: ConnectSessionId) -> Result<Reply<OneSession>> {
    let row = read(&act.cx, id).await?;
    view::reply(act, &row).await
}

/// Reads the current state of a session. A session that nobody completed in time has expired.
async fn read(cx: &Domain, id: ConnectSessionId) -> Result<connect_session::Model> {
    let find = || connect_session::Entity::find_by_id(id).one(&cx.db.write);
    let Some(row) = find().await? else { return Err(not_found()) };
    if !OPEN.contains(&row.status) || row.expires_at > cx.clock.now() {
        return Ok(row);
    }
    end(cx, &row, End { status: ConnectStatus::Expired, note: None, code: None }).await?;
    find().await?.ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::new(Code::ConnectSessionNotFound, "There is no such connect session.")
}

/// Changes a session that is still open. Returns false if it has ended or changed meanwhile.
async fn step<C: ConnectionTrait>(
    conn: &C,
    row: &connect_session::Model,
    change: connect_session::ActiveModel,
) -> Result<bool> {
    let moved = connect_session::Entity::update_many()
        .set(change)
        .filter(connect_session::Column::Id.eq(row.id))
        .filter(connect_session::Column::Status.eq(row.status))
        .exec(conn)
        .await?;
    Ok(moved.rows_affected == 1)
}

/// The end of a session.
struct End {
    status: ConnectStatus,
    note: Option<String>,
    code: Option<Code>,
}

/// Ends a session that is still open, and deletes its secrets.
async fn end(cx: &Domain, row: &connect_session::Model, end: End) -> Result<bool> {
    let tx = cx.db.begin().await?;
    let change = connect_session::ActiveModel {
        status: Set(end.status),
        note: Set(end.note),
        error_code: Set(end.code.map(|code| code.entry().code.to_owned())),
        ..closed(cx.clock.now())
    };
    let ended = step(&tx, row, change).await?;
    if let Some(secret) = row.secret_id.filter(|_| ended) {
        cx.vault.delete(&tx, secret).await?;
    }
    tx.commit().await?;
    Ok(ended)
}

/// Returns the columns that every end sets.
fn closed(now: Millis) -> connect_session::ActiveModel {
    connect_session::ActiveModel {
        state_hash: Set(None),
        secret_id: Set(None),
        choices: Set(None),
        updated_at: Set(now),
        ..Default::default()
    }
}

/// Ends a session with an error.
pub(super) async fn fail(cx: &Domain, row: &connect_session::Model, error: &Error) -> Result<()> {
    let note = Some(error.message().to_owned());
    end(cx, row, End { status: ConnectStatus::Failed, note, code: Some(error.code()) }).await?;
    Ok(())
}

/// Ends a session with the connected accounts, in the transaction that connects them. Returns false if it had ended.
pub(super) async fn end_connected<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &connect_session::Model,
    accounts: &[AccountId],
) -> Result<bool> {
    let change = connect_session::ActiveModel {
        status: Set(ConnectStatus::Connected),
        note: Set(None),
        account_ids: Set(json!(accounts)),
        ..closed(cx.clock.now())
    };
    let ended = step(conn, row, change).await?;
    if let Some(secret) = row.secret_id.filter(|_| ended) {
        cx.vault.delete(conn, secret).await?;
    }
    Ok(ended)
}

/// Returns the open session that a connect with credentials names.
pub(super) async fn open_session(
    act: &Act,
    platform: PlatformId,
    id: Uuid,
) -> Result<connect_session::Model> {
    let row = read(&act.cx, ConnectSessionId(id)).await?;
    if row.workspace_id != act.membership.workspace_id || !sees(act, &row) {
        return Err(not_found());
    }
    if row.platform != platform.as_str() {
        let message = format!("The connect session is for {}, not for {platform}.", row.platform);
        let remedy = "Name a session of this platform, or none.";
        return Err(Error::field(Code::InvalidField, "connect_session_id", message, remedy));
    }
    if OPEN.contains(&row.status) {
        return Ok(row);
    }
    let status = view::status_name(row.status);
    let message = format!("The connect session has ended: it is {status}.");
    Err(Error::new(Code::InvalidTransition, message).with_state(status, &[]))
}

/// Returns true if the caller can see the session: a membership that is locked to brands sees the sessions of its
/// brands.
fn sees(act: &Act, row: &connect_session::Model) -> bool {
    act.membership.sees(row.brand_id)
}

/// Expires sessions that nobody completed, and deletes those that ended a month ago.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let now = cx.clock.now();
    let expires = connect_session::Column::ExpiresAt;
    let is_open = connect_session::Column::Status.is_in(OPEN);
    let late = expires.lte(now).and(is_open).into_condition();
    batches::repeat(|| async {
        let late = batches::first::<connect_session::Entity>(expires, &late);
        let mut ended = 0;
        for row in &late.all(&cx.db.write).await? {
            let expired = End { status: ConnectStatus::Expired, note: None, code: None };
            ended += u64::from(end(cx, row, expired).await?);
        }
        // One that could not be ended is none of a full batch, or this would never end.
        Ok(ended)
    })
    .await?;
    let old = expires.lt(now - 30 * 24 * 3_600_000);
    batches::delete::<connect_session::Entity>(cx, expires, old).await
}
