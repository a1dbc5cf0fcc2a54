//! Apps and grants as the API shows them.

use fanfare_core::{
    Act, Deleted, Reply, access::Scope, audit_trail::Author, clock::Time, error::Result,
    page::Listed,
};
use fanfare_entities::{GrantId, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{App, AppChanges, Grant, NewApp, apps, grants};

/// An app of a user: an OAuth client without a secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OauthClient {
    client_id: String,
    /// Its name, as users see it on the consent page.
    client_name: String,
    /// The addresses that users are sent back to.
    allowed_redirect_uris: Vec<String>,
    /// The scopes it asks for if a request names none.
    default_scopes: Vec<&'static str>,
    /// The number of its active grants, one for each user and workspace.
    grants: u64,
    created_at: Time,
    updated_at: Time,
}

/// One app.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneClient {
    client: OauthClient,
}

/// The apps of a user.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientList {
    clients: Vec<OauthClient>,
}

/// A user's grant to a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OauthGrant {
    id: GrantId,
    client_id: String,
    /// The tool's name, which is not verified.
    client_name: String,
    scopes: Vec<&'static str>,
    /// The only workspace it reaches.
    workspace_id: WorkspaceId,
    created_at: Time,
    /// The time at which it last used a token, to the minute.
    last_used_at: Option<Time>,
}

/// The tools to which a user has granted access.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct GrantList {
    grants: Vec<OauthGrant>,
}

fn names(scopes: &[Scope]) -> Vec<&'static str> {
    scopes.iter().map(|scope| scope.as_str()).collect()
}

impl From<App> for OauthClient {
    fn from(app: App) -> Self {
        Self {
            default_scopes: names(&app.scopes),
            client_id: app.client_id,
            client_name: app.client_name,
            allowed_redirect_uris: app.redirect_uris,
            grants: app.grants,
            created_at: Time(app.created_at),
            updated_at: Time(app.updated_at),
        }
    }
}

impl From<Grant> for OauthGrant {
    fn from(grant: Grant) -> Self {
        Self {
            id: grant.id,
            scopes: names(&grant.scopes),
            client_id: grant.client_id,
            client_name: grant.client_name,
            workspace_id: grant.workspace_id,
            created_at: Time(grant.created_at),
            last_used_at: grant.last_used_at.map(Time),
        }
    }
}

/// Lists the caller's apps.
///
/// # Errors
/// The database's.
pub async fn clients(act: &Act) -> Result<Reply<Listed<ClientList>>> {
    let apps = apps::list_apps(&act.cx, act.caller.user_id).await?;
    let clients: Vec<_> = apps.into_iter().map(Into::into).collect();
    Ok(Reply::ok(&Listed::whole(clients.is_empty(), ClientList { clients })))
}

/// Creates an app of the caller.
///
/// # Errors
/// The errors of [`apps::create_app`].
pub async fn create_client(act: &Act, new: NewApp) -> Result<Reply<OneClient>> {
    let tx = act.begin().await?;
    let app = apps::create_app(&tx, &Author::of(act), act.caller.user_id, new).await?;
    act.finish(tx, Reply::ok(&OneClient { client: app.into() }).with_status(201)).await
}

/// Changes an app of the caller.
///
/// # Errors
/// The errors of [`apps::update_app`].
pub async fn update_client(act: &Act, id: &str, changes: AppChanges) -> Result<Reply<OneClient>> {
    let tx = act.begin().await?;
    let app = apps::update_app(&tx, &Author::of(act), act.caller.user_id, id, changes).await?;
    act.finish(tx, Reply::ok(&OneClient { client: app.into() })).await
}

/// Deletes an app of the caller, which ends its grants.
///
/// # Errors
/// [`fanfare_core::Code::ClientNotFound`].
pub async fn delete_client(act: &Act, id: &str) -> Result<Reply<Deleted>> {
    let tx = act.begin().await?;
    apps::delete_app(&tx, &Author::of(act), act.caller.user_id, id).await?;
    act.finish(tx, Reply::ok(&Deleted::text(id))).await
}

/// Lists the caller's grants to tools.
///
/// # Errors
/// The database's.
pub async fn grants(act: &Act) -> Result<Reply<Listed<GrantList>>> {
    let caller = &act.caller;
    let grants = grants::list_grants(&act.cx, caller.user_id, caller.key_workspace).await?;
    let grants: Vec<_> = grants.into_iter().map(Into::into).collect();
    Ok(Reply::ok(&Listed::whole(grants.is_empty(), GrantList { grants })))
}

/// Ends a grant of the caller to a tool.
///
/// # Errors
/// [`fanfare_core::Code::GrantNotFound`].
pub async fn delete_grant(act: &Act, id: GrantId) -> Result<Reply<Deleted>> {
    let (tx, caller) = (act.begin().await?, &act.caller);
    let within = caller.key_workspace;
    grants::end_grant(&tx, &Author::of(act), caller.user_id, within, id).await?;
    act.finish(tx, Reply::ok(&Deleted::uuid(id.0))).await
}
