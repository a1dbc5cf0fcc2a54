//! Settings of users, for themselves and for their workspaces: names, the time zone, passwords and log-ins.

use fanfare_core::{
    Act, Domain,
    error::{Error, Result, Violations},
    input::{
        self,
        text::{self, TextRule},
    },
    passwords,
    token::hash,
};
use fanfare_entities::{Millis, user, user_session, workspace};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    sign_in::{self, UserSession},
    team,
};

/// The longest name of a user or a workspace, in characters.
pub const MAX_NAME_CHARS: usize = 100;

/// A log-in of a user.
#[derive(Debug, Clone)]
pub struct ActiveLogin {
    /// The time at which it began.
    pub since: Millis,
    /// The time at which it ends by itself.
    pub until: Millis,
    /// True if it is the log-in of this request.
    pub is_this: bool,
}

/// Changes the name of a user.
///
/// # Errors
/// [`fanfare_core::Code::FieldRequired`] or [`fanfare_core::Code::InvalidField`].
pub async fn rename(cx: &Domain, session: &UserSession, name: &str) -> Result<()> {
    let mut broken = Violations::default();
    let name = checked_name(name, &mut broken);
    Error::check(broken)?;
    let changed =
        user::ActiveModel { id: Set(session.user_id), name: Set(name), ..Default::default() };
    user::Entity::update(changed).exec(&cx.db.write).await?;
    Ok(())
}

/// Returns the name and the time zone of the membership's workspace.
///
/// # Errors
/// The database's.
pub async fn workspace_settings(act: &Act) -> Result<(String, String)> {
    let found = workspace::Entity::find_by_id(act.membership.workspace_id);
    let row = found.one(&act.cx.db.read).await?;
    let row = row.ok_or_else(|| Error::internal("a workspace with members is gone"))?;
    Ok((row.name, row.timezone))
}

/// Changes the name and the time zone of the membership's workspace.
///
/// # Errors
/// [`fanfare_core::Code::InsufficientWorkspacePermissions`] unless the caller is an admin who sees all brands,
/// [`fanfare_core::Code::SubscriptionRequired`] while the subscription is paused, or everything that is wrong with the values.
pub async fn set_workspace(act: &Act, name: &str, timezone: &str) -> Result<()> {
    act.membership.require_active()?;
    team::require_manager(&act.membership)?;
    let mut broken = Violations::default();
    let name = checked_name(name, &mut broken);
    let zone = Error::merge(broken, input::zone(timezone))?;
    let changed = workspace::ActiveModel {
        id: Set(act.membership.workspace_id),
        name: Set(name),
        timezone: Set(zone.name().to_owned()),
        ..Default::default()
    };
    let tx = act.cx.db.begin().await?;
    team::lock(act, &tx).await?;
    workspace::Entity::update(changed).exec(&tx).await?;
    Ok(tx.commit().await?)
}

fn checked_name(name: &str, broken: &mut Violations) -> String {
    let name = name.trim();
    if name.is_empty() {
        let message = "name is empty.".to_owned();
        let remedy = "Send a name.";
        broken.push_with(|| {
            fanfare_core::error::violation(
                fanfare_core::Code::FieldRequired,
                "name",
                message,
                remedy,
            )
        });
    } else if let Some(flaw) = text::problem("name", name, TextRule::line(MAX_NAME_CHARS)) {
        broken.push_with(|| flaw);
    }
    name.to_owned()
}

/// Changes the password of a user, who must give the current one, and ends all log-ins and password links of the user.
///
/// # Errors
/// [`fanfare_core::Code::InvalidField`] for a wrong or a weak password, [`fanfare_core::Code::RateLimited`] if too many were tried.
pub async fn change_password(
    cx: &Domain,
    who: (&UserSession, &SecretString),
    (current, new): (SecretString, SecretString),
) -> Result<()> {
    sign_in::confirm_password(cx, who, current).await?;
    let hashed = passwords::hash(new, &who.0.email).await?;
    let tx = cx.db.begin().await?;
    sign_in::lock_session(&tx, who).await?;
    sign_in::store_password(&tx, who.0.user_id, hashed, cx.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// Lists the log-ins of a user, latest first.
///
/// # Errors
/// The database's.
pub async fn active_logins(
    cx: &Domain,
    (session, token): (&UserSession, &SecretString),
) -> Result<Vec<ActiveLogin>> {
    let this = hash(token.expose_secret());
    let rows = user_session::Entity::find()
        .filter(user_session::Column::UserId.eq(session.user_id))
        .filter(user_session::Column::ExpiresAt.gt(cx.clock.now()))
        .order_by_desc(user_session::Column::CreatedAt)
        .all(&cx.db.read)
        .await?;
    let shown = |row: user_session::Model| ActiveLogin {
        since: row.created_at,
        until: row.expires_at,
        is_this: row.hash == this,
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// Ends all log-ins of a user except the one of this request.
///
/// # Errors
/// The database's.
pub async fn end_other_logins(
    cx: &Domain,
    (session, token): (&UserSession, &SecretString),
) -> Result<()> {
    user_session::Entity::delete_many()
        .filter(user_session::Column::UserId.eq(session.user_id))
        .filter(user_session::Column::Hash.ne(hash(token.expose_secret())))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
