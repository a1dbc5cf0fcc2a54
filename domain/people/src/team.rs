//! The members of a workspace as its admins manage them, and how much of its plan a workspace uses.

use fanfare_core::{
    Act,
    access::{Membership, Role, role_name},
    audit_trail,
    error::{Code, Error, Result},
    user_lock,
};
use fanfare_entities::{
    BrandId, Millis, UserId, WorkspaceId, brand, brand_lock, membership, subscription, user,
    workspace,
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use serde_json::json;

use crate::{
    credits, keys,
    quota::Quota,
    room::{self, Room},
    users,
};

/// A member of a workspace.
#[derive(Debug, Clone)]
pub struct Member {
    /// The person.
    pub user_id: UserId,
    /// Name for people.
    pub name: String,
    /// The address of the person.
    pub email: String,
    /// The role.
    pub role: Role,
    /// The person owns the workspace and pays for it.
    pub is_owner: bool,
    /// The brands that the membership is locked to; none for one that sees all.
    pub brands: Vec<BrandId>,
    /// The time the person became a member.
    pub since: Millis,
}

/// A number that a plan limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLimit {
    /// The limited thing, in words.
    pub what: &'static str,
    /// The number there is.
    pub used: u64,
    /// The number the plan allows.
    pub allowed: u64,
}

/// Lists the members of the membership's workspace, the first to join first. A membership that is locked to brands sees
/// only itself.
///
/// # Errors
/// The database's.
pub async fn members(act: &Act) -> Result<Vec<Member>> {
    let (conn, id) = (&act.cx.db.read, act.membership.workspace_id);
    let owner = credits::payer(conn, id).await?;
    let mut theirs = membership::Entity::find().filter(membership::Column::WorkspaceId.eq(id));
    if act.membership.brands.is_some() {
        theirs = theirs.filter(membership::Column::UserId.eq(act.caller.user_id));
    }
    let rows = theirs.order_by_asc(membership::Column::CreatedAt).all(conn).await?;
    let ids: Vec<_> = rows.iter().map(|row| row.user_id).collect();
    let people = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(conn).await?;
    let locks = brand_lock::Entity::find().filter(brand_lock::Column::WorkspaceId.eq(id));
    let locks = locks.all(conn).await?;
    let member = |row: membership::Model| {
        let person = people.iter().find(|person| person.id == row.user_id)?;
        let mine = locks.iter().filter(|lock| lock.user_id == row.user_id);
        Some(Member {
            user_id: row.user_id,
            name: person.name.clone(),
            email: person.email.clone(),
            role: row.role,
            is_owner: row.user_id == owner,
            brands: mine.map(|lock| lock.brand_id).collect(),
            since: row.created_at,
        })
    };
    Ok(rows.into_iter().filter_map(member).collect())
}

/// Gives a member of the membership's workspace another role.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller is an admin, [`Code::NotFound`], or
/// [`Code::InvalidField`] for the owner and the last admin.
pub async fn set_role(act: &Act, person: UserId, role: Role) -> Result<()> {
    let tx = begin_change(act).await?;
    let row = member(act, &tx, person).await?;
    if role < Role::Admin {
        require_another_admin(act, &tx, &row).await?;
    }
    let changed = membership::ActiveModel {
        workspace_id: Set(row.workspace_id),
        user_id: Set(row.user_id),
        role: Set(role),
        ..Default::default()
    };
    membership::Entity::update(changed).exec(&tx).await?;
    if role < Role::Admin {
        users::end_invitations(&tx, row.workspace_id, row.user_id).await?;
    }
    let details = json!({"from": role_name(row.role), "role": role_name(role)});
    audit_trail::note(&tx, act, ("member_role", target(person)), details).await?;
    Ok(tx.commit().await?)
}

/// Locks a member of the membership's workspace to these brands; to none: it sees the whole workspace.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller is an admin, [`Code::NotFound`],
/// [`Code::BrandNotFound`], or [`Code::InvalidField`] for the owner.
pub async fn set_brands(act: &Act, person: UserId, brands: &[BrandId]) -> Result<()> {
    let tx = begin_change(act).await?;
    let row = member(act, &tx, person).await?;
    if !brands.is_empty() {
        require_not_owner(&tx, &row).await?;
    }
    let known = brand::Entity::find()
        .filter(brand::Column::WorkspaceId.eq(row.workspace_id))
        .filter(brand::Column::Id.is_in(brands.iter().copied()))
        .all(&tx)
        .await?;
    if brands.iter().any(|id| known.iter().all(|brand| brand.id != *id)) {
        return Err(Error::new(Code::BrandNotFound, "There is no such brand."));
    }
    let before = brand_lock::Entity::delete_many()
        .filter(brand_lock::Column::WorkspaceId.eq(row.workspace_id))
        .filter(brand_lock::Column::UserId.eq(person));
    before.exec(&tx).await?;
    for brand in known {
        let lock = brand_lock::ActiveModel {
            workspace_id: Set(row.workspace_id),
            user_id: Set(person),
            brand_id: Set(brand.id),
        };
        brand_lock::Entity::insert(lock).exec_without_returning(&tx).await?;
    }
    let details = json!({"brands": brands});
    audit_trail::note(&tx, act, ("member_brands", target(person)), details).await?;
    Ok(tx.commit().await?)
}

/// Removes a member from the membership's workspace, with the person's keys and grants for it.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller is an admin, [`Code::NotFound`], or
/// [`Code::InvalidField`] for the owner and the last admin.
pub async fn remove(act: &Act, person: UserId) -> Result<()> {
    let tx = begin_change(act).await?;
    let row = member(act, &tx, person).await?;
    require_another_admin(act, &tx, &row).await?;
    users::remove_member_on(&tx, row.workspace_id, person, act.cx.clock.now()).await?;
    let details = json!({"role": role_name(row.role)});
    audit_trail::note(&tx, act, ("member_removed", target(person)), details).await?;
    Ok(tx.commit().await?)
}

