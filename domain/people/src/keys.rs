//! API keys. Only their SHA-256 hashes are stored.

mod key_format;
mod list;
mod manage;
pub mod views;

use fanfare_core::{
    Domain, Reply,
    access::{Caller, PlanTier, Role, Scope},
    clock::{Time, to_rfc3339},
    error::{Code, Error, Result},
};
use fanfare_entities::{
    BrandId, GrantId, KeyId, Millis, UserId, WorkspaceId, api_key, membership, oauth_grant,
    subscription, user, workspace,
};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter,
    QueryOrder, sea_query::Expr,
};
use secrecy::SecretString;
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::room::PlanRoom;

pub use key_format::{derived, generate, has_format, prefix_of, random};
pub use list::{KeySummary, list};
pub use manage::{KeyCreator, KeyRequest, allowance, create_by_user, replace, revoke_by_id};
pub(crate) use manage::{parse_scopes, write_created};

const PREFIX: &str = "fan_";

/// `last_used_at` is written at most once in this many ms.
const USE_RECORDED_EVERY: Millis = 60_000;

fn hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the caller that an API key belongs to.
///
/// # Errors
/// [`Code::InvalidApiKey`] if there is no such key, [`Code::ApiKeyExpired`] or [`Code::ApiKeyRevoked`] if it has ended.
pub async fn authenticate(cx: &Domain, key: &str) -> Result<Caller> {
    let refused = || Error::new(Code::InvalidApiKey, "The API key is not valid.");
    if !has_format(PREFIX, key) {
        return Err(refused());
    }
    let hash = hash(key);
    let row = api_key::Entity::find()
        .filter(api_key::Column::Hash.eq(hash.as_str()))
        .one(&cx.db.read)
        .await?
        .ok_or_else(refused)?;
    let now = cx.clock.now();
    let same = bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes()));
    if !same {
        return Err(refused());
    }
    // The sender of the whole key may know that it was revoked or has expired.
    if row.revoked_at.is_some() {
        return Err(Error::new(Code::ApiKeyRevoked, "The API key was revoked."));
    }
    if let Some(end) = row.expires_at.filter(|end| *end <= now) {
        let message = format!("The API key expired at {}.", to_rfc3339(end));
        return Err(Error::new(Code::ApiKeyExpired, message));
    }
    if row.last_used_at.is_none_or(|last| last + USE_RECORDED_EVERY <= now) {
        record_use(cx, row.id, now);
    }
    Ok(Caller {
        user_id: row.user_id,
        key_id: row.id,
        scopes: row.scopes.split(' ').filter_map(Scope::named).collect(),
        key_workspace: row.workspace_id,
        key_brand: row.brand_id,
        token: None,
        expires_at: row.expires_at,
    })
}

/// Records the use of a key in the background: no request waits for it, and losing one does no harm.
fn record_use(cx: &Domain, id: KeyId, now: Millis) {
    let cx = cx.clone();
    tokio::spawn(async move {
        let noted = api_key::Entity::update_many()
            .col_expr(api_key::Column::LastUsedAt, Expr::value(now))
            .filter(api_key::Column::Id.eq(id))
            .exec(&cx.db.write)
            .await;
        if let Err(error) = noted {
            tracing::debug!(%error, "the use of a key was not noted");
        }
    });
}

/// The properties of a new key.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The user that it acts for.
    pub user_id: UserId,
    /// The only workspace that it can reach, if any.
    pub workspace_id: Option<WorkspaceId>,
    /// Name for people.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<Scope>,
}

/// Creates a key. It is returned once and not stored.
///
/// # Errors
/// [`Code::WorkspaceNotFound`] if the user is not in the workspace.
pub async fn create(cx: &Domain, new: NewKey) -> Result<SecretString> {
    Ok(create_on(cx, &cx.db.write, new, (None, None)).await?.0)
}

