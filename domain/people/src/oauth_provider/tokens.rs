//! Access and refresh tokens: issued in pairs, and looked up at each request.

use fanfare_core::{
    Domain,
    access::{AccessToken, Caller, Role, Scope},
    error::{Code, Error, Result, refusal::RefusalDetails},
    token::hash,
};
use fanfare_entities::{
    GrantId, KeyId, Millis, WorkspaceId, membership, oauth_grant, oauth_token,
    oauth_token::TokenKind, workspace,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter,
    sea_query::Expr,
};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::{
    ACCESS_TOKEN_LIFETIME, REFRESH_TOKEN_LIFETIME,
    refusal::{OauthError, OauthRefusal, OauthResult},
    resource, scopes,
};
use crate::keys;

/// The prefix of access tokens.
pub(crate) const ACCESS_PREFIX: &str = "fat_";

/// The prefix of refresh tokens.
pub(super) const REFRESH_PREFIX: &str = "frt_";

/// The shortest interval at which the use of a grant is recorded, in ms.
const LAST_USED_INTERVAL: Millis = 60_000;

/// A pair of tokens that a client gets.
#[derive(Debug)]
pub struct IssuedTokens {
    /// The token for the API.
    pub access_token: SecretString,
    /// The token for the next pair, valid once.
    pub refresh_token: SecretString,
    /// The scopes of the access token.
    pub scopes: Vec<Scope>,
    /// The workspace that it reaches.
    pub workspace: TokenWorkspace,
}

/// The workspace that a token reaches.
#[derive(Debug, Clone)]
pub struct TokenWorkspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// The user's role there.
    pub role: Role,
}

/// A pair of tokens to be issued.
pub(super) struct NewPair<'a> {
    pub grant: &'a oauth_grant::Model,
    /// The hash of the refresh token that it was exchanged for.
    pub parent: Option<&'a str>,
    /// The scopes of the access token.
    pub scopes: Vec<Scope>,
    /// The resource of the access token.
    pub resource: String,
    /// The refresh token; a random one if there is none.
    pub next: Option<NextToken>,
}

/// A refresh token that follows from another one.
pub(super) struct NextToken {
    pub token: SecretString,
    /// True if there is a row of it.
    pub is_stored: bool,
}

/// Issues a pair of tokens for a grant.
pub(super) async fn issue<C: ConnectionTrait>(
    conn: &C,
    new: NewPair<'_>,
    workspace: TokenWorkspace,
    now: Millis,
) -> Result<IssuedTokens> {
    let access = keys::generate(ACCESS_PREFIX);
    let is_stored = new.next.as_ref().is_some_and(|next| next.is_stored);
    let refresh = new.next.map_or_else(|| keys::generate(REFRESH_PREFIX).into(), |next| next.token);
    let row = |token: &str, kind, (scopes, resource): (String, String), lasts| oauth_token::Model {
        hash: hash(token),
        prefix: keys::prefix_of(token).to_owned(),
        kind,
        grant_id: new.grant.id,
        parent_hash: new.parent.map(str::to_owned),
        scopes,
        resource,
        created_at: now,
        expires_at: now + lasts,
        used_at: None,
        answered_at: None,
        revoked_at: None,
    };
    let narrow = (scopes::join_scopes(&new.scopes), new.resource.clone());
    let whole = (new.grant.scopes.clone(), new.grant.resource.clone());
    let mut rows = vec![row(&access, TokenKind::Access, narrow, ACCESS_TOKEN_LIFETIME)];
    if !is_stored {
        let refresh = refresh.expose_secret();
        rows.push(row(refresh, TokenKind::Refresh, whole, REFRESH_TOKEN_LIFETIME));
    }
    let rows = rows.into_iter().map(|row| row.into_active_model().reset_all());
    oauth_token::Entity::insert_many(rows).exec_without_returning(conn).await?;
    Ok(IssuedTokens {
        access_token: access.into(),
        refresh_token: refresh,
        scopes: new.scopes,
        workspace,
    })
}

