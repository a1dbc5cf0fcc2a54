//! Connecting an account with credentials.

use std::time::Duration;

use fanfare_core::{
    Act, RefusalDetails, Reply, Tx, audit_trail,
    error::{Code, Error, Fix, Result, violation},
    input::{closest_name, strict::unknown_field},
};
use fanfare_entities::{
    AccountId, BrandId, WorkspaceId, account, account::AccountStatus, brand, connect_session,
};
use fanfare_platforms::{
    self as platforms, ConnectSpec, CredentialField, ErrorKind, Identity, PlatformId, Secrets,
    Violations, text,
};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QuerySelect,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    Account, TABLE, did, hooks::AccountHooks, oauth_connect, profile_picture, quota,
    refresh_schedule::RefreshSchedule, session::anonymous,
};

/// The longest wait for a platform while a caller waits.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Credentials to connect an account with.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectRequest {
    /// The platform's `credential_fields`, and no other field.
    pub credentials: Map<String, Value>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// Brand of a newly connected account; a membership locked to brands must name one of them.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
    /// The connect session that this ends.
    #[serde(default)]
    pub connect_session_id: Option<Uuid>,
}

/// Verifies the credentials with the platform and stores them, for a new account or in place of the old ones. Ends the
/// connect session that the request names, whether this succeeds or fails.
///
/// # Errors
/// [`Code::InvalidCredentials`] and the like, or [`Code::ProviderUnreachable`].
pub async fn connect(
    act: &Act,
    platform: PlatformId,
    request: ConnectRequest,
) -> Result<Reply<ConnectResponse>> {
    let spec = platforms::find(platform).spec();
    let ConnectSpec::Credentials(fields) = spec.connect else {
        let message = format!("{} is connected in a browser, not with credentials.", spec.label);
        return Err(Error::new(Code::CredentialsNotSupported, message));
    };
    let secrets = parse_credentials(fields, request.credentials)?;
    let session = match request.connect_session_id {
        Some(id) => Some(oauth_connect::open_session(act, platform, id).await?),
        None => None,
    };
    let of_session = session.as_ref().and_then(|session| session.brand_id);
    let brand = request.workspace_client_id.map(BrandId).or(of_session);
    let place = (platform, session.as_ref().is_some_and(|session| session.sandbox), brand);
    let outcome = verify_and_store(act, place, secrets, session.as_ref()).await;
    if let (Err(error), Some(session)) = (&outcome, &session) {
        oauth_connect::fail(&act.cx, session, error).await?;
    }
    outcome
}

async fn verify_and_store(
    act: &Act,
    place: (PlatformId, bool, Option<BrandId>),
    secrets: Secrets,
    session: Option<&connect_session::Model>,
) -> Result<Reply<ConnectResponse>> {
    require_brand(act, &act.cx.db.read, place.2).await?;
    let identity = verify(act, place.0, place.1, secrets).await?;
    let mut tx = act.begin().await?;
    let row = store(act, &mut tx, place, identity, session).await?;
    if let Some(session) = session {
        oauth_connect::end_connected(&act.cx, tx.conn(), session, &[row.id]).await?;
    }
    let connected = ConnectResponse {
        connected: true,
        workspace_id: row.workspace_id,
        account: ConnectedAccount::of(row),
    };
    act.finish(tx, Reply::ok(&connected)).await
}

/// The reply to a successful connect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectResponse {
    /// Always true.
    connected: bool,
    account: ConnectedAccount,
    workspace_id: WorkspaceId,
}

/// The account that was connected.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectedAccount {
    id: AccountId,
    platform: String,
    /// Name on the platform.
    username: String,
    /// On Bluesky: the account's permanent id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    did: Option<Value>,
}

impl ConnectedAccount {
    pub(super) fn of(row: account::Model) -> Self {
        Self { id: row.id, did: did(&row), platform: row.platform, username: row.username }
    }
}

/// Parses credentials, which must have the platform's fields and no others.
pub(super) fn parse_credentials(
    fields: &[CredentialField],
    given: Map<String, Value>,
) -> Result<Secrets> {
    Error::check(check_credentials(fields, &given))?;
    let pairs = given.into_iter();
    let pairs =
        pairs.filter_map(|(name, value)| Some((name, text::clean_identifier(value.as_str()?))));
    Ok(Secrets::from_pairs(pairs.collect::<Vec<_>>()))
}

