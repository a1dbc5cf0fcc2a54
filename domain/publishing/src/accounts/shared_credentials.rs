//! Accounts that came from one login and hold the same tokens: the channels of one Slack workspace, the pages of one
//! LinkedIn member.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::account;
use fanfare_platforms::{
    self as platforms, ConnectSpec, Secrets,
    oauth::{ACCESS_TOKEN, REFRESH_TOKEN},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::session::session;

/// An account with its secrets.
pub(super) type Holder = (account::Model, Secrets);

/// Returns all accounts that hold the tokens of `row`, by their ids, including `row` itself.
///
/// # Errors
/// The database's.
pub(super) async fn holders_of(
    cx: &Domain,
    row: &account::Model,
    secrets: &Secrets,
) -> Result<Vec<Holder>> {
    let platform = crate::platforms::from_row(&row.platform)?;
    let shares = match platforms::find(platform).spec().connect {
        ConnectSpec::Oauth(oauth) => oauth.shares_tokens,
        ConnectSpec::Credentials(_) => false,
    };
    let token = token_of(secrets);
    if !shares || token.is_empty() {
        return Ok(vec![(row.clone(), secrets.clone())]);
    }
    let near = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(row.workspace_id))
        .filter(account::Column::Platform.eq(platform.as_str()))
        .filter(account::Column::Sandbox.eq(row.sandbox))
        .filter(account::Column::SecretId.is_not_null())
        .order_by_asc(account::Column::Id)
        .all(&cx.db.write)
        .await?;
    let mut sharing = Vec::new();
    for one in near {
        let Some(known) = session(cx, &one).await? else { continue };
        if token_of(&known.secrets) == token {
            sharing.push((one, known.secrets));
        }
    }
    Ok(sharing)
}

/// Returns the token that identifies shared credentials: the refresh token, or else the only token.
fn token_of(secrets: &Secrets) -> &str {
    match secrets.expose(REFRESH_TOKEN) {
        "" => secrets.expose(ACCESS_TOKEN),
        token => token,
    }
}
