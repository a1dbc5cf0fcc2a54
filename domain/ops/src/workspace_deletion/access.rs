//! Ends what lets people and programs into a workspace that is to be deleted. Its members stay, who may stop it.

use fanfare_core::error::Result;
use fanfare_entities::{
    Millis, WorkspaceId, api_key, connect_session, connect_session::ConnectStatus, drop_session,
    invitation, oauth_code, oauth_grant, upload,
};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, sea_query::Expr};

/// The states of a connect session that has not ended.
const OPEN: [ConnectStatus; 4] = [
    ConnectStatus::Created,
    ConnectStatus::Opened,
    ConnectStatus::AwaitingProvider,
    ConnectStatus::AwaitingCredentials,
];

/// Ends keys, tools, invitations, and links on which people connect accounts or send files.
///
/// # Errors
/// The database's.
pub(super) async fn end_all(tx: &DatabaseTransaction, id: WorkspaceId, now: Millis) -> Result<()> {
    api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(now))
        .filter(api_key::Column::WorkspaceId.eq(id))
        .filter(api_key::Column::RevokedAt.is_null())
        .exec(tx)
        .await?;
    oauth_grant::Entity::update_many()
        .col_expr(oauth_grant::Column::EndedAt, Expr::value(now))
        .filter(oauth_grant::Column::WorkspaceId.eq(id))
        .filter(oauth_grant::Column::EndedAt.is_null())
        .exec(tx)
        .await?;
    oauth_code::Entity::delete_many()
        .filter(oauth_code::Column::WorkspaceId.eq(id))
        .exec(tx)
        .await?;
    invitation::Entity::delete_many()
        .filter(invitation::Column::WorkspaceId.eq(id))
        .exec(tx)
        .await?;
    connect_session::Entity::update_many()
        .col_expr(connect_session::Column::Status, Expr::value(ConnectStatus::Cancelled))
        .col_expr(connect_session::Column::UpdatedAt, Expr::value(now))
        .filter(connect_session::Column::WorkspaceId.eq(id))
        .filter(connect_session::Column::Status.is_in(OPEN))
        .exec(tx)
        .await?;
    upload::Entity::update_many()
        .col_expr(upload::Column::ExpiresAt, Expr::value(now))
        .filter(upload::Column::WorkspaceId.eq(id))
        .filter(upload::Column::ExpiresAt.gt(now))
        .exec(tx)
        .await?;
    drop_session::Entity::update_many()
        .col_expr(drop_session::Column::ExpiresAt, Expr::value(now))
        .filter(drop_session::Column::WorkspaceId.eq(id))
        .filter(drop_session::Column::ExpiresAt.gt(now))
        .exec(tx)
        .await?;
    Ok(())
}