fn check_credentials(fields: &[CredentialField], given: &Map<String, Value>) -> Violations {
    let known: Vec<_> = fields.iter().map(|field| field.name).collect();
    let mut broken = Violations::default();
    let absent = || known.iter().copied().filter(|name| !given.contains_key(*name));
    for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
        broken.push_with(|| {
            let path = format!("credentials.{name}");
            let fix = closest_name(name, absent()).map(|right| Fix::rename(&path, right));
            unknown_field(&path, name, &known).with_fix(fix)
        });
    }
    for field in fields {
        let path = format!("credentials.{}", field.name);
        match given.get(field.name) {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            None | Some(Value::Null) if !field.required => {}
            None | Some(Value::Null | Value::String(_)) => {
                let message = format!("{path} is required.");
                broken.push(violation(Code::FieldRequired, path, message, field.doc));
            }
            Some(_) => {
                let message = format!("{path} must be a text.");
                broken.push(violation(Code::InvalidField, path, message, field.doc));
            }
        }
    }
    broken
}

/// Refuses a brand that is not in the workspace, or that a locked membership cannot see.
pub(super) async fn require_brand<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    brand: Option<BrandId>,
) -> Result<()> {
    let Some(id) = brand else { return Ok(()) };
    if !act.membership.sees(Some(id)) {
        return Err(brand_required());
    }
    let found = brand::Entity::find_by_id(id)
        .filter(brand::Column::WorkspaceId.eq(act.membership.workspace_id))
        .one(conn)
        .await?;
    found.map(drop).ok_or_else(|| Error::new(Code::BrandNotFound, "There is no such brand."))
}

pub(super) fn brand_required() -> Error {
    let message = "Your membership is locked to brands; name one of them in workspace_client_id.";
    Error::new(Code::BrandRequired, message)
}

/// Asks the platform which account these credentials belong to.
pub(super) async fn verify(
    act: &Act,
    platform: PlatformId,
    sandbox: bool,
    secrets: Secrets,
) -> Result<Identity> {
    let session = anonymous(&act.cx, act.membership.workspace_id, platform, sandbox, secrets)?;
    let asked = platforms::find(platform).verify(&session);
    let answer = tokio::time::timeout(TIMEOUT, asked).await;
    let answer = answer.unwrap_or_else(|_| Err(timed_out(platform, TIMEOUT)));
    answer.map_err(|error| connect_error(platform, error))
}

/// Returns the error for a platform that did not answer in time.
pub(crate) fn timed_out(platform: PlatformId, patience: Duration) -> platforms::Error {
    let seconds = patience.as_secs();
    let message = format!("{platform} did not answer within {seconds} seconds.");
    platforms::Error::new(ErrorKind::Unreachable, message)
}

/// Returns the error that is shown when a platform refuses to connect an account.
pub(crate) fn connect_error(platform: PlatformId, error: platforms::Error) -> Error {
    let code = match error.kind {
        ErrorKind::InvalidCredentials
        | ErrorKind::Reconnect
        | ErrorKind::TokenExpired
        | ErrorKind::Misconfigured
        | ErrorKind::PermissionMissing
        | ErrorKind::Restricted
        | ErrorKind::TargetGone
        | ErrorKind::Defect
        | ErrorKind::Rejected
        | ErrorKind::Duplicate
        | ErrorKind::MediaRejected => Code::InvalidCredentials,
        ErrorKind::Unreachable
        | ErrorKind::Transient
        | ErrorKind::Server
        | ErrorKind::Ambiguous
        | ErrorKind::RateLimited
        | ErrorKind::QuotaExhausted => Code::ProviderUnreachable,
    };
    let status = error.reply.as_ref().map(|reply| reply.status);
    tracing::info!(%platform, kind = ?error.kind, status, "an account could not be connected");
    let remedy = error.remedy.unwrap_or_else(|| code.entry().remedy.to_owned());
    Error::new(code, error.message)
        .with_details(RefusalDetails { remedy: Some(remedy), ..RefusalDetails::default() })
}

