//! Exchanges a code for tokens, once (RFC 6749 section 4.1.3).

use fanfare_core::{Domain, Tx, audit_trail::Author, error::Result, token::hash};
use fanfare_entities::{GrantId, Millis, oauth_code, oauth_code::Column, oauth_grant, user};
use fanfare_mail::Letter;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, sea_query::Expr,
};
use subtle::ConstantTimeEq;

use super::{
    grants, is_reuse, pkce,
    refusal::{OauthError, OauthRefusal, OauthResult},
    resource, scopes,
    tokens::{self, IssuedTokens, NewPair},
};
use crate::mail::{self, MailTransport};

/// A code that a client presents.
#[derive(Debug, Clone, Copy)]
pub struct CodeExchange<'a> {
    /// The code.
    pub code: &'a str,
    /// The client.
    pub client_id: &'a str,
    /// The address to which the code was sent.
    pub redirect_uri: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
    /// The resources to which the access token is narrowed.
    pub resource: &'a [&'a str],
    /// The time at which the request was received.
    pub received_at: Millis,
}

/// Exchanges a code for tokens.
///
/// The first request with the right client and address spends the code, even if its verifier is wrong. A request that
/// comes after the first one was answered ends the grant, because one of the two must have stolen the code.
///
/// # Errors
/// [`OauthError::InvalidGrant`] or [`OauthError::InvalidTarget`].
pub async fn exchange(cx: &Domain, asked: CodeExchange<'_>) -> OauthResult<IssuedTokens> {
    let hash = hash(asked.code);
    let row = oauth_code::Entity::find_by_id(hash.as_str()).one(&cx.db.write).await?;
    let row = row.filter(|row| bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes())));
    let is_theirs = |row: &oauth_code::Model| {
        row.client_id == asked.client_id && row.redirect_uri == asked.redirect_uri
    };
    let row = row.filter(is_theirs).ok_or_else(invalid_grant)?;
    if let Some(used_at) = row.used_at {
        if is_reuse(asked.received_at, used_at, row.answered_at)
            && let Some(grant) = row.grant_id
        {
            tracing::warn!(
                client.id = asked.client_id,
                "a code was used twice; its grant is ended"
            );
            grants::end(cx, &Author::system("code-reuse"), grant).await?;
        }
        return Err(invalid_grant());
    }
    if row.expires_at <= asked.received_at {
        return Err(invalid_grant());
    }
    let resource = resource::narrowed(&cx.settings, &row.resource, asked.resource)?;
    cx.failpoint.reach("tool_code_found").await;
    match spend(cx, &row, asked.verifier, resource).await? {
        SpendOutcome::Lost => Err(invalid_grant()),
        SpendOutcome::Wrong => {
            mark_answered(cx, &hash).await?;
            Err(invalid_grant())
        }
        SpendOutcome::For(issued) => {
            cx.failpoint.reach("tool_code_spent").await;
            mark_answered(cx, &hash).await?;
            cx.failpoint.reach("tool_code_answered").await;
            Ok(issued)
        }
    }
}

/// The result of an attempt to spend a code.
enum SpendOutcome {
    /// Another request was first.
    Lost,
    /// The verifier was wrong, and the code is spent.
    Wrong,
    /// It was exchanged for tokens.
    For(IssuedTokens),
}

fn invalid_grant() -> OauthRefusal {
    let description = "The code is unknown, over, used, or was made for another client, redirect_uri or verifier.";
    OauthRefusal::new(OauthError::InvalidGrant, "code", description)
}

/// Spends the code and creates the grant with its tokens, in one transaction.
async fn spend(
    cx: &Domain,
    row: &oauth_code::Model,
    verifier: &str,
    resource: String,
) -> OauthResult<SpendOutcome> {
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let fits = pkce::verifies(verifier, &row.challenge);
    let grant_id = fits.then(GrantId::fresh);
    let spent = oauth_code::Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .col_expr(Column::GrantId, Expr::value(grant_id.map(|id| id.0)))
        .filter(Column::Hash.eq(row.hash.as_str()))
        .filter(Column::UsedAt.is_null())
        .exec(tx.conn())
        .await?;
    if spent.rows_affected != 1 {
        return Ok(SpendOutcome::Lost);
    }
    let Some(id) = grant_id else {
        tx.commit().await?;
        return Ok(SpendOutcome::Wrong);
    };
    let grant = oauth_grant::Model {
        id,
        client_id: row.client_id.clone(),
        client_name: row.client_name.clone(),
        user_id: row.user_id,
        workspace_id: row.workspace_id,
        scopes: row.scopes.clone(),
        resource: row.resource.clone(),
        created_at: now,
        last_used_at: None,
        ended_at: None,
    };
    let made = grant.clone().into_active_model().reset_all();
    oauth_grant::Entity::insert(made).exec_without_returning(tx.conn()).await?;
    grants::note_made(&tx, &grant).await?;
    let workspace = tokens::workspace(tx.conn(), &grant).await?;
    let new = NewPair {
        grant: &grant,
        parent: None,
        scopes: scopes::parse_scopes(&grant.scopes),
        resource,
        next: None,
    };
    let issued = tokens::issue(tx.conn(), new, workspace, now).await?;
    write_letter(&mut tx, &grant).await?;
    cx.failpoint.reach("tool_code_spending").await;
    tx.commit().await?;
    Ok(SpendOutcome::For(issued))
}

/// Notifies the user by e-mail that a client was granted access, if e-mail can be sent.
async fn write_letter(tx: &mut Tx, grant: &oauth_grant::Model) -> Result<()> {
    if matches!(crate::mail::mail_transport(tx.domain()), MailTransport::None) {
        return Ok(());
    }
    let Some(person) = user::Entity::find_by_id(grant.user_id).one(tx.conn()).await? else {
        return Ok(());
    };
    let link = format!("{}/dashboard/apps", tx.domain().settings.base_url);
    let letter = Letter::app_authorized(&person.email, &grant.client_name, &link);
    mail::write(tx, &format!("grant:{}", grant.id), &letter, person.id).await?;
    Ok(())
}

/// Records that the request was answered: any later use of the code is a reuse.
async fn mark_answered(cx: &Domain, hash: &str) -> Result<()> {
    oauth_code::Entity::update_many()
        .col_expr(Column::AnsweredAt, Expr::value(cx.clock.now()))
        .filter(Column::Hash.eq(hash))
        .filter(Column::UsedAt.is_not_null())
        .filter(Column::AnsweredAt.is_null())
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
