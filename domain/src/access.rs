//! Who asks, and what that person may do in which workspace.

use fanfare_entities::{
    AccountId, BrandId, ConnectSessionId, KeyId, PostId, UserId, WebhookId, WorkspaceId, account,
    brand, brand_lock, connect_session, media_asset, membership, post, subscription, webhook,
    workspace,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

pub use fanfare_entities::membership::Role;
pub use fanfare_entities::subscription::PlanTier;

use crate::{
    Domain,
    error::{Code, Error, Result},
};

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is the scope of the same name")]
pub enum Scope {
    AccountsRead,
    AccountsWrite,
    PostsRead,
    PostsWrite,
    MediaWrite,
    AnalyticsRead,
    BillingRead,
    BillingWrite,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 8] = [
        Self::AccountsRead,
        Self::AccountsWrite,
        Self::PostsRead,
        Self::PostsWrite,
        Self::MediaWrite,
        Self::AnalyticsRead,
        Self::BillingRead,
        Self::BillingWrite,
    ];

    /// What a new key has unless something else is asked for: all but the two billing scopes.
    #[must_use]
    pub fn default_set() -> Vec<Self> {
        let billing = |scope: &Self| matches!(scope, Self::BillingRead | Self::BillingWrite);
        Self::ALL.into_iter().filter(|scope| !billing(scope)).collect()
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccountsRead => "accounts:read",
            Self::AccountsWrite => "accounts:write",
            Self::PostsRead => "posts:read",
            Self::PostsWrite => "posts:write",
            Self::MediaWrite => "media:write",
            Self::AnalyticsRead => "analytics:read",
            Self::BillingRead => "billing:read",
            Self::BillingWrite => "billing:write",
        }
    }

    /// The scope with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// A role's name, as replies show it.
#[must_use]
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Editor => "editor",
        Role::Publisher => "publisher",
        Role::Admin => "admin",
    }
}

/// A plan's name, as replies show it.
#[must_use]
pub const fn plan_name(plan: PlanTier) -> &'static str {
    match plan {
        PlanTier::Starter => "starter",
        PlanTier::Pro => "pro",
        PlanTier::PowerUser => "power_user",
        PlanTier::Agency => "agency",
    }
}

/// Whose request it is.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The person the key acts as.
    pub user_id: UserId,
    /// The key.
    pub key_id: KeyId,
    /// What the key may be used for.
    pub scopes: Vec<Scope>,
    /// The only workspace the key reaches, if it is scoped.
    pub key_workspace: Option<WorkspaceId>,
}

impl Caller {
    /// A person at a page: what the person's own seats allow, and no key.
    #[must_use]
    pub fn at_a_page(user_id: UserId) -> Self {
        Self { user_id, key_id: KeyId(Uuid::nil()), scopes: Vec::new(), key_workspace: None }
    }
}

/// A person's place in a workspace.
#[derive(Debug, Clone)]
pub struct Seat {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// What the person may do there.
    pub role: Role,
    /// The workspace's plan.
    pub plan: PlanTier,
    /// May its API be used?
    pub api_addon: bool,
    /// Is its subscription paid?
    pub active: bool,
    /// The brands a locked seat sees; `None`: all, and what has no brand.
    pub brands: Option<Vec<BrandId>>,
    /// The workspace's zone, an IANA name.
    pub timezone: String,
}

impl Seat {
    /// May this seat see something of this brand?
    #[must_use]
    pub fn sees(&self, brand: Option<BrandId>) -> bool {
        match (&self.brands, brand) {
            (None, _) => true,
            (Some(brands), Some(brand)) => brands.contains(&brand),
            (Some(_), None) => false,
        }
    }

    /// Fails unless the role is at least `needed`.
    ///
    /// # Errors
    /// [`Code::InsufficientWorkspacePermissions`] with `required_role`.
    pub fn require(&self, needed: Role) -> Result<()> {
        if self.role >= needed {
            return Ok(());
        }
        let message = format!(
            "This needs the role {} in the workspace; yours is {}.",
            role_name(needed),
            role_name(self.role)
        );
        Err(Error::new(Code::InsufficientWorkspacePermissions, message)
            .with("required_role", role_name(needed)))
    }
}

/// The caller's seat in the workspace that was asked for; without one, in the key's workspace or else the person's own.
///
/// # Errors
/// [`Code::WorkspaceScopeMismatch`], or [`Code::WorkspaceNotFound`] for a workspace the person is not in.
pub async fn seat(cx: &Domain, caller: &Caller, asked: Option<WorkspaceId>) -> Result<Seat> {
    match (caller.key_workspace, asked) {
        (Some(own), Some(asked)) if own != asked => Err(Error::new(
            Code::WorkspaceScopeMismatch,
            "API key is scoped to a different workspace",
        )),
        (Some(id), _) | (None, Some(id)) => member_seat(cx, caller, id).await,
        (None, None) => {
            let id = personal(cx, caller.user_id).await?;
            member_seat(cx, caller, id).await
        }
    }
}

/// The person's own workspace.
///
/// # Errors
/// The database's; every person has one.
pub async fn personal(cx: &Domain, user: UserId) -> Result<WorkspaceId> {
    workspace::Entity::find()
        .select_only()
        .column(workspace::Column::Id)
        .filter(workspace::Column::OwnerId.eq(user))
        .filter(workspace::Column::Personal.eq(true))
        .into_tuple()
        .one(&cx.db.read)
        .await?
        .ok_or_else(|| Error::internal(format!("user {user} has no personal workspace")))
}