/// Creates a key in a transaction, optionally with an expiry and for one brand.
pub(crate) async fn create_on<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    new: NewKey,
    (expires_at, brand_id): (Option<Millis>, Option<BrandId>),
) -> Result<(SecretString, api_key::Model)> {
    if let Some(id) = new.workspace_id {
        let member = membership::Entity::find_by_id((id, new.user_id)).one(conn).await?;
        if member.is_none() {
            let message = "The person is not a member of that workspace.";
            return Err(Error::new(Code::WorkspaceNotFound, message));
        }
    }
    let key = generate(PREFIX);
    let scopes: Vec<_> = new.scopes.iter().map(|scope| scope.as_str()).collect();
    let row = api_key::Model {
        id: KeyId::fresh(),
        user_id: new.user_id,
        workspace_id: new.workspace_id,
        name: new.name,
        prefix: prefix_of(&key).to_owned(),
        hash: hash(&key),
        scopes: scopes.join(" "),
        created_at: cx.clock.now(),
        last_used_at: None,
        revoked_at: None,
        expires_at,
        brand_id,
    };
    let made = row.clone().into_active_model().reset_all();
    api_key::Entity::insert(made).exec_without_returning(conn).await?;
    Ok((SecretString::from(key), row))
}

/// Revokes the keys with this prefix; returns how many there were.
///
/// # Errors
/// The database's.
pub async fn revoke(cx: &Domain, prefix: &str) -> Result<u64> {
    let revoked = api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(cx.clock.now()))
        .filter(api_key::Column::Prefix.eq(prefix))
        .filter(api_key::Column::RevokedAt.is_null())
        .exec(&cx.db.write)
        .await?;
    Ok(revoked.rows_affected)
}

/// Revokes a user's keys that can reach one workspace only.
pub(crate) async fn revoke_in<C: ConnectionTrait>(
    conn: &C,
    workspace: WorkspaceId,
    person: UserId,
    now: Millis,
) -> Result<()> {
    api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(now))
        .filter(api_key::Column::UserId.eq(person))
        .filter(api_key::Column::WorkspaceId.eq(workspace))
        .filter(api_key::Column::RevokedAt.is_null())
        .exec(conn)
        .await?;
    Ok(())
}

/// Returns the caller, its key, and the workspaces that it can reach; `limits` is the room of the default one's plan.
///
/// # Errors
/// The database's.
pub async fn whoami(
    cx: &Domain,
    caller: &Caller,
    limits: Option<PlanRoom>,
) -> Result<Reply<Whoami>> {
    let db = &cx.db.read;
    let gone = || Error::internal("the caller's rows are gone");
    let person = user::Entity::find_by_id(caller.user_id).one(db).await?.ok_or_else(gone)?;
    let key = key_view(cx, caller).await?;
    let spaces = reached_workspaces(cx, caller).await?;
    let default = spaces.iter().find(|space| match caller.key_workspace {
        Some(own) => space.id == own,
        None => space.is_own,
    });
    let default_workspace = default.map(|space| space.view.clone());
    Ok(Reply::ok(&Whoami {
        user: Person { id: person.id, email: person.email, name: person.name },
        key,
        default_workspace,
        limits,
        workspaces: spaces.into_iter().map(|space| space.view).collect(),
    }))
}

/// Returns the key of a caller, or the grant of a caller's access token.
async fn key_view(cx: &Domain, caller: &Caller) -> Result<KeyView> {
    let db = &cx.db.read;
    let gone = || Error::internal("the caller's key is gone");
    let (key_type, name, prefix, client_id, created_at, last_used_at) = match &caller.token {
        Some(token) => {
            let grant = oauth_grant::Entity::find_by_id(GrantId(caller.key_id.0)).one(db).await?;
            let grant = grant.ok_or_else(gone)?;
            let (name, client_id) = (grant.client_name, Some(grant.client_id));
            let prefix = token.prefix.clone();
            (KeyType::Oauth, name, prefix, client_id, grant.created_at, grant.last_used_at)
        }
        None => {
            let key = api_key::Entity::find_by_id(caller.key_id).one(db).await?.ok_or_else(gone)?;
            (KeyType::ApiKey, key.name, key.prefix, None, key.created_at, key.last_used_at)
        }
    };
    Ok(KeyView {
        id: caller.key_id,
        key_type,
        client_id,
        name,
        prefix,
        scopes: caller.scopes.iter().map(|scope| scope.as_str()).collect(),
        workspace_id: caller.key_workspace,
        workspace_client_id: caller.key_brand,
        created_at: Time(created_at),
        last_used_at: last_used_at.map(Time),
    })
}