/// Stores the account and its secrets in the caller's transaction. Every way to connect an account ends here, so the
/// brand is checked here.
pub(super) async fn store(
    act: &Act,
    tx: &mut Tx,
    (platform, sandbox, brand): (PlatformId, bool, Option<BrandId>),
    identity: Identity,
    session: Option<&connect_session::Model>,
) -> Result<account::Model> {
    let workspace = act.membership.workspace_id;
    require_brand(act, tx.conn(), brand).await?;
    let plan = quota::lock_workspace(tx.conn(), workspace).await?;
    let known = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(workspace))
        .filter(account::Column::Platform.eq(platform.as_str()))
        .filter(account::Column::RemoteId.eq(identity.remote_id.as_str()))
        .filter(account::Column::Sandbox.eq(sandbox))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let is_connected = known.as_ref().is_some_and(|row| row.status != AccountStatus::Disconnected);
    match &known {
        Some(row) if is_connected && !act.membership.sees(row.brand_id) => {
            return Err(Error::new(Code::AccountNotFound, "There is no such account."));
        }
        Some(_) if is_connected => {}
        _ if act.membership.brands.is_some() && brand.is_none() => return Err(brand_required()),
        _ if sandbox => {}
        _ => {
            let plan = (&fanfare_people::settings(&act.cx).plans, plan);
            quota::require_room(tx.conn(), workspace, plan).await?;
        }
    }
    let remote_id = identity.remote_id.clone();
    let mut row = connect_columns(act, tx, platform, identity).await?;
    if let Some(known) = known {
        if let Set(meta) = &mut row.meta {
            profile_picture::keep_copy(&known, meta);
        }
        row.id = Set(known.id);
        row.fencing_token = Set(known.fencing_token + 1);
        // A reconnect keeps the brand; an account that comes back after a disconnect gets the requested one.
        row.brand_id = Set(if is_connected { known.brand_id } else { brand });
        // Tokens that are still to be revoked are only forgotten: where a revocation ends the whole grant, it would end
        // the new connection too.
        for old in [known.secret_id, known.revoking_id].into_iter().flatten() {
            act.cx.vault.delete(tx.conn(), old).await?;
        }
        row.revoking_id = Set(None);
        let row = row.update(tx.conn()).await?;
        return connected(act, tx, row, (is_connected, session)).await;
    }
    row.workspace_id = Set(workspace);
    row.platform = Set(platform.as_str().to_owned());
    row.remote_id = Set(remote_id);
    row.sandbox = Set(sandbox);
    row.brand_id = Set(brand);
    row.fencing_token = Set(0);
    row.created_at = Set(act.cx.clock.now());
    let row = account::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    connected(act, tx, row, (false, session)).await
}

/// Makes known that an account is connected, or connected again; with what the connect session was made for.
async fn connected(
    act: &Act,
    tx: &mut Tx,
    row: account::Model,
    (again, session): (bool, Option<&connect_session::Model>),
) -> Result<account::Model> {
    for hook in act.cx.feature::<AccountHooks>() {
        hook.connected(&act.cx, tx.conn(), &row).await?;
    }
    let (event_type, verb) = match again {
        true => ("account.reconnected", "connected again"),
        false => ("account.connected", "connected"),
    };
    let action = if again { "account_reconnected" } else { "account_connected" };
    let details = json!({"platform": row.platform, "brand": row.brand_id});
    audit_trail::note(tx.conn(), act, (action, format!("account:{}", row.id)), details).await?;
    let message = format!("{} on {} was {verb}.", row.username, row.platform);
    let by = Some(act.request_id.clone());
    let mut event = super::event(&act.cx, &row, event_type, message, by);
    if let Some(session) = session {
        event.data = json!({
            "account": Account::of(&act.cx, &row),
            "connect_session_id": session.id,
            "reference": session.reference,
            "return_url": session.return_url,
        })
        .to_string();
    }
    tx.emit(event);
    Ok(row)
}

/// Returns the columns that a connect or reconnect sets: the secrets and their refresh schedule.
async fn connect_columns(
    act: &Act,
    tx: &Tx,
    platform: PlatformId,
    identity: Identity,
) -> Result<account::ActiveModel> {
    let now = act.cx.clock.now();
    let plain = serde_json::to_vec(&identity.secrets.to_pairs()).map_err(Error::internal)?;
    let secret = act.cx.vault.store(tx.conn(), TABLE, &plain, now).await?;
    let ends_at = identity.expires_at.map(|end| end.timestamp_millis());
    let plan = RefreshSchedule::new(platforms::find(platform), &identity.secrets, ends_at, now);
    let meta = Value::Object(identity.meta);
    let picture = profile_picture::due(&meta);
    Ok(account::ActiveModel {
        username: Set(identity.username),
        display_name: Set(identity.display_name),
        status: Set(AccountStatus::Connected),
        meta: Set(meta),
        secret_id: Set(Some(secret)),
        token_expires_at: Set(ends_at),
        refreshing_until: Set(None),
        refresh_at: Set(plan.refresh_at),
        due_at: Set(plan.due_at.into_iter().chain(picture.map(|_| now)).min()),
        warned: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        connected_by: Set(act.caller.user_id),
        updated_at: Set(now),
        ..Default::default()
    })
}
