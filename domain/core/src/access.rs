//! Callers, their memberships, and what they may do in a workspace.

mod membership;
mod resources;

use std::sync::Arc;

use fanfare_entities::{BrandId, KeyId, Millis, UserId, WorkspaceId, account, user};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

pub use fanfare_entities::membership::Role;
pub use fanfare_entities::subscription::PlanTier;
pub use resources::{
    membership_for_account, membership_for_brand, membership_for_comment,
    membership_for_connect_session, membership_for_conversation, membership_for_media,
    membership_for_post, membership_for_post_set, membership_for_suggestion,
    membership_for_video_job, membership_for_webhook,
};

use crate::{
    Domain, RefusalDetails,
    error::{Code, Error, Result},
};

/// A permission of a key.
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

    /// Returns the default scopes of a new key: all but the two billing scopes.
    #[must_use]
    pub fn default_set() -> Vec<Self> {
        let billing = |scope: &Self| matches!(scope, Self::BillingRead | Self::BillingWrite);
        Self::ALL.into_iter().filter(|scope| !billing(scope)).collect()
    }

    /// Returns the name of the scope, as replies show it.
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

    /// Returns the scope with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Returns the name of a role, as replies show it.
#[must_use]
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Editor => "editor",
        Role::Publisher => "publisher",
        Role::Admin => "admin",
    }
}

/// Returns the name of a plan, as replies show it.
#[must_use]
pub const fn plan_name(plan: PlanTier) -> &'static str {
    match plan {
        PlanTier::Starter => "starter",
        PlanTier::Pro => "pro",
        PlanTier::PowerUser => "power_user",
        PlanTier::Agency => "agency",
    }
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The user that the key acts for.
    pub user_id: UserId,
    /// The key.
    pub key_id: KeyId,
    /// The scopes of the key.
    pub scopes: Vec<Scope>,
    /// The only workspace that the key can reach; `None`: all workspaces of the user.
    pub key_workspace: Option<WorkspaceId>,
    /// The only brand of that workspace that the key can reach; `None`: all that the user's membership sees.
    pub key_brand: Option<BrandId>,
    /// The access token, if an OAuth client acts for the user; `key_id` is then the id of its grant.
    pub token: Option<AccessToken>,
    /// The time at which the credential expires, if it does. Nothing that lets others in outlives it.
    pub expires_at: Option<Millis>,
}

/// An access token of an OAuth client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The client.
    pub client_id: String,
    /// Its first characters.
    pub prefix: String,
}

impl Caller {
    /// Returns the caller for a user who is logged in with a browser: no key, and everything that the user's
    /// memberships allow.
    #[must_use]
    pub fn browser_session(user_id: UserId) -> Self {
        Self {
            user_id,
            key_id: KeyId(Uuid::nil()),
            scopes: Scope::ALL.to_vec(),
            key_workspace: None,
            key_brand: None,
            token: None,
            expires_at: None,
        }
    }

    /// Returns the end of something that the caller makes and that lets others in: `asked`, or the end of the caller's
    /// own credential if that comes first.
    #[must_use]
    pub fn capped(&self, asked: Millis) -> Millis {
        self.expires_at.map_or(asked, |own| own.min(asked))
    }

    /// Returns true for a user who is logged in with a browser, who needs no API add-on.
    #[must_use]
    pub const fn is_browser_session(&self) -> bool {
        self.key_id.0.is_nil()
    }
}

/// A user's membership in a workspace.
#[derive(Debug, Clone)]
pub struct Membership {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The workspace's name.
    pub workspace_name: String,
    /// True if it is a user's personal workspace.
    pub is_personal: bool,
    /// The user's role there.
    pub role: Role,
    /// The workspace's plan.
    pub plan: PlanTier,
    /// True if its API can be used.
    pub api_addon: bool,
    /// True if its subscription is paid.
    pub active: bool,
    /// The brands that a locked membership can see; `None`: all brands, and what has no brand.
    pub brands: Option<Vec<BrandId>>,
    /// The workspace's time zone, an IANA name.
    pub timezone: String,
    /// The time at which the workspace is deleted, if it is to be.
    pub deletion_at: Option<Millis>,
    /// The account that the request names, read together with the membership.
    pub account: Option<Arc<account::Model>>,
}

impl Membership {
    /// Returns true if the membership can see something of this brand.
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
        Err(Error::new(Code::InsufficientWorkspacePermissions, message).with_details(
            RefusalDetails { required_role: Some(role_name(needed)), ..RefusalDetails::default() },
        ))
    }

    /// Fails while the workspace's subscription is paused, or the workspace is to be deleted.
    ///
    /// # Errors
    /// [`Code::WorkspaceLeaving`], or [`Code::SubscriptionRequired`] with `reason`.
    pub fn require_active(&self) -> Result<()> {
        if self.deletion_at.is_some() {
            let message = "The workspace is to be deleted: reading works, changes do not.";
            return Err(Error::new(Code::WorkspaceLeaving, message));
        }
        if self.active {
            return Ok(());
        }
        let message = "The subscription is paused: reading works, changes do not.";
        let details = RefusalDetails { reason: Some("paused"), ..RefusalDetails::default() };
        Err(Error::new(Code::SubscriptionRequired, message).with_details(details))
    }
}

/// Returns the caller's membership in the given workspace; without one, in the key's workspace, or else the user's
/// personal workspace.
///
/// # Errors
/// [`Code::WorkspaceScopeMismatch`], or [`Code::WorkspaceNotFound`] for a workspace that the user is not in.
pub async fn membership(
    cx: &Domain,
    caller: &Caller,
    asked: Option<WorkspaceId>,
) -> Result<Membership> {
    match (caller.key_workspace, asked) {
        (Some(own), Some(asked)) if own != asked => Err(Error::new(
            Code::WorkspaceScopeMismatch,
            "API key is scoped to a different workspace",
        )),
        (Some(id), _) | (None, Some(id)) => {
            let found = membership::find(cx, caller, membership::WORKSPACE, id).await?;
            let absent = || Error::new(Code::WorkspaceNotFound, "There is no such workspace.");
            found.map(|(membership, _)| membership).ok_or_else(absent)
        }
        (None, None) => {
            let found = membership::find(cx, caller, membership::PERSONAL, caller.user_id).await?;
            let user = caller.user_id;
            let absent = || Error::internal(format!("user {user} has no personal workspace"));
            found.map(|(membership, _)| membership).ok_or_else(absent)
        }
    }
}

/// The owner of an embedded installation, whom its first start creates.
pub const OWNER: &str = "owner@localhost";

/// Returns the owner of an embedded installation, if there is one.
///
/// # Errors
/// The database's.
pub async fn owner(cx: &Domain) -> Result<Option<UserId>> {
    let found = user::Entity::find().filter(user::Column::Email.eq(OWNER));
    Ok(found.one(&cx.db.read).await?.map(|row| row.id))
}