async fn member_seat(cx: &Domain, caller: &Caller, id: WorkspaceId) -> Result<Seat> {
    let db = &cx.db.read;
    let not_found = || Error::new(Code::WorkspaceNotFound, "There is no such workspace.");
    let member = membership::Entity::find_by_id((id, caller.user_id))
        .one(db)
        .await?
        .ok_or_else(not_found)?;
    let workspace = workspace::Entity::find_by_id(id).one(db).await?.ok_or_else(not_found)?;
    let paid = subscription::Entity::find_by_id(id).one(db).await?;
    let locks: Vec<BrandId> = brand_lock::Entity::find()
        .select_only()
        .column(brand_lock::Column::BrandId)
        .filter(brand_lock::Column::WorkspaceId.eq(id))
        .filter(brand_lock::Column::UserId.eq(caller.user_id))
        .into_tuple()
        .all(db)
        .await?;
    Ok(Seat {
        workspace_id: id,
        role: member.role,
        plan: paid.as_ref().map_or(PlanTier::Starter, |paid| paid.plan_tier),
        api_addon: paid.as_ref().is_some_and(|paid| paid.api_addon && paid.active),
        active: paid.is_some_and(|paid| paid.active),
        brands: (!locks.is_empty()).then_some(locks),
        timezone: workspace.timezone,
    })
}

/// The seat in a resource's workspace; to somebody who is not in it, or whose seat does not see its brand, the
/// resource does not exist.
async fn seat_over(
    cx: &Domain,
    caller: &Caller,
    place: Option<(WorkspaceId, Option<BrandId>)>,
    absent: Error,
) -> Result<Seat> {
    let Some((workspace, brand)) = place else { return Err(absent) };
    if caller.key_workspace.is_some_and(|own| own != workspace) {
        return Err(absent);
    }
    match member_seat(cx, caller, workspace).await {
        Ok(seat) if seat.sees(brand) => Ok(seat),
        Ok(_) => Err(absent),
        Err(error) if error.code() == Code::WorkspaceNotFound => Err(absent),
        Err(error) => Err(error),
    }
}

/// The caller's seat over a post.
///
/// # Errors
/// [`Code::PostNotFound`].
pub async fn seat_over_post(cx: &Domain, caller: &Caller, id: PostId) -> Result<Seat> {
    let place = post::Entity::find_by_id(id)
        .select_only()
        .columns([post::Column::WorkspaceId, post::Column::BrandId])
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    seat_over(cx, caller, place, Error::new(Code::PostNotFound, format!("There is no post {id}.")))
        .await
}

/// The caller's seat over a connected account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn seat_over_account(cx: &Domain, caller: &Caller, id: AccountId) -> Result<Seat> {
    let place = account::Entity::find_by_id(id)
        .select_only()
        .columns([account::Column::WorkspaceId, account::Column::BrandId])
        .filter(account::Column::Status.ne(account::AccountStatus::Disconnected))
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    seat_over(cx, caller, place, absent).await
}

/// The caller's seat over a webhook.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn seat_over_webhook(cx: &Domain, caller: &Caller, id: WebhookId) -> Result<Seat> {
    let workspace: Option<WorkspaceId> = webhook::Entity::find_by_id(id)
        .select_only()
        .column(webhook::Column::WorkspaceId)
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = Error::new(Code::WebhookNotFound, "There is no such webhook.");
    let Some(workspace) = workspace else { return Err(absent) };
    // A webhook tells of the whole workspace, so a seat that is locked to brands has none.
    seat_over(cx, caller, Some((workspace, None)), absent).await
}

/// The caller's seat over a connect session.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`].
pub async fn seat_over_connect_session(
    cx: &Domain,
    caller: &Caller,
    id: ConnectSessionId,
) -> Result<Seat> {
    let place = connect_session::Entity::find_by_id(id)
        .select_only()
        .columns([connect_session::Column::WorkspaceId, connect_session::Column::BrandId])
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = Error::new(Code::ConnectSessionNotFound, "There is no such connect session.");
    seat_over(cx, caller, place, absent).await
}

/// The caller's seat over a brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn seat_over_brand(cx: &Domain, caller: &Caller, id: BrandId) -> Result<Seat> {
    let workspace: Option<WorkspaceId> = brand::Entity::find_by_id(id)
        .select_only()
        .column(brand::Column::WorkspaceId)
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = Error::new(Code::BrandNotFound, "There is no such brand.");
    seat_over(cx, caller, workspace.map(|place| (place, Some(id))), absent).await
}

/// The caller's seat over a file; a seat that is locked to brands has one over what its own person brought.
///
/// # Errors
/// [`Code::MediaNotFound`].
pub async fn seat_over_media(cx: &Domain, caller: &Caller, uid: Uuid) -> Result<Seat> {
    let place: Option<(WorkspaceId, Option<UserId>)> = media_asset::Entity::find()
        .select_only()
        .columns([media_asset::Column::WorkspaceId, media_asset::Column::CreatedBy])
        .filter(media_asset::Column::Uid.eq(uid))
        .into_tuple()
        .one(&cx.db.read)
        .await?;
    let absent = || Error::new(Code::MediaNotFound, "There is no such file.");
    let Some((workspace, brought_by)) = place else { return Err(absent()) };
    if caller.key_workspace.is_some_and(|own| own != workspace) {
        return Err(absent());
    }
    match member_seat(cx, caller, workspace).await {
        Ok(seat) if seat.brands.is_none() || brought_by == Some(caller.user_id) => Ok(seat),
        Err(error) if error.code() != Code::WorkspaceNotFound => Err(error),
        Ok(_) | Err(_) => Err(absent()),
    }
}
