//! Users, workspaces, memberships and brands, as the operator sets them up.

mod brands;

use fanfare_core::{
    Domain,
    access::{PlanTier, Role},
    error::{Code, Error, Result, excerpt},
    input::text::{self, TextRule},
};
use fanfare_entities::{
    Millis, UserId, WorkspaceId, brand_lock, invitation, membership, subscription, user, workspace,
};
use fanfare_mail::canonical_address;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};

use crate::{billing, credits, keys, oauth_provider};

pub use brands::{count_brands, insert_brand};
pub use brands::{create_brand, lock_to_brand, unlock_from_brand};

/// Returns the user with this address, or creates one with a personal workspace on the highest plan.
///
/// # Errors
/// [`Code::InvalidField`] if it is not an e-mail address.
pub async fn find_or_create(cx: &Domain, email: &str) -> Result<UserId> {
    let email = normalized_email(email)?;
    if let Some(id) = find(cx, &email).await? {
        return Ok(id);
    }
    let conn = cx.db.begin().await?;
    let id = UserId::fresh();
    let name = email.split('@').next().unwrap_or_default().to_owned();
    let row = user::ActiveModel {
        id: Set(id),
        email: Set(email.clone()),
        name: Set(name.clone()),
        created_at: Set(cx.clock.now()),
    };
    user::Entity::insert(row).exec_without_returning(&conn).await?;
    add_workspace(cx, &conn, &format!("{name}'s workspace"), id, true).await?;
    conn.commit().await?;
    Ok(id)
}

/// Returns the user with this address, or creates one whose personal workspace depends on a subscription.
///
/// # Errors
/// The database's.
pub(crate) async fn find_or_create_paying<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    email: &str,
    name: &str,
) -> Result<UserId> {
    let row = user::ActiveModel {
        id: Set(UserId::fresh()),
        email: Set(email.to_owned()),
        name: Set(name.to_owned()),
        created_at: Set(cx.clock.now()),
    };
    let known = OnConflict::column(user::Column::Email).do_nothing().to_owned();
    let made = user::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    let found = user::Entity::find().filter(user::Column::Email.eq(email)).one(conn).await?;
    let person = found.ok_or_else(|| Error::internal("a person is gone"))?.id;
    if made == 1 {
        let workspace = format!("{name}'s workspace");
        add_workspace_on(cx, conn, &workspace, person, true, false).await?;
    }
    Ok(person)
}

/// Returns the user with this address.
///
/// # Errors
/// [`Code::NotFound`].
pub async fn by_email(cx: &Domain, email: &str) -> Result<UserId> {
    let email = normalized_email(email)?;
    let missing =
        || Error::new(Code::NotFound, format!("There is no person with the address {email}."));
    find(cx, &email).await?.ok_or_else(missing)
}

/// Returns the number of users.
///
/// # Errors
/// The database's.
pub async fn count(cx: &Domain) -> Result<u64> {
    Ok(user::Entity::find().count(&cx.db.write).await?)
}

async fn find(cx: &Domain, email: &str) -> Result<Option<UserId>> {
    let found =
        user::Entity::find().filter(user::Column::Email.eq(email)).one(&cx.db.write).await?;
    Ok(found.map(|row| row.id))
}

/// A workspace that a user may choose.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
}

/// Returns the workspaces in which a user has at least this role, sorted by name.
///
/// # Errors
/// The database's.
pub async fn workspaces_of(cx: &Domain, person: UserId, least: Role) -> Result<Vec<Workspace>> {
    let memberships = membership::Entity::find()
        .filter(membership::Column::UserId.eq(person))
        .all(&cx.db.read)
        .await?;
    let memberships = memberships.into_iter().filter(|membership| membership.role >= least);
    let ids: Vec<_> = memberships.map(|membership| membership.workspace_id).collect();
    let rows = workspace::Entity::find()
        .filter(workspace::Column::Id.is_in(ids))
        .order_by_asc(workspace::Column::Name)
        .all(&cx.db.read)
        .await?;
    Ok(rows.into_iter().map(|row| Workspace { id: row.id, name: row.name }).collect())
}

