//! The consent of a user to a client.

use fanfare_core::{
    Domain,
    access::{Role, Scope},
    error::{Code, Error, Result},
    token::{self, hash},
};
use fanfare_entities::{UserId, WorkspaceId, membership, oauth_code, subscription, workspace};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
};
use secrecy::ExposeSecret;

use super::{CODE_LIFETIME, request, request::AuthorizeRequest, scopes};
use crate::signup as signups;

/// A workspace that the user can choose on the consent page.
#[derive(Debug, Clone)]
pub struct ConsentWorkspace {
    /// The workspace.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// The user's role there.
    pub role: Role,
    /// The thing it lacks for a client to be useful there, if anything.
    pub lacks: Option<&'static str>,
}

/// Returns the workspaces of a user, the personal one first.
///
/// # Errors
/// The database's.
pub async fn consent_workspaces(cx: &Domain, person: UserId) -> Result<Vec<ConsentWorkspace>> {
    let db = &cx.db.read;
    let theirs = membership::Column::UserId.eq(person);
    let memberships = membership::Entity::find().filter(theirs).all(db).await?;
    let ids: Vec<_> = memberships.iter().map(|one| one.workspace_id).collect();
    let rows = workspace::Entity::find()
        .filter(workspace::Column::Id.is_in(ids.clone()))
        .order_by_desc(workspace::Column::Personal)
        .order_by_asc(workspace::Column::Name)
        .all(db)
        .await?;
    let plans = subscription::Entity::find()
        .filter(subscription::Column::WorkspaceId.is_in(ids))
        .all(db)
        .await?;
    let place = |row: workspace::Model| {
        let membership = memberships.iter().find(|one| one.workspace_id == row.id)?;
        let plan = plans.iter().find(|plan| plan.workspace_id == row.id);
        let lacks = match plan {
            None => Some("It has no plan yet, so the tool cannot do anything there."),
            Some(plan) if !plan.api_addon => Some(
                "It has no API add-on, so the tool cannot do anything there until it is added.",
            ),
            Some(plan) if !plan.active => {
                Some("Its subscription is paused, so the tool can read but not change anything.")
            }
            Some(_) => None,
        };
        Some(ConsentWorkspace { id: row.id, name: row.name, role: membership.role, lacks })
    };
    Ok(rows.into_iter().filter_map(place).collect())
}

/// The user's decision.
#[derive(Debug, Clone)]
pub struct ConsentDecision {
    /// The granted scopes.
    pub scopes: Vec<Scope>,
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// Grants a client access: creates a code, and returns the address to which the user is redirected with it.
///
/// # Errors
/// [`Code::InvalidField`] if no scope is granted, or [`Code::WorkspaceNotFound`].
pub async fn allow(
    cx: &Domain,
    issuer: &str,
    request: &AuthorizeRequest,
    person: UserId,
    decision: &ConsentDecision,
) -> Result<String> {
    let asked = request.scopes.iter().copied();
    let granted: Vec<_> = asked.filter(|scope| decision.scopes.contains(scope)).collect();
    if granted.is_empty() {
        let message = "Nothing is ticked, so the tool could not do anything.";
        let remedy = "Tick at least one thing, or press Deny.";
        return Err(Error::field(Code::InvalidField, "scope", message, remedy));
    }
    let member = (decision.workspace_id, person);
    if membership::Entity::find_by_id(member).one(&cx.db.read).await?.is_none() {
        return Err(Error::new(Code::WorkspaceNotFound, "There is no such workspace."));
    }
    let (code, now) = (token::generate(), cx.clock.now());
    let row = oauth_code::Model {
        hash: hash(code.expose_secret()),
        client_id: request.client.id.clone(),
        client_name: request.client.name.clone(),
        redirect_uri: request.redirect_uri.clone(),
        user_id: person,
        workspace_id: decision.workspace_id,
        scopes: scopes::join_scopes(&granted),
        resource: request.resource.to_owned(),
        challenge: request.challenge.clone(),
        grant_id: None,
        created_at: now,
        expires_at: now + CODE_LIFETIME,
        used_at: None,
        answered_at: None,
    };
    let tx = cx.db.begin().await?;
    let made = row.into_active_model().reset_all();
    oauth_code::Entity::insert(made).exec_without_returning(&tx).await?;
    signups::complete_for_app(&tx, person, &request.client.id, now).await?;
    tx.commit().await?;
    let answer = [("code", code.expose_secret())];
    Ok(request::callback_url(&request.redirect_uri, issuer, request.state.as_deref(), &answer))
}
