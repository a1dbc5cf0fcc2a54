//! Invitations into a team workspace: an e-mail with a link that works once and expires after seven days.
//!
//! The link proves that its holder reads the mail of the invited address. Somebody without a password sets one with it; everybody
//! else logs in first.

use fanfare_core::{
    Act, Domain, Tx,
    access::{PlanTier, role_name},
    audit_trail::{self, Author},
    batches,
    error::{Code, Error, Result},
    limits::{self, Bucket},
    passwords,
    token::{self, hash},
    user_lock,
};
use fanfare_entities::{
    Millis, UserId, WorkspaceId, invitation, invitation::Column, membership, membership::Role,
    subscription, user, user_password, workspace,
};
use fanfare_mail::Letter;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, sea_query::OnConflict,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::{
    mail::{self, MailTransport},
    quota::Quota,
    sign_in::{self, UserSession},
    signup, team, users,
};

/// The time for which an invitation can be accepted, in ms.
const LIFETIME: Millis = 7 * 24 * 3_600_000;

/// An invitation that can still be accepted, as admins see it.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// Its id.
    pub id: Uuid,
    /// The address of the invited person.
    pub email: String,
    /// The role that the person gets.
    pub role: Role,
    /// The time at which it expires.
    pub expires_at: Millis,
}

/// An invitation as its link shows it.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The address of the invited person.
    pub email: String,
    /// The name of the workspace.
    pub workspace: String,
    /// The role that the person gets.
    pub role: Role,
    /// The name of the admin who sent it.
    pub invited_by: String,
    /// True if the person has a password, and so logs in to accept.
    pub has_password: bool,
}

/// An accepted invitation of a person who had no password.
#[derive(Debug)]
pub struct Accepted {
    /// The token of the new log-in.
    pub session: SecretString,
    /// The workspace that the person has joined.
    pub workspace: WorkspaceId,
}