/// Checks the name of a user, a workspace or a brand.
pub fn check_name(name: &str) -> Result<()> {
    if fanfare_platforms::text::is_blank(name) {
        return Err(Error::field(
            Code::FieldRequired,
            "name",
            "The name is empty.",
            "Send a name.",
        ));
    }
    text::problem("name", name, TextRule::line(text::DEFAULT_MAX))
        .map_or(Ok(()), |flaw| Err(Error::violation(flaw)))
}

/// Returns an e-mail address in the form in which it is stored.
pub fn normalized_email(email: &str) -> Result<String> {
    canonical_address(email).ok_or_else(|| {
        let message = format!("{:?} is not an e-mail address.", excerpt(email.trim()));
        let remedy = "Send an address like ada@example.com, without a name.";
        Error::field(Code::InvalidField, "email", message, remedy)
    })
}

/// Creates a team workspace; its owner is an admin.
///
/// # Errors
/// The database's.
pub async fn create_workspace(cx: &Domain, name: &str, owner: UserId) -> Result<WorkspaceId> {
    check_name(name)?;
    let conn = cx.db.begin().await?;
    let id = add_workspace(cx, &conn, name, owner, false).await?;
    conn.commit().await?;
    Ok(id)
}

/// Creates a workspace with the highest plan, granted by an operator.
async fn add_workspace<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    name: &str,
    owner: UserId,
    is_personal: bool,
) -> Result<WorkspaceId> {
    add_workspace_on(cx, conn, name, owner, is_personal, true).await
}

/// Creates a workspace. Without an operator's grant it has no plan until there is a subscription.
async fn add_workspace_on<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    name: &str,
    owner: UserId,
    is_personal: bool,
    granted: bool,
) -> Result<WorkspaceId> {
    let terms = subscription::ActiveModel {
        plan_tier: Set(if granted { PlanTier::Agency } else { PlanTier::Starter }),
        api_addon: Set(granted),
        active: Set(granted),
        granted: Set(granted),
        ..Default::default()
    };
    insert_workspace(cx, conn, (name, is_personal), owner, terms).await
}

/// Creates a team workspace on the terms of its owner's personal workspace: a subscription changes both later, an
/// operator's plan goes over to the new one.
pub(crate) async fn add_team_workspace(
    cx: &Domain,
    conn: &DatabaseTransaction,
    name: &str,
    owner: UserId,
    paid: &subscription::Model,
) -> Result<WorkspaceId> {
    let terms = subscription::ActiveModel {
        plan_tier: Set(paid.plan_tier),
        api_addon: Set(paid.api_addon),
        active: Set(paid.active),
        granted: Set(paid.granted),
        ..Default::default()
    };
    insert_workspace(cx, conn, (name, false), owner, terms).await
}

async fn insert_workspace<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    (name, is_personal): (&str, bool),
    owner: UserId,
    terms: subscription::ActiveModel,
) -> Result<WorkspaceId> {
    let (id, now) = (WorkspaceId::fresh(), cx.clock.now());
    let row = workspace::ActiveModel {
        id: Set(id),
        name: Set(name.to_owned()),
        personal: Set(is_personal),
        owner_id: Set(owner),
        timezone: Set("UTC".to_owned()),
        event_sequence: Set(0),
        created_at: Set(now),
        deletion_at: Set(None),
    };
    workspace::Entity::insert(row).exec_without_returning(conn).await?;
    let paid = subscription::ActiveModel { workspace_id: Set(id), created_at: Set(now), ..terms };
    subscription::Entity::insert(paid).exec_without_returning(conn).await?;
    upsert_membership(conn, id, owner, Role::Admin, now).await?;
    Ok(id)
}

/// Creates the membership of a user in a workspace, or changes its role.
///
/// # Errors
/// [`Code::WorkspaceNotFound`].
pub async fn set_member(cx: &Domain, id: WorkspaceId, person: UserId, role: Role) -> Result<()> {
    require_workspace(cx, id).await?;
    upsert_membership(&cx.db.write, id, person, role, cx.clock.now()).await
}

