//! Who asks, and what that person may do in which workspace.

mod seat;

use std::sync::Arc;

use fanfare_entities::{
    AccountId, BrandId, ConnectSessionId, KeyId, PostId, UserId, WebhookId, WorkspaceId, account,
    media_asset,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Value};
use uuid::Uuid;

pub use fanfare_entities::membership::Role;
pub use fanfare_entities::subscription::PlanTier;

use crate::{
    Details, Domain,
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
    /// The account that the request names, as it was read with the seat.
    pub account: Option<Arc<account::Model>>,
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
            .with(Details { required_role: Some(role_name(needed)), ..Details::default() }))
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
        (Some(id), _) | (None, Some(id)) => {
            let found = seat::at(cx, caller, seat::WORKSPACE, id).await?;
            let absent = || Error::new(Code::WorkspaceNotFound, "There is no such workspace.");
            found.map(|(seat, _)| seat).ok_or_else(absent)
        }
        (None, None) => {
            let found = seat::at(cx, caller, seat::PERSONAL, caller.user_id).await?;
            let user = caller.user_id;
            let absent = || Error::internal(format!("user {user} has no personal workspace"));
            found.map(|(seat, _)| seat).ok_or_else(absent)
        }
    }
}

/// The seat in a resource's workspace; to somebody who is not in it, or whose seat does not see its brand, the
/// resource does not exist.
async fn seat_over(
    cx: &Domain,
    caller: &Caller,
    (place, id): (&str, impl Into<Value>),
    absent: Error,
) -> Result<Seat> {
    let reached = |seat: &Seat| caller.key_workspace.is_none_or(|own| own == seat.workspace_id);
    match seat::at(cx, caller, place, id).await? {
        Some((seat, brand)) if reached(&seat) && seat.sees(brand) => Ok(seat),
        _ => Err(absent),
    }
}

/// The caller's seat over a post.
///
/// # Errors
/// [`Code::PostNotFound`].
pub async fn seat_over_post(cx: &Domain, caller: &Caller, id: PostId) -> Result<Seat> {
    let absent = Error::new(Code::PostNotFound, format!("There is no post {id}."));
    seat_over(cx, caller, (seat::POST, id), absent).await
}

/// The caller's seat over a connected account.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn seat_over_account(cx: &Domain, caller: &Caller, id: AccountId) -> Result<Seat> {
    let absent = Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    seat_over(cx, caller, (seat::ACCOUNT, id), absent).await
}

/// The caller's seat over a webhook.
///
/// # Errors
/// [`Code::WebhookNotFound`].
pub async fn seat_over_webhook(cx: &Domain, caller: &Caller, id: WebhookId) -> Result<Seat> {
    let absent = Error::new(Code::WebhookNotFound, "There is no such webhook.");
    seat_over(cx, caller, (seat::WEBHOOK, id), absent).await
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
    let absent = Error::new(Code::ConnectSessionNotFound, "There is no such connect session.");
    seat_over(cx, caller, (seat::CONNECT_SESSION, id), absent).await
}

/// The caller's seat over a brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn seat_over_brand(cx: &Domain, caller: &Caller, id: BrandId) -> Result<Seat> {
    let absent = Error::new(Code::BrandNotFound, "There is no such brand.");
    seat_over(cx, caller, (seat::BRAND, id), absent).await
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
    match seat::at(cx, caller, seat::WORKSPACE, workspace).await? {
        Some((seat, _)) if seat.brands.is_none() || brought_by == Some(caller.user_id) => Ok(seat),
        _ => Err(absent()),
    }
}
