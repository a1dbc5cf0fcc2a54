//! Exchanges a refresh token for a new pair of tokens, once (RFC 6749 section 6, RFC 9700 section 4.14).

use fanfare_entities::{
    Millis, oauth_grant, oauth_token, oauth_token::Column, oauth_token::TokenKind,
};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr};

use super::{
    grants, is_reuse,
    refusal::{OauthError, OauthFlaw, OauthRefusal, OauthResult},
    resource, scopes,
    tokens::{self, IssuedTokens, NewPair},
};
use crate::{Domain, access::Scope, error::Result};

/// A refresh token that a client presents.
#[derive(Debug, Clone, Copy)]
pub struct RefreshRequest<'a> {
    /// The token.
    pub token: &'a str,
    /// The client.
    pub client_id: &'a str,
    /// Scopes to which the access token is narrowed.
    pub scope: Option<&'a str>,
    /// A resource to which the access token is narrowed.
    pub resource: Option<&'a str>,
    /// The time at which the request was received.
    pub received_at: Millis,
}

/// Exchanges a refresh token for a new pair.
///
/// Of concurrent requests one wins, and the others change nothing. A request that comes after the winner was answered
/// ends the grant, because the token was stolen. Within the operator's grace time, and if the winner's process died
/// before it answered, it gets a new pair instead of the one that was never used.
///
/// # Errors
/// [`OauthError::InvalidGrant`], or [`OauthError::InvalidScope`] and [`OauthError::InvalidTarget`], which spend
/// nothing.
pub async fn refresh(cx: &Domain, asked: RefreshRequest<'_>) -> OauthResult<IssuedTokens> {
    let token = tokens::find(&cx.db.write, asked.token).await?;
    let token = token.filter(|row| row.kind == TokenKind::Refresh).ok_or_else(invalid_grant)?;
    let grant = oauth_grant::Entity::find_by_id(token.grant_id).one(&cx.db.write).await?;
    let is_theirs =
        |grant: &oauth_grant::Model| grant.client_id == asked.client_id && grant.ended_at.is_none();
    let grant = grant.filter(is_theirs).ok_or_else(invalid_grant)?;
    if token.revoked_at.is_some() || token.expires_at <= asked.received_at {
        return Err(invalid_grant());
    }
    let granted = scopes::parse_scopes(&grant.scopes);
    let narrow = (
        narrowed_scopes(asked.scope, &granted)?,
        resource::narrowed(&cx.settings, &grant.resource, asked.resource)?,
    );
    if let Some(used_at) = token.used_at {
        return handle_reuse(cx, &asked, (&grant, &token), used_at, narrow).await;
    }
    cx.failpoint.reach("refresh_found").await;
    let issued = spend(cx, &grant, &token, narrow).await?;
    cx.failpoint.reach("refresh_spent").await;
    mark_answered(cx, &token.hash).await?;
    cx.failpoint.reach("refresh_answered").await;
    Ok(issued)
}

fn invalid_grant() -> OauthRefusal {
    let description =
        "The refresh token is unknown, over, used or revoked, or is another client's.";
    OauthRefusal::new(OauthError::InvalidGrant, "refresh_token", description)
}

/// Returns the scopes of the new access token, which must be among the granted ones.
fn narrowed_scopes(asked: Option<&str>, granted: &[Scope]) -> Result<Vec<Scope>, OauthFlaw> {
    let asked = scopes::requested_scopes(asked, granted)?;
    if asked.iter().all(|scope| granted.contains(scope)) {
        return Ok(asked);
    }
    let description = format!("Only these scopes were granted: {}.", scopes::join_scopes(granted));
    Err(OauthFlaw::new(OauthError::InvalidScope, "scope", description))
}

/// The scopes and the resource of an access token.
type AccessTokenLimits = (Vec<Scope>, String);

/// Spends the token and issues the next pair, in one transaction.
async fn spend(
    cx: &Domain,
    grant: &oauth_grant::Model,
    token: &oauth_token::Model,
    narrow: AccessTokenLimits,
) -> OauthResult<IssuedTokens> {
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let spent = oauth_token::Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Hash.eq(token.hash.as_str()))
        .filter(Column::UsedAt.is_null())
        .filter(Column::RevokedAt.is_null())
        .exec(&tx)
        .await?;
    if spent.rows_affected != 1 {
        return Err(invalid_grant());
    }
    let issued = issue_next(&tx, grant, token, narrow, now).await?;
    cx.failpoint.reach("refresh_spending").await;
    tx.commit().await?;
    Ok(issued)
}

async fn issue_next<C: ConnectionTrait>(
    conn: &C,
    grant: &oauth_grant::Model,
    token: &oauth_token::Model,
    (scopes, resource): AccessTokenLimits,
    now: Millis,
) -> OauthResult<IssuedTokens> {
    let workspace = tokens::workspace(conn, grant).await?;
    let new = NewPair { grant, parent: Some(&token.hash), scopes, resource };
    Ok(tokens::issue(conn, new, workspace, now).await?)
}

/// Handles the reuse of a spent token.
async fn handle_reuse(
    cx: &Domain,
    asked: &RefreshRequest<'_>,
    (grant, token): (&oauth_grant::Model, &oauth_token::Model),
    used_at: Millis,
    narrow: AccessTokenLimits,
) -> OauthResult<IssuedTokens> {
    if !is_reuse(asked.received_at, used_at, token.answered_at) {
        return Err(invalid_grant());
    }
    let within_grace = asked.received_at < used_at + cx.settings.oauth_grace;
    // The pair that was issued then was never delivered.
    let was_lost = token.answered_at.is_none();
    if (within_grace || was_lost) && !successor_was_used(cx, token).await? {
        let issued = replace(cx, grant, token, narrow).await?;
        if was_lost {
            mark_answered(cx, &token.hash).await?;
        }
        return Ok(issued);
    }
    tracing::warn!(
        client.id = asked.client_id,
        "a refresh token was used twice; its grant is ended"
    );
    grants::end(&cx.db.write, grant.id, cx.clock.now()).await?;
    Err(invalid_grant())
}

/// Returns true if the refresh token that was issued for this one was used.
async fn successor_was_used(cx: &Domain, token: &oauth_token::Model) -> Result<bool> {
    let used = oauth_token::Entity::find()
        .filter(Column::ParentHash.eq(token.hash.as_str()))
        .filter(Column::UsedAt.is_not_null())
        .one(&cx.db.write)
        .await?;
    Ok(used.is_some())
}

/// Issues a new pair that replaces the one that was issued for a spent token.
async fn replace(
    cx: &Domain,
    grant: &oauth_grant::Model,
    token: &oauth_token::Model,
    narrow: AccessTokenLimits,
) -> OauthResult<IssuedTokens> {
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let replaced = oauth_token::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now))
        .filter(Column::ParentHash.eq(token.hash.as_str()))
        .filter(Column::UsedAt.is_null())
        .filter(Column::RevokedAt.is_null())
        .exec(&tx)
        .await?;
    if replaced.rows_affected == 0 {
        // Another request replaces it right now.
        return Err(invalid_grant());
    }
    let issued = issue_next(&tx, grant, token, narrow, now).await?;
    tx.commit().await?;
    Ok(issued)
}

/// Records that the request was answered: any later use of the token is a reuse.
async fn mark_answered(cx: &Domain, hash: &str) -> Result<()> {
    oauth_token::Entity::update_many()
        .col_expr(Column::AnsweredAt, Expr::value(cx.clock.now()))
        .filter(Column::Hash.eq(hash))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