/// Removes the membership of a user in a workspace, with its brand locks and the user's keys and OAuth grants for that
/// workspace.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], [`Code::NotFound`] if the user has no membership there, or [`Code::InvalidField`] if
/// the user owns the workspace.
pub async fn remove_member(cx: &Domain, id: WorkspaceId, person: UserId) -> Result<()> {
    let owner = require_workspace(cx, id).await?.owner_id;
    if owner == person {
        let message = "The person owns the workspace; its owner cannot be removed.";
        let remedy = "Remove another member.";
        return Err(Error::field(Code::InvalidField, "email", message, remedy));
    }
    let tx = cx.db.begin().await?;
    remove_member_on(&tx, id, person, cx.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// Removes the membership of a user within a transaction, with its locks, keys and grants.
pub(crate) async fn remove_member_on(
    tx: &DatabaseTransaction,
    id: WorkspaceId,
    person: UserId,
    now: Millis,
) -> Result<()> {
    let gone = membership::Entity::delete_by_id((id, person)).exec(tx).await?;
    if gone.rows_affected == 0 {
        return Err(not_a_member());
    }
    let locks = brand_lock::Entity::delete_many()
        .filter(brand_lock::Column::WorkspaceId.eq(id))
        .filter(brand_lock::Column::UserId.eq(person));
    locks.exec(tx).await?;
    end_invitations(tx, id, person).await?;
    keys::revoke_in(tx, id, person, now).await?;
    oauth_provider::end_in_workspace(tx, id, person, now).await?;
    Ok(())
}

/// Ends the open invitations that a user has sent for a workspace: who no longer manages the team lets nobody in.
pub(crate) async fn end_invitations<C: ConnectionTrait>(
    conn: &C,
    id: WorkspaceId,
    person: UserId,
) -> Result<()> {
    let sent = invitation::Entity::delete_many()
        .filter(invitation::Column::WorkspaceId.eq(id))
        .filter(invitation::Column::InvitedBy.eq(person));
    sent.exec(conn).await?;
    Ok(())
}

/// Returns the number of members of a workspace.
pub(crate) async fn count_members<C: ConnectionTrait>(conn: &C, id: WorkspaceId) -> Result<u64> {
    let ours = membership::Entity::find().filter(membership::Column::WorkspaceId.eq(id));
    Ok(ours.count(conn).await?)
}

fn not_a_member() -> Error {
    Error::new(Code::NotFound, "This user is not a member of the workspace.")
}

async fn upsert_membership<C: ConnectionTrait>(
    conn: &C,
    id: WorkspaceId,
    person: UserId,
    role: Role,
    now: i64,
) -> Result<()> {
    let row = membership::ActiveModel {
        workspace_id: Set(id),
        user_id: Set(person),
        role: Set(role),
        created_at: Set(now),
    };
    let again = OnConflict::columns([membership::Column::WorkspaceId, membership::Column::UserId])
        .update_column(membership::Column::Role)
        .to_owned();
    membership::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    if role < Role::Admin {
        end_invitations(conn, id, person).await?;
    }
    Ok(())
}

async fn require_workspace(cx: &Domain, id: WorkspaceId) -> Result<workspace::Model> {
    let found = workspace::Entity::find_by_id(id).one(&cx.db.write).await?;
    let missing = || Error::new(Code::WorkspaceNotFound, format!("There is no workspace {id}."));
    found.ok_or_else(missing)
}

/// Sets a workspace's plan and, if given, its API add-on.
///
/// # Errors
/// [`Code::WorkspaceNotFound`].
pub async fn set_plan(
    cx: &Domain,
    id: WorkspaceId,
    plan: PlanTier,
    addon: Option<bool>,
) -> Result<()> {
    require_workspace(cx, id).await?;
    let mut row = subscription::ActiveModel {
        workspace_id: Set(id),
        plan_tier: Set(plan),
        active: Set(true),
        granted: Set(true),
        ..Default::default()
    };
    if let Some(addon) = addon {
        row.api_addon = Set(addon);
    }
    subscription::Entity::update(row).exec(&cx.db.write).await?;
    billing::resume_posts(cx, id).await?;
    credits::update_for(cx, id).await
}