/// Returns how entries of the audit log name a member.
fn target(person: UserId) -> String {
    format!("user:{person}")
}

/// Begins a change of members.
async fn begin_change(act: &Act) -> Result<DatabaseTransaction> {
    let tx = act.cx.db.begin().await?;
    lock(act, &tx).await?;
    Ok(tx)
}

/// Locks the team of the membership's workspace, and checks that the caller manages it. Changes of one team come one
/// after the other, so that two of them cannot remove the last admin.
pub async fn lock(act: &Act, tx: &DatabaseTransaction) -> Result<()> {
    require_manager(&act.membership)?;
    workspace::Entity::find_by_id(act.membership.workspace_id).lock_exclusive().one(tx).await?;
    // The caller may have lost the role, or been locked to a brand, while waiting.
    let mine = member(act, tx, act.caller.user_id).await?;
    let locked = brand_lock::Entity::find()
        .filter(brand_lock::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(brand_lock::Column::UserId.eq(act.caller.user_id))
        .count(tx)
        .await?;
    if mine.role < Role::Admin || locked > 0 {
        let message = "You no longer manage the workspace.";
        return Err(Error::new(Code::InsufficientWorkspacePermissions, message));
    }
    Ok(())
}

/// Fails unless the membership may manage the team: an admin who sees all brands. One that is locked to brands could
/// end its own lock otherwise.
pub fn require_manager(membership: &Membership) -> Result<()> {
    membership.require(Role::Admin)?;
    if membership.brands.is_none() {
        return Ok(());
    }
    let message = "A membership that is locked to brands does not manage the workspace.";
    Err(Error::new(Code::InsufficientWorkspacePermissions, message))
}

async fn member<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    person: UserId,
) -> Result<membership::Model> {
    let found = membership::Entity::find_by_id((act.membership.workspace_id, person));
    let absent = || Error::new(Code::NotFound, "This user is not a member of the workspace.");
    found.one(conn).await?.ok_or_else(absent)
}

async fn require_not_owner<C: ConnectionTrait>(conn: &C, row: &membership::Model) -> Result<()> {
    if credits::payer(conn, row.workspace_id).await? != row.user_id {
        return Ok(());
    }
    let message = "The person owns the workspace: the owner is an admin and sees all of it.";
    Err(Error::field(Code::InvalidField, "member", message, "Choose another member."))
}

async fn require_another_admin(
    act: &Act,
    tx: &DatabaseTransaction,
    row: &membership::Model,
) -> Result<()> {
    require_not_owner(tx, row).await?;
    let admins = membership::Entity::find()
        .filter(membership::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(membership::Column::Role.eq(Role::Admin))
        .count(tx)
        .await?;
    if row.role < Role::Admin || admins > 1 {
        return Ok(());
    }
    let message = "The workspace needs an admin, and this is the last one.";
    Err(Error::field(Code::InvalidField, "member", message, "Make another member an admin first."))
}

/// Creates a team workspace that the caller owns. It has the plan of the caller's personal workspace, and follows it.
///
/// # Errors
/// A bad name, [`Code::SubscriptionRequired`] without a live plan, or [`Code::PlanLimit`].
pub async fn create_workspace(act: &Act, name: &str) -> Result<WorkspaceId> {
    let (cx, owner) = (&act.cx, act.caller.user_id);
    let name = name.trim();
    users::check_name(name)?;
    let tx = cx.db.begin().await?;
    user_lock::lock(&tx, owner).await?;
    let owned = workspace::Entity::find().filter(workspace::Column::OwnerId.eq(owner));
    let owned = owned.all(&tx).await?;
    let own = owned.iter().find(|row| row.personal).map(|row| row.id);
    let paid = match own {
        Some(id) => subscription::Entity::find_by_id(id).one(&tx).await?,
        None => None,
    };
    let Some(paid) = paid.filter(|paid| paid.active) else {
        let message = "A team workspace needs a plan, and you have none.";
        return Err(Error::new(Code::SubscriptionRequired, message));
    };
    let teams = owned.iter().filter(|row| !row.personal).count() as u64;
    Quota::TeamWorkspaces.require_room(&crate::settings(cx).plans, paid.plan_tier, teams)?;
    let id = users::add_team_workspace(cx, &tx, name, owner, &paid).await?;
    let made = audit_trail::Change {
        action: "workspace_created",
        target: format!("workspace:{id}"),
        workspace: Some(id),
        details: json!({}),
    };
    audit_trail::write(&tx, &audit_trail::Author::of(act), made, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(id)
}

/// Returns the limits of the plan of the membership's workspace, and how much of each is used. A membership that is
/// locked to brands sees only what is its own: its keys.
///
/// # Errors
/// The database's.
pub async fn plan_limits(act: &Act) -> Result<Vec<PlanLimit>> {
    let (cx, place) = (&act.cx, &act.membership);
    let (conn, person) = (&cx.db.read, act.caller.user_id);
    let (_, keys) = keys::allowance(cx, conn, person).await?;
    let used = keys::list(cx, person).await?.len() as u64;
    let mut limits = vec![PlanLimit { what: "Your API keys", used, allowed: keys.into() }];
    let Some(room) = room::of(cx, place).await? else { return Ok(limits) };
    let mut add = |what, room: Room| {
        limits.push(PlanLimit { what, used: room.used, allowed: room.max });
    };
    add("Connected accounts", room.accounts.room());
    add("Members", room.members);
    add("Brands", room.brands);
    Ok(limits)
}