/// Returns the workspace of a grant, if its user still has a membership there.
///
/// # Errors
/// [`OauthError::InvalidGrant`].
pub(super) async fn workspace<C: ConnectionTrait>(
    conn: &C,
    grant: &oauth_grant::Model,
) -> OauthResult<TokenWorkspace> {
    let member = (grant.workspace_id, grant.user_id);
    let membership = membership::Entity::find_by_id(member).one(conn).await?;
    let row = workspace::Entity::find_by_id(grant.workspace_id).one(conn).await?;
    match (membership, row) {
        (Some(membership), Some(row)) => {
            Ok(TokenWorkspace { id: row.id, name: row.name, role: membership.role })
        }
        _ => {
            let description = "The person is no longer a member of the workspace.";
            Err(OauthRefusal::new(OauthError::InvalidGrant, "grant", description))
        }
    }
}

/// Returns the token with the text that a client sends, or `None` if there is none.
pub(super) async fn find<C: ConnectionTrait>(
    conn: &C,
    sent: &str,
) -> Result<Option<oauth_token::Model>> {
    if !keys::has_format(ACCESS_PREFIX, sent) && !keys::has_format(REFRESH_PREFIX, sent) {
        return Ok(None);
    }
    let hash = hash(sent);
    let row = oauth_token::Entity::find_by_id(hash.as_str()).one(conn).await?;
    Ok(row.filter(|row| bool::from(row.hash.as_bytes().ct_eq(hash.as_bytes()))))
}

/// Returns the caller of an access token at a path. The user's permissions are looked up at each request.
///
/// # Errors
/// [`Code::InvalidApiKey`] for a token that is unknown or valid for another resource, [`Code::ApiKeyExpired`] or
/// [`Code::ApiKeyRevoked`] for one that has ended.
pub async fn authenticate(cx: &Domain, sent: &str, path: &str) -> Result<Caller> {
    const ASK: &str = "Start the authorization again, and ask the person.";
    let now = cx.clock.now();
    let token = find(&cx.db.read, sent).await?.filter(|row| row.kind == TokenKind::Access);
    let Some(token) = token else {
        return Err(for_tools(Code::InvalidApiKey, "There is no such access token.", ASK));
    };
    let grant = oauth_grant::Entity::find_by_id(token.grant_id).one(&cx.db.read).await?;
    let grant = grant.filter(|grant| grant.ended_at.is_none() && token.revoked_at.is_none());
    let Some(grant) = grant else {
        let message = "The access token was revoked, or the tool's access was ended.";
        return Err(for_tools(Code::ApiKeyRevoked, message, ASK));
    };
    if token.expires_at <= now {
        let remedy = "Get a new access token with the refresh token.";
        return Err(for_tools(Code::ApiKeyExpired, "The access token has expired.", remedy));
    }
    if !resource::covers(&token.resource, path) {
        let message = "The access token is for another resource of this service.";
        return Err(for_tools(Code::InvalidApiKey, message, ASK));
    }
    if grant.last_used_at.is_none_or(|last| last + LAST_USED_INTERVAL <= now) {
        note_use(cx, grant.id, now);
    }
    Ok(Caller {
        user_id: grant.user_id,
        // Limits of a key count for all tokens of a grant together.
        key_id: KeyId(grant.id.0),
        scopes: scopes::parse_scopes(&token.scopes),
        key_workspace: Some(grant.workspace_id),
        key_brand: None,
        token: Some(AccessToken { client_id: grant.client_id, prefix: token.prefix }),
        // A refresh goes on where the token ends, so what is made with it may outlive the one token.
        expires_at: None,
    })
}

/// Returns an error for a tool that a person let in: it makes no keys, so nothing leads there.
#[must_use]
pub fn for_tools(code: Code, message: &str, remedy: &str) -> Error {
    let details = RefusalDetails { remedy: Some(remedy.to_owned()), ..RefusalDetails::default() };
    Error::new(code, message).with_details(details).with_remedies(|_| Vec::new())
}

/// Records the use in the background. No request waits for it, and losing one does no harm.
fn note_use(cx: &Domain, id: GrantId, now: Millis) {
    let cx = cx.clone();
    tokio::spawn(async move {
        let noted = oauth_grant::Entity::update_many()
            .col_expr(oauth_grant::Column::LastUsedAt, Expr::value(now))
            .filter(oauth_grant::Column::Id.eq(id))
            .exec(&cx.db.write)
            .await;
        if let Err(error) = noted {
            tracing::debug!(%error, "the use of a grant was not noted");
        }
    });
}
