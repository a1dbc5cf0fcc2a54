//! Links that a program makes for its own users: where they go on afterwards, and those that need no account of this
//! service.
//!
//! The address of such a link is signed, so that no secret is stored. It belongs to the browser that opens it first: the hash
//! of that browser's cookie is written beside the session.

use fanfare_core::{
    Act, Domain,
    error::{Code, Error, Result, Violations, violation},
    input::text::{self, TextRule},
    token,
};
use fanfare_entities::{
    ConnectSessionId, connect_session,
    connect_session::{ConnectStatus, Model},
    workspace,
};
use fanfare_people::oauth_provider::return_urls;
use fanfare_platforms as platforms;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr};
use secrecy::{ExposeSecret, SecretString};
use url::{Url, form_urlencoded};

use super::{NewConnectSession, OPEN, not_found, read, settings, view};

/// The purpose that signatures are bound to.
const PURPOSE: &str = "address of a link to connect an account";

/// The start of the `state` of people without an account, who come back from the network to pages of their own.
pub const GUEST_STATE: &str = "guest-";

/// The content of a link's page before it is opened.
#[derive(Debug, Clone)]
pub struct LinkOffer {
    /// The label of the network.
    pub label: &'static str,
    /// The name of the workspace.
    pub workspace: String,
    /// The name of the program that the person comes from.
    pub app: Option<String>,
    /// True for the simulated network.
    pub is_sandbox: bool,
}

/// Checks what a program asks for; returns its name.
pub(super) async fn check<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    new: &NewConnectSession,
) -> Result<Option<String>> {
    let terms = settings::read(conn, act.membership.workspace_id).await?;
    let mut broken = Violations::default();
    if let Some(reference) = &new.reference
        && let Some(flaw) = text::problem("reference", reference, TextRule::line(200))
    {
        broken.push(flaw);
    }
    if new.guest && !terms.guest_links {
        let message = "The workspace does not allow links that need no account.";
        let remedy = "An admin allows them: PATCH /api/v1/connect/settings with guest_links true.";
        broken.push(violation(Code::InvalidField, "guest", message, remedy));
    }
    let app = program(act, new.return_url.as_deref()).await?;
    if let Some(url) = &new.return_url {
        let is_known = app.as_ref().is_some_and(|(_, is_theirs)| *is_theirs)
            || return_urls::is_registered(&terms.return_urls, url);
        if !is_known {
            let message = "The address is not registered for the app or the workspace.";
            let remedy = "Send an allowed redirect URI of the app, or add it to return_urls: PATCH /api/v1/connect/settings.";
            broken.push(violation(Code::InvalidField, "return_url", message, remedy));
        }
    }
    Error::check(broken)?;
    Ok(app.map(|(name, _)| name).or(terms.app_name))
}

/// Returns the name of the calling program, and whether the address is registered for it. A key that reaches one workspace
/// knows no apps of its person.
async fn program(act: &Act, url: Option<&str>) -> Result<Option<(String, bool)>> {
    let (cx, caller) = (&act.cx, &act.caller);
    if let Some(token) = &caller.token {
        let client = return_urls::stored_client(cx, &token.client_id).await?;
        return Ok(client.map(|client| {
            let is_theirs = url.is_some_and(|url| client.allows_redirect_uri(url));
            (client.name, is_theirs)
        }));
    }
    match url {
        Some(url) if caller.key_workspace.is_none() => {
            let app = return_urls::app_at(cx, caller.user_id, url).await?;
            Ok(app.map(|app| (app.name, true)))
        }
        _ => Ok(None),
    }
}

/// Returns the address of the page for the person.
pub(super) fn address(cx: &Domain, row: &Model) -> Result<String> {
    let base = &cx.settings.base_url;
    if !row.guest {
        return Ok(view::page(base, row));
    }
    let signature = cx.vault.sign(PURPOSE, &row.id.to_string())?;
    Ok(format!("{base}/connect/link/{}/{signature}", row.id))
}

/// Returns the address that the person goes on to, once the session has ended.
pub(super) fn return_address(row: &Model) -> Option<Url> {
    let back = row.return_url.as_deref().filter(|_| !OPEN.contains(&row.status))?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("connect_session_id", &row.id.to_string());
    query.append_pair("status", view::status_name(row.status));
    if let Some(reference) = &row.reference {
        query.append_pair("reference", reference);
    }
    if let Some(code) = &row.error_code {
        query.append_pair("error", code);
    }
    let joint = if back.contains('?') { '&' } else { '?' };
    Url::parse(&format!("{back}{joint}{}", query.finish())).ok()
}

/// Returns what a link shows. Looking at it changes nothing.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`] if it is no link of ours, or if it has ended.
pub async fn offer(cx: &Domain, id: ConnectSessionId, signature: &str) -> Result<LinkOffer> {
    let row = find(cx, id, signature).await?;
    let workspace = workspace::Entity::find_by_id(row.workspace_id).one(&cx.db.read).await?;
    let platform = crate::platforms::from_row(&row.platform)?;
    Ok(LinkOffer {
        label: platforms::find(platform).spec().label,
        workspace: workspace.ok_or_else(not_found)?.name,
        app: row.app_name,
        is_sandbox: row.sandbox,
    })
}

/// Binds a link to the browser that holds this secret.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`] if it has ended, or was opened in another browser.
pub async fn claim(
    cx: &Domain,
    id: ConnectSessionId,
    signature: &str,
    secret: &SecretString,
) -> Result<()> {
    let row = find(cx, id, signature).await?;
    let hash = token::hash(secret.expose_secret());
    let column = connect_session::Column::GuestHash;
    let claimed = connect_session::Entity::update_many()
        .col_expr(column, Expr::value(hash.clone()))
        .filter(connect_session::Column::Id.eq(row.id))
        .filter(Condition::any().add(column.is_null()).add(column.eq(hash)))
        .exec(&cx.db.write)
        .await?;
    if claimed.rows_affected == 1 {
        return Ok(());
    }
    let message = "This link was opened in another browser. It is good for one; ask for a new one.";
    Err(Error::new(Code::ConnectSessionNotFound, message))
}

async fn find(cx: &Domain, id: ConnectSessionId, signature: &str) -> Result<Model> {
    let gone = "This link has expired or was used. Ask for a new one where you found it.";
    let gone = || Error::new(Code::ConnectSessionNotFound, gone);
    if !cx.vault.is_signed(PURPOSE, &id.to_string(), signature)? {
        return Err(gone());
    }
    let row = read(cx, id).await?;
    let ended = matches!(row.status, ConnectStatus::Expired) || row.expires_at <= cx.clock.now();
    if row.guest && !ended { Ok(row) } else { Err(gone()) }
}

/// Returns true if the browser that holds this secret has opened the link.
pub(super) fn is_claimed_by(row: &Model, secret: &SecretString) -> bool {
    row.guest && row.guest_hash.as_deref() == Some(&*token::hash(secret.expose_secret()))
}