/// Lists the invitations of the membership's workspace that can still be accepted, the newest first.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller manages the team.
pub async fn list(act: &Act) -> Result<Vec<Invitation>> {
    team::require_manager(&act.membership)?;
    let pending = pending(act.membership.workspace_id, act.cx.clock.now());
    let rows = pending.order_by_desc(Column::CreatedAt).all(&act.cx.db.read).await?;
    let shown = |row: invitation::Model| Invitation {
        id: row.id,
        email: row.email,
        role: row.role,
        expires_at: row.expires_at,
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// Invites the person with this address. A second invitation to the same address replaces the first, whose link then fails.
/// Returns the link where no mail server sends it; otherwise only the address's owner gets it, since it proves the address.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller manages the team, [`Code::SubscriptionRequired`],
/// [`Code::InvalidField`] for a personal workspace, a member or a bad address, [`Code::PlanLimit`] or [`Code::RateLimited`].
pub async fn send(act: &Act, email: &str, role: Role) -> Result<Option<String>> {
    let (cx, workspace_id) = (&act.cx, act.membership.workspace_id);
    team::require_manager(&act.membership)?;
    act.membership.require_active()?;
    let email = users::normalized_email(email)?;
    if act.membership.is_personal {
        let message = "A personal workspace has no other members.";
        return Err(refused(message, "Create a team workspace and invite people there."));
    }
    let sender = act.caller.user_id.to_string();
    let counted = [(Bucket::Invitations, sender.as_str()), (Bucket::InvitedEmail, &hash(&email))];
    limits::admit_anonymous(cx, &counted).await?;
    let mut tx = Tx::begin(cx).await?;
    team::lock(act, tx.conn()).await?;
    require_new(&tx, workspace_id, &email).await?;
    let now = tx.now();
    let others = pending(workspace_id, now).filter(Column::Email.ne(&email));
    let used =
        users::count_members(tx.conn(), workspace_id).await? + others.count(tx.conn()).await?;
    Quota::Members.require_room(&crate::settings(cx).plans, act.membership.plan, used)?;
    let token = token::generate();
    let id = Uuid::now_v7();
    let row = invitation::ActiveModel {
        id: Set(id),
        workspace_id: Set(workspace_id),
        email: Set(email.clone()),
        role: Set(role),
        invited_by: Set(act.caller.user_id),
        token_hash: Set(hash(token.expose_secret())),
        created_at: Set(now),
        expires_at: Set(now + LIFETIME),
    };
    let again = OnConflict::columns([Column::WorkspaceId, Column::Email])
        .update_columns([
            Column::Id,
            Column::Role,
            Column::InvitedBy,
            Column::TokenHash,
            Column::CreatedAt,
            Column::ExpiresAt,
        ])
        .to_owned();
    invitation::Entity::insert(row).on_conflict(again).exec_without_returning(tx.conn()).await?;
    let link = format!("{}/invitations/{}", cx.settings.base_url, token.expose_secret());
    let inviter = user::Entity::find_by_id(act.caller.user_id).one(tx.conn()).await?;
    let inviter = inviter.map(|user| user.name).unwrap_or_default();
    let details = json!({"role": role_name(role)});
    audit_trail::note(tx.conn(), act, ("invitation", target(id)), details).await?;
    let transport = crate::mail::mail_transport(cx);
    if !matches!(transport, MailTransport::None) {
        let letter = Letter::invitation(&email, &act.membership.workspace_name, &inviter, &link);
        mail::write_to_address(&mut tx, &format!("invitation:{}", Uuid::now_v7()), &letter).await?;
    }
    tx.commit().await?;
    let is_sent = matches!(transport, MailTransport::Smtp(_));
    Ok((!is_sent).then_some(link))
}

/// Withdraws an invitation; its link fails from now on.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller manages the team, or [`Code::NotFound`].
pub async fn withdraw(act: &Act, id: Uuid) -> Result<()> {
    let tx = Tx::begin(&act.cx).await?;
    team::lock(act, tx.conn()).await?;
    let ours = invitation::Entity::delete_many()
        .filter(Column::Id.eq(id))
        .filter(Column::WorkspaceId.eq(act.membership.workspace_id));
    if ours.exec(tx.conn()).await?.rows_affected == 0 {
        return Err(ended());
    }
    audit_trail::note(tx.conn(), act, ("invitation_withdrawn", target(id)), json!({})).await?;
    tx.commit().await
}

/// Finds the invitation of a link.
///
/// # Errors
/// [`Code::NotFound`], the same for every reason.
pub async fn find(cx: &Domain, token: &str) -> Result<Offer> {
    let conn = &cx.db.read;
    let row = live(conn, token, cx.clock.now()).await?;
    let workspace = workspace::Entity::find_by_id(row.workspace_id).one(conn).await?;
    let inviter = user::Entity::find_by_id(row.invited_by).one(conn).await?;
    let invited = user::Entity::find().filter(user::Column::Email.eq(&row.email)).one(conn).await?;
    let has_password = match invited {
        Some(user) => user_password::Entity::find_by_id(user.id).one(conn).await?.is_some(),
        None => false,
    };
    Ok(Offer {
        email: row.email,
        workspace: workspace.ok_or_else(ended)?.name,
        role: row.role,
        invited_by: inviter.map(|user| user.name).unwrap_or_default(),
        has_password,
    })
}

/// Accepts an invitation for the user who is logged in. Returns the workspace.
///
/// # Errors
/// [`Code::NotFound`] if the link is no longer good, [`Code::InvalidField`] if it was sent to somebody else, or
/// [`Code::PlanLimit`].
pub async fn accept(
    cx: &Domain,
    token: &str,
    (session, cookie): (&UserSession, &SecretString),
) -> Result<WorkspaceId> {
    let tx = Tx::begin(cx).await?;
    sign_in::lock_session(tx.conn(), (session, cookie)).await?;
    let row = live(tx.conn(), token, tx.now()).await?;
    if row.email != session.email {
        let message = "The invitation was sent to another address.";
        return Err(refused(message, "Log in as the user with that address."));
    }
    join(&tx, &row, session.user_id).await?;
    tx.commit().await?;
    Ok(row.workspace_id)
}

/// Accepts an invitation for a person who has no password: creates the user if there is none, sets the password and logs in.
///
/// # Errors
/// [`Code::NotFound`] if the link is no longer good, [`Code::InvalidField`] for a bad name or password or for a user who has a
/// password, or [`Code::PlanLimit`].
pub async fn accept_as_new(
    cx: &Domain,
    token: &str,
    name: &str,
    password: SecretString,
) -> Result<Accepted> {
    let email = live(&cx.db.read, token, cx.clock.now()).await?.email;
    let name = name.trim();
    users::check_name(name)?;
    let password_hash = passwords::hash(password, &email).await?;
    let tx = Tx::begin(cx).await?;
    let row = live(tx.conn(), token, tx.now()).await?;
    let user_id = users::find_or_create_paying(cx, tx.conn(), &row.email, name).await?;
    user_lock::lock(tx.conn(), user_id).await?;
    if user_password::Entity::find_by_id(user_id).one(tx.conn()).await?.is_some() {
        let message = "The user with this address has a password already.";
        return Err(refused(message, "Log in and open the link again."));
    }
    sign_in::store_password(tx.conn(), user_id, password_hash, tx.now()).await?;
    signup::mark_ready(tx.conn(), user_id, tx.now()).await?;
    let session = sign_in::open_session(tx.conn(), user_id, tx.now()).await?;
    join(&tx, &row, user_id).await?;
    tx.commit().await?;
    Ok(Accepted { session, workspace: row.workspace_id })
}

/// Makes a user a member and uses the invitation up. A user who is a member already keeps the role.
async fn join(tx: &Tx, row: &invitation::Model, user_id: UserId) -> Result<()> {
    let (conn, id) = (tx.conn(), row.workspace_id);
    workspace::Entity::find_by_id(id).lock_exclusive().one(conn).await?.ok_or_else(ended)?;
    let used = invitation::Entity::delete_many()
        .filter(Column::Id.eq(row.id))
        .filter(Column::TokenHash.eq(&row.token_hash));
    if used.exec(conn).await?.rows_affected != 1 {
        return Err(ended());
    }
    if membership::Entity::find_by_id((id, user_id)).one(conn).await?.is_some() {
        return Ok(());
    }
    let paid = subscription::Entity::find_by_id(id).one(conn).await?;
    let plan = paid.map_or(PlanTier::Starter, |paid| paid.plan_tier);
    let plans = &crate::settings(tx.domain()).plans;
    Quota::Members.require_room(plans, plan, users::count_members(conn, id).await?)?;
    let joined = membership::ActiveModel {
        workspace_id: Set(id),
        user_id: Set(user_id),
        role: Set(row.role),
        created_at: Set(tx.now()),
    };
    membership::Entity::insert(joined).exec_without_returning(conn).await?;
    let change = audit_trail::Change {
        action: "member",
        target: format!("user:{user_id}"),
        workspace: Some(id),
        details: json!({"role": role_name(row.role), "invitation": row.id}),
    };
    audit_trail::write(conn, &Author::user(user_id, ""), change, tx.now()).await
}

/// Returns how entries of the audit log name an invitation.
fn target(id: Uuid) -> String {
    format!("invitation:{id}")
}

/// Fails for a person who is a member already.
async fn require_new(tx: &Tx, workspace: WorkspaceId, email: &str) -> Result<()> {
    let known = user::Entity::find().filter(user::Column::Email.eq(email)).one(tx.conn()).await?;
    let Some(user) = known else { return Ok(()) };
    if membership::Entity::find_by_id((workspace, user.id)).one(tx.conn()).await?.is_none() {
        return Ok(());
    }
    Err(refused("The person is a member already.", "Change the member's role instead."))
}

fn pending(workspace: WorkspaceId, now: Millis) -> sea_orm::Select<invitation::Entity> {
    let ours = invitation::Entity::find().filter(Column::WorkspaceId.eq(workspace));
    ours.filter(Column::ExpiresAt.gt(now))
}

async fn live<C: ConnectionTrait>(conn: &C, token: &str, now: Millis) -> Result<invitation::Model> {
    let by_hash = invitation::Entity::find().filter(Column::TokenHash.eq(hash(token)));
    let found = by_hash.filter(Column::ExpiresAt.gt(now)).one(conn).await?;
    found.ok_or_else(ended)
}

fn ended() -> Error {
    let message = "This invitation has expired, was used, was withdrawn, or was replaced by a newer one. \
         Ask the person who invited you for another.";
    Error::new(Code::NotFound, message)
}

fn refused(message: &str, remedy: &str) -> Error {
    Error::field(Code::InvalidField, "email", message, remedy)
}

/// Deletes invitations that have expired.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let end = Column::ExpiresAt;
    batches::delete::<invitation::Entity>(cx, end, end.lte(cx.clock.now())).await
}
