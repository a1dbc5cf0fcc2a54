//! Token revocation (RFC 7009).

use fanfare_core::{Domain, audit_trail::Author};
use fanfare_entities::{oauth_grant, oauth_token, oauth_token::Column, oauth_token::TokenKind};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};

use super::{grants, refusal::OauthResult, tokens};

/// Revokes an access token, or the whole grant if it is a refresh token. Tokens of other clients and unknown texts are
/// ignored, without saying which they are.
///
/// # Errors
/// The database's.
pub async fn revoke(cx: &Domain, client_id: &str, token: &str) -> OauthResult<()> {
    let Some(token) = tokens::find(&cx.db.write, token).await? else { return Ok(()) };
    let grant = oauth_grant::Entity::find_by_id(token.grant_id).one(&cx.db.write).await?;
    if grant.is_none_or(|grant| grant.client_id != client_id) {
        return Ok(());
    }
    let now = cx.clock.now();
    if token.kind == TokenKind::Refresh {
        grants::end(cx, &Author::client(client_id), token.grant_id).await?;
        return Ok(());
    }
    oauth_token::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now))
        .filter(Column::Hash.eq(token.hash))
        .filter(Column::RevokedAt.is_null())
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
