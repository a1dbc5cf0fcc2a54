//! Exchanges a refresh token for a new pair of tokens, once (RFC 6749 section 6, RFC 9700 section 4.14).

use fanfare_core::{Domain, access::Scope, audit_trail::Author, error::Result};
use fanfare_entities::{
    Millis, oauth_grant, oauth_token, oauth_token::Column, oauth_token::TokenKind,
};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr};
use secrecy::{ExposeSecret, SecretString};

use super::{
    grants, is_reuse,
    refusal::{OauthError, OauthFlaw, OauthRefusal, OauthResult},
    resource, scopes,
    tokens::{self, IssuedTokens, NewPair, NextToken},
};
use crate::keys;

/// The purpose of the signatures from which refresh tokens are made.
const SUCCESSOR: &str = "refresh token that follows";

/// A refresh token that a client presents.
#[derive(Debug, Clone, Copy)]
pub struct RefreshRequest<'a> {
    /// The token.
    pub token: &'a str,
    /// The client.
    pub client_id: &'a str,
    /// Scopes to which the access token is narrowed.
    pub scope: Option<&'a str>,
    /// The resources to which the access token is narrowed.
    pub resource: &'a [&'a str],
    /// The time at which the request was received.
    pub received_at: Millis,
}

/// Exchanges a refresh token for a new pair.
///
/// The next refresh token follows from the one that is exchanged, so that everybody who is answered for the same token
/// within the grace time gets the same next one, and an access token of his own; none of them is ever dead. That also
/// holds if the process that spent the token died before it answered. A use after that ends the grant, because the token
/// was stolen.
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
    let limits = (
        narrowed_scopes(asked.scope, &granted)?,
        resource::narrowed(&cx.settings, &grant.resource, asked.resource)?,
    );
    let exchange =
        Exchange { grant: &grant, token: &token, limits, next: next_token(cx, asked.token)? };
    if token.used_at.is_some() {
        return again(cx, &asked, exchange).await;
    }
    cx.failpoint.reach("refresh_found").await;
    let Some(issued) = spend(cx, &exchange).await? else {
        // Somebody else was faster.
        let token = tokens::find(&cx.db.write, asked.token).await?.ok_or_else(invalid_grant)?;
        return again(cx, &asked, Exchange { token: &token, ..exchange }).await;
    };
    cx.failpoint.reach("refresh_spent").await;
    mark_answered(cx, &token.hash).await?;
    cx.failpoint.reach("refresh_answered").await;
    Ok(issued)
}

/// A valid request: what is exchanged for what.
struct Exchange<'a> {
    grant: &'a oauth_grant::Model,
    token: &'a oauth_token::Model,
    /// The scopes and the resource of the new access token.
    limits: (Vec<Scope>, String),
    /// The next refresh token.
    next: SecretString,
}

/// Returns the refresh token that follows a refresh token. Somebody who has the one cannot know the other without the
/// service's key.
fn next_token(cx: &Domain, token: &str) -> Result<SecretString> {
    let signature = cx.vault.sign(SUCCESSOR, token)?;
    Ok(keys::derived(tokens::REFRESH_PREFIX, &signature).into())
}

fn invalid_grant() -> OauthRefusal {
    let description =
        "The refresh token is unknown, over, used or revoked, or is another client's.";
    OauthRefusal::new(OauthError::InvalidGrant, "refresh_token", description)
}

/// Returns the scopes of the new access token, which must be among the granted ones.
fn narrowed_scopes(asked: Option<&str>, granted: &[Scope]) -> Result<Vec<Scope>, OauthFlaw> {
    let named = asked.filter(|asked| !asked.trim().is_empty());
    let asked = scopes::requested_scopes(named, if named.is_none() { granted } else { &[] });
    if asked.is_empty() {
        let description = "None of the scopes is known here.";
        return Err(OauthFlaw::new(OauthError::InvalidScope, "scope", description));
    }
    if asked.iter().all(|scope| granted.contains(scope)) {
        return Ok(asked);
    }
    let description = format!("Only these scopes were granted: {}.", scopes::join_scopes(granted));
    Err(OauthFlaw::new(OauthError::InvalidScope, "scope", description))
}

/// Spends the token and issues the next pair, in one transaction; `None` if another request has spent it.
async fn spend(cx: &Domain, exchange: &Exchange<'_>) -> OauthResult<Option<IssuedTokens>> {
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let spent = oauth_token::Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Hash.eq(exchange.token.hash.as_str()))
        .filter(Column::UsedAt.is_null())
        .filter(Column::RevokedAt.is_null())
        .exec(&tx)
        .await?;
    if spent.rows_affected != 1 {
        tx.rollback().await?;
        return Ok(None);
    }
    let issued = issue(&tx, exchange, true, now).await?;
    cx.failpoint.reach("refresh_spending").await;
    tx.commit().await?;
    Ok(Some(issued))
}

/// Issues an access token, and the next refresh token if it `is_first`; else there is a row of it.
async fn issue<C: ConnectionTrait>(
    conn: &C,
    exchange: &Exchange<'_>,
    is_first: bool,
    now: Millis,
) -> OauthResult<IssuedTokens> {
    let workspace = tokens::workspace(conn, exchange.grant).await?;
    let (scopes, resource) = exchange.limits.clone();
    let next = NextToken { token: exchange.next.clone(), is_stored: !is_first };
    let new = NewPair {
        grant: exchange.grant,
        parent: Some(&exchange.token.hash),
        scopes,
        resource,
        next: Some(next),
    };
    Ok(tokens::issue(conn, new, workspace, now).await?)
}

/// Handles another use of a spent token.
async fn again(
    cx: &Domain,
    asked: &RefreshRequest<'_>,
    exchange: Exchange<'_>,
) -> OauthResult<IssuedTokens> {
    let (grant, token) = (exchange.grant, exchange.token);
    let Some(used_at) = token.used_at else { return Err(invalid_grant()) };
    let within_grace = asked.received_at < used_at + crate::settings(cx).oauth_grace;
    if !within_grace && !is_reuse(asked.received_at, used_at, token.answered_at) {
        return Err(invalid_grant());
    }
    // The pair that was issued then reached nobody.
    let was_lost = token.answered_at.is_none() && !successor_was_used(cx, token).await?;
    if within_grace || was_lost {
        if !has_successor(cx, &exchange.next).await? {
            return Err(invalid_grant());
        }
        let issued = issue(&cx.db.write, &exchange, false, cx.clock.now()).await?;
        if was_lost {
            mark_answered(cx, &token.hash).await?;
        }
        return Ok(issued);
    }
    tracing::warn!(
        client.id = asked.client_id,
        "a refresh token was used twice; its grant is ended"
    );
    grants::end(cx, &Author::system("token-reuse"), grant.id).await?;
    Err(invalid_grant())
}

/// Returns true if the next refresh token is one of ours: after a change of the service's key another one would follow.
async fn has_successor(cx: &Domain, next: &SecretString) -> Result<bool> {
    let row = tokens::find(&cx.db.write, next.expose_secret()).await?;
    Ok(row.is_some_and(|row| row.revoked_at.is_none()))
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

/// Records that the request was answered: any later use of the token is a reuse.
async fn mark_answered(cx: &Domain, hash: &str) -> Result<()> {
    oauth_token::Entity::update_many()
        .col_expr(Column::AnsweredAt, Expr::value(cx.clock.now()))
        .filter(Column::Hash.eq(hash))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
