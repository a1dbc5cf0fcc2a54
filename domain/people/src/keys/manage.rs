//! Keys that users create, replace and revoke themselves.

use fanfare_core::{
    Domain, RefusalDetails, Tx,
    access::{PlanTier, Role, Scope, plan_name, role_name},
    audit_trail::{self, Author, Change},
    error::{Code, Error, Result, Violations, excerpt, violation},
    input::text::{self, TextRule},
    user_lock,
};
use fanfare_entities::{
    BrandId, KeyId, Millis, UserId, WorkspaceId, api_key, api_key::Column, brand, membership,
    subscription, user, workspace,
};
use fanfare_mail::Letter;
use schemars::JsonSchema;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect,
    sea_query::Expr,
};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{KeySummary, NewKey, create_on, list::valid_keys};
use crate::mail::{self, MailTransport};

const DAY: Millis = 24 * 3_600_000;

/// A request to create a key.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRequest {
    /// Name for people.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// The scopes, at most those of the caller's key; by default all except the billing scopes.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(max = 64)))]
    pub scopes: Option<Vec<String>>,
    /// The only workspace that it can reach; you must be an admin there. By default it can reach all of yours, or that
    /// of the caller's key.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
    /// The only brand that it can reach, and with it the only workspace; you must be an admin there.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
    /// The number of days after which it expires; never if left out. A key that is made by a key that expires ends with
    /// that key at the latest.
    #[serde(default)]
    #[schemars(range(min = 1, max = 365))]
    pub expires_in_days: Option<i64>,
}

/// The user who creates a key, and the limits of that key.
#[derive(Debug, Clone)]
pub struct KeyCreator {
    /// The user.
    pub user_id: UserId,
    /// The author of the key, for the audit log.
    pub author: Author,
    /// The scopes that a new key may have.
    pub scopes: Vec<Scope>,
    /// The only workspace that a new key can reach.
    pub within: Option<WorkspaceId>,
    /// The only brand that a new key can reach.
    pub brand: Option<BrandId>,
    /// The latest end of a new key.
    pub until: Option<Millis>,
}

/// Creates a key, within the allowance of the user's plan. The key is returned once and not stored. `flaws` are what is
/// wrong with the rest of the request.
///
/// # Errors
/// All violations of the request, [`Code::KeyLimit`], [`Code::InsufficientScope`], [`Code::WorkspaceScopeMismatch`],
/// [`Code::WorkspaceNotFound`], [`Code::BrandNotFound`] or [`Code::InsufficientWorkspacePermissions`].
pub async fn create_by_user(
    tx: &mut Tx,
    maker: &KeyCreator,
    new: &KeyRequest,
    flaws: Violations,
) -> Result<(SecretString, KeySummary)> {
    let workspace_id = workspace_of(maker, new.workspace_id.map(WorkspaceId))?;
    let scopes = checked_scopes(maker, new, flaws)?;
    let brand = brand_of(tx, maker, workspace_id, new.workspace_client_id.map(BrandId)).await?;
    let workspace_id = brand.map_or(workspace_id, |(_, workspace)| Some(workspace));
    if let Some(id) = workspace_id {
        require_admin(tx.conn(), id, maker.user_id).await?;
    }
    let person = user_lock::lock(tx.conn(), maker.user_id).await?;
    let (plan, allowed) = allowance(tx.domain(), tx.conn(), maker.user_id).await?;
    let had = valid_keys(maker.user_id, tx.now()).count(tx.conn()).await?;
    if had >= u64::from(allowed) {
        let message =
            format!("Your plan {} allows {allowed} API keys, and you have {had}.", plan_name(plan));
        let (limit, plan) = (Some(u64::from(allowed)), Some(plan_name(plan)));
        let details = RefusalDetails { limit, plan, ..RefusalDetails::default() };
        return Err(Error::new(Code::KeyLimit, message).with_details(details));
    }
    let asked = new.expires_in_days.map(|days| tx.now() + days * DAY);
    let expires_at = [asked, maker.until].into_iter().flatten().min();
    let name = new.name.trim().to_owned();
    let user_id = maker.user_id;
    let new = NewKey { user_id, workspace_id, name, scopes };
    let (key, row) =
        create_on(tx.domain(), tx.conn(), new, (expires_at, brand.map(|(id, _)| id))).await?;
    write_created(tx.conn(), &maker.author, &row).await?;
    write_letter(tx, &row, &person).await?;
    Ok((key, KeySummary::of(row)))
}