/// The caller.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Whoami {
    /// The user that the key acts for.
    user: Person,
    key: KeyView,
    /// The workspace of requests that name none: the key's, or else the user's personal one.
    default_workspace: Option<WorkspaceView>,
    /// The room of that workspace's plan; null for a membership that is locked to brands.
    limits: Option<PlanRoom>,
    /// The workspaces that the key reaches.
    workspaces: Vec<WorkspaceView>,
}

/// A user.
#[derive(Debug, Serialize, JsonSchema)]
struct Person {
    id: UserId,
    email: String,
    name: String,
}

/// The credential of a caller.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum KeyType {
    /// An API key.
    ApiKey,
    /// An access token of an OAuth client.
    Oauth,
}

/// The credential of a caller, without its secret part.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CallerKey")]
struct KeyView {
    /// Its id; of an access token, that of the grant.
    id: KeyId,
    #[serde(rename = "type")]
    key_type: KeyType,
    /// The OAuth client, if it is an access token.
    client_id: Option<String>,
    /// Name of the key, or of the OAuth client.
    name: String,
    /// Its first characters.
    prefix: String,
    /// The scopes.
    scopes: Vec<&'static str>,
    /// The only workspace it reaches, if any.
    workspace_id: Option<WorkspaceId>,
    /// The only brand it reaches there, if any.
    workspace_client_id: Option<BrandId>,
    created_at: Time,
    last_used_at: Option<Time>,
}

/// A workspace, as one of its members sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Workspace")]
struct WorkspaceView {
    id: WorkspaceId,
    name: String,
    /// The user's role.
    role: Role,
    plan_tier: PlanTier,
    /// True for a user's personal workspace.
    personal: bool,
    /// The IANA zone of its pages and of times without an offset.
    timezone: String,
    /// The time at which it is deleted; null unless it is to be.
    deletion_at: Option<Time>,
}

struct ReachedWorkspace {
    id: WorkspaceId,
    is_own: bool,
    view: WorkspaceView,
}

/// Returns the workspaces that a key can reach, its own first.
async fn reached_workspaces(cx: &Domain, caller: &Caller) -> Result<Vec<ReachedWorkspace>> {
    let db = &cx.db.read;
    let mut memberships = membership::Entity::find()
        .filter(membership::Column::UserId.eq(caller.user_id))
        .order_by_asc(membership::Column::CreatedAt);
    if let Some(own) = caller.key_workspace {
        memberships = memberships.filter(membership::Column::WorkspaceId.eq(own));
    }
    let memberships = memberships.all(db).await?;
    let ids: Vec<_> = memberships.iter().map(|membership| membership.workspace_id).collect();
    let rows =
        workspace::Entity::find().filter(workspace::Column::Id.is_in(ids.clone())).all(db).await?;
    let paid = subscription::Entity::find()
        .filter(subscription::Column::WorkspaceId.is_in(ids))
        .all(db)
        .await?;
    let space = |membership: &membership::Model| {
        let row = rows.iter().find(|row| row.id == membership.workspace_id)?;
        let plan = paid.iter().find(|paid| paid.workspace_id == row.id);
        let plan = plan.map_or(PlanTier::Starter, |paid| paid.plan_tier);
        let view = WorkspaceView {
            id: row.id,
            name: row.name.clone(),
            role: membership.role,
            plan_tier: plan,
            personal: row.personal,
            timezone: row.timezone.clone(),
            deletion_at: row.deletion_at.map(Time),
        };
        Some(ReachedWorkspace {
            id: row.id,
            is_own: row.personal && row.owner_id == caller.user_id,
            view,
        })
    };
    Ok(memberships.iter().filter_map(space).collect())
}