/// Returns how many keys a user can have, and the plan that allows it.
///
/// # Errors
/// The database's.
pub async fn allowance<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    person: UserId,
) -> Result<(PlanTier, u32)> {
    let own = workspace::Entity::find()
        .filter(workspace::Column::OwnerId.eq(person))
        .filter(workspace::Column::Personal.eq(true))
        .one(conn)
        .await?;
    let own = own.ok_or_else(|| Error::internal(format!("user {person} has no workspace")))?;
    let plan = subscription::Entity::find_by_id(own.id).one(conn).await?;
    let has_plan = plan.as_ref().is_some_and(|plan| plan.active || plan.granted);
    let tier = plan.map_or(PlanTier::Starter, |plan| plan.plan_tier);
    let sold = crate::settings(cx).plans.plans.iter().find(|sold| sold.tier == plan_name(tier));
    Ok((tier, sold.filter(|_| has_plan).map_or(0, |sold| sold.keys)))
}

/// Returns the workspace of a new key.
fn workspace_of(maker: &KeyCreator, asked: Option<WorkspaceId>) -> Result<Option<WorkspaceId>> {
    match (maker.within, asked) {
        (Some(own), Some(asked)) if own != asked => {
            let message = "API key is scoped to a different workspace";
            Err(Error::new(Code::WorkspaceScopeMismatch, message))
        }
        (own, asked) => Ok(own.or(asked)),
    }
}

/// Returns the brand of a new key, with its workspace. A key that is bound to a brand makes keys of that brand alone.
async fn brand_of(
    tx: &Tx,
    maker: &KeyCreator,
    workspace: Option<WorkspaceId>,
    asked: Option<BrandId>,
) -> Result<Option<(BrandId, WorkspaceId)>> {
    let absent = || Error::new(Code::BrandNotFound, "There is no such brand.");
    if maker.brand.is_some() && asked.is_some() && maker.brand != asked {
        return Err(absent());
    }
    let Some(id) = maker.brand.or(asked) else { return Ok(None) };
    let row = brand::Entity::find_by_id(id).one(tx.conn()).await?.ok_or_else(absent)?;
    let member = membership::Entity::find_by_id((row.workspace_id, maker.user_id));
    let is_member = member.one(tx.conn()).await?.is_some();
    if !is_member || workspace.is_some_and(|workspace| workspace != row.workspace_id) {
        return Err(absent());
    }
    Ok(Some((id, row.workspace_id)))
}

/// Returns the scopes of a new key, if the request is valid.
fn checked_scopes(maker: &KeyCreator, new: &KeyRequest, flaws: Violations) -> Result<Vec<Scope>> {
    let mut broken = Violations::default();
    if new.name.trim().is_empty() {
        let message = "name is empty.".to_owned();
        broken.push_with(|| violation(Code::FieldRequired, "name", message, "Send a name."));
    } else if let Some(flaw) = text::problem("name", &new.name, TextRule::line(100)) {
        broken.push_with(|| flaw);
    }
    broken.append(flaws);
    if new.expires_in_days.is_some_and(|days| !(1..=365).contains(&days)) {
        let message = "expires_in_days must be 1 to 365.".to_owned();
        let remedy = "Send a number of days, or leave it out.";
        broken.push_with(|| violation(Code::InvalidField, "expires_in_days", message, remedy));
    }
    let usual = || Scope::default_set().into_iter().filter(|one| maker.scopes.contains(one));
    let scopes: Vec<Scope> = match &new.scopes {
        None => usual().collect(),
        Some(named) => parse_scopes("scopes", named, &mut broken),
    };
    Error::check(broken)?;
    match scopes.iter().find(|scope| !maker.scopes.contains(scope)) {
        None => Ok(scopes),
        Some(beyond) => {
            let message = format!("Your own key lacks the scope {}.", beyond.as_str());
            let required_scope = Some(beyond.as_str());
            let details = RefusalDetails { required_scope, ..RefusalDetails::default() };
            Err(Error::new(Code::InsufficientScope, message).with_details(details))
        }
    }
}

/// Returns the scopes that a field names; adds violations for unknown ones.
pub(crate) fn parse_scopes(field: &str, named: &[String], broken: &mut Violations) -> Vec<Scope> {
    let wrong = match named.iter().find(|name| Scope::named(name).is_none()) {
        Some(unknown) => Some(format!("There is no scope {:?}.", excerpt(unknown))),
        None => named.is_empty().then(|| "No scope is named.".to_owned()),
    };
    if let Some(message) = wrong {
        let known: Vec<_> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        let remedy = format!("Name at least one of {}.", known.join(", "));
        broken.push_with(|| violation(Code::InvalidField, field, message, remedy));
    }
    Scope::ALL.into_iter().filter(|scope| named.iter().any(|name| name == scope.as_str())).collect()
}

async fn require_admin<C: ConnectionTrait>(
    conn: &C,
    workspace: WorkspaceId,
    person: UserId,
) -> Result<()> {
    let membership = membership::Entity::find_by_id((workspace, person)).one(conn).await?;
    let absent = || Error::new(Code::WorkspaceNotFound, "There is no such workspace.");
    let role = membership.ok_or_else(absent)?.role;
    if role >= Role::Admin {
        return Ok(());
    }
    let (needed, yours) = (role_name(Role::Admin), role_name(role));
    let message =
        format!("A key for one workspace needs the role {needed} there; yours is {yours}.");
    let details = RefusalDetails { required_role: Some(needed), ..RefusalDetails::default() };
    Err(Error::new(Code::InsufficientWorkspacePermissions, message).with_details(details))
}

async fn write_letter(tx: &mut Tx, row: &api_key::Model, person: &user::Model) -> Result<()> {
    if matches!(crate::mail::mail_transport(tx.domain()), MailTransport::None) {
        return Ok(());
    }
    let link = format!("{}/dashboard/api", tx.domain().settings.base_url);
    let letter = Letter::api_key_created(&person.email, &row.name, &link);
    mail::write(tx, &format!("key:{}", row.id), &letter, person.id).await?;
    Ok(())
}

/// Writes the audit entry of a new key.
pub(crate) async fn write_created<C: ConnectionTrait>(
    conn: &C,
    author: &Author,
    row: &api_key::Model,
) -> Result<()> {
    let scopes: Vec<_> = row.scopes.split(' ').collect();
    let details = json!({"scopes": scopes, "brand": row.brand_id, "owner": owner(row)});
    write_entry(conn, author, ("key_created", row, details), row.created_at).await
}

async fn write_entry<C: ConnectionTrait>(
    conn: &C,
    author: &Author,
    (action, row, details): (&'static str, &api_key::Model, Value),
    now: Millis,
) -> Result<()> {
    let (target, workspace) = (format!("key:{}", row.id), row.workspace_id);
    audit_trail::write(conn, author, Change { action, target, workspace, details }, now).await
}

/// Returns how entries of the audit log name the user of a key.
fn owner(row: &api_key::Model) -> String {
    format!("user:{}", row.user_id)
}

/// Revokes a user's key.
///
/// # Errors
/// [`Code::KeyNotFound`].
pub async fn revoke_by_id(
    tx: &Tx,
    author: &Author,
    person: UserId,
    (within, brand): (Option<WorkspaceId>, Option<BrandId>),
    id: KeyId,
) -> Result<()> {
    let mut theirs = api_key::Entity::find_by_id(id)
        .filter(Column::UserId.eq(person))
        .filter(Column::RevokedAt.is_null());
    if let Some(workspace) = within {
        theirs = theirs.filter(Column::WorkspaceId.eq(workspace));
    }
    if let Some(brand) = brand {
        theirs = theirs.filter(Column::BrandId.eq(brand));
    }
    let row = theirs.lock_exclusive().one(tx.conn()).await?.ok_or_else(not_found)?;
    end(tx, id).await?;
    let details = json!({"owner": owner(&row)});
    write_entry(tx.conn(), author, ("key_revoked", &row, details), tx.now()).await
}

/// Writes that a key has ended.
async fn end(tx: &Tx, id: KeyId) -> Result<()> {
    let revoked = api_key::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(tx.now()))
        .filter(Column::Id.eq(id))
        .filter(Column::RevokedAt.is_null());
    if revoked.exec(tx.conn()).await?.rows_affected == 1 { Ok(()) } else { Err(not_found()) }
}

fn not_found() -> Error {
    Error::new(Code::KeyNotFound, "There is no such API key, or it has ended.")
}

/// Revokes a key and creates a new one with the same properties.
///
/// # Errors
/// [`Code::KeyNotFound`].
pub async fn replace(
    tx: &mut Tx,
    author: &Author,
    person: UserId,
    id: KeyId,
) -> Result<(SecretString, KeySummary)> {
    let old = valid_keys(person, tx.now()).filter(Column::Id.eq(id)).lock_exclusive();
    let old = old.one(tx.conn()).await?.ok_or_else(not_found)?;
    end(tx, id).await?;
    let new = NewKey {
        user_id: person,
        workspace_id: old.workspace_id,
        name: old.name,
        scopes: old.scopes.split(' ').filter_map(Scope::named).collect(),
    };
    let (key, row) = create_on(tx.domain(), tx.conn(), new, (old.expires_at, old.brand_id)).await?;
    let details = json!({"owner": owner(&row), "replaces": format!("key:{id}")});
    write_entry(tx.conn(), author, ("key_replaced", &row, details), tx.now()).await?;
    let person = user::Entity::find_by_id(person).one(tx.conn()).await?.ok_or_else(not_found)?;
    write_letter(tx, &row, &person).await?;
    Ok((key, KeySummary::of(row)))
}
