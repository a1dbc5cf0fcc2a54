//! Sessions: what a connector needs to call an account's network, namely address, HTTP client and secrets.

use std::{collections::BTreeMap, sync::Arc};

use fanfare_core::{
    Domain, UnreadableColumn,
    error::{Error, Result},
    unreadable::read_object,
};
use fanfare_entities::{WorkspaceId, account, secret};
use fanfare_platforms::{
    Account, PlatformId, Secrets, Session, UsageTracker, VideoService, oauth::App,
};
use sea_orm::EntityTrait;

use super::{TABLE, pictures::LinkPictureShrinker, sandbox_control::simulator};

/// Returns the session of an account; `None` if it has no credentials.
///
/// # Errors
/// The database's, or the secret's master key is not configured.
pub async fn session(cx: &Domain, row: &account::Model) -> Result<Option<Session>> {
    let Some(id) = row.secret_id else { return Ok(None) };
    let secret = secret::Entity::find_by_id(id).one(&cx.db.read).await?;
    secret.map(|secret| session_with(cx, row, &secret)).transpose()
}

/// Returns the session of an account whose secret was already read.
///
/// # Errors
/// The secret's master key is not configured.
pub fn session_with(cx: &Domain, row: &account::Model, secret: &secret::Model) -> Result<Session> {
    let plain = cx.vault.unseal(TABLE, secret)?;
    let pairs: BTreeMap<String, String> = serde_json::from_slice(&plain)
        .map_err(|_| Error::internal("stored credentials are not JSON"))?;
    let platform = crate::platforms::from_row(&row.platform)?;
    let secrets = Secrets::from_pairs(pairs);
    let mut session = anonymous(cx, row.workspace_id, platform, row.sandbox, secrets)?;
    session.account = facts(row)?;
    Ok(session)
}

/// Returns the facts of an account, without secrets.
///
/// # Errors
/// The column of its facts does not hold an object.
pub fn facts(row: &account::Model) -> std::result::Result<Account, UnreadableColumn> {
    Ok(Account {
        remote_id: row.remote_id.clone(),
        username: row.username.clone(),
        meta: read_object("account facts", &row.meta)?,
    })
}

/// Returns a session that belongs to no account yet.
///
/// # Errors
/// The service runs without simulated networks.
pub(super) fn anonymous(
    cx: &Domain,
    workspace: WorkspaceId,
    platform: PlatformId,
    sandbox: bool,
    secrets: Secrets,
) -> Result<Session> {
    let base = if sandbox {
        Some(simulator(cx)?.network(workspace, platform)?)
    } else {
        crate::settings(cx).platform_urls.get(&platform).cloned()
    };
    let video_service = &crate::settings(cx).bluesky_video;
    let mut trusted: Vec<_> = base.iter().cloned().collect();
    if let (PlatformId::Bluesky, VideoService::At(address)) = (platform, video_service) {
        trusted.push(address.clone());
    }
    let http = if trusted.is_empty() { cx.http.clone() } else { cx.http.trusting(&trusted) };
    let http = http.counted_as(platform.as_str()).timed();
    let app = app(cx, platform, sandbox);
    Ok(Session {
        http,
        base,
        simulated: sandbox,
        account: Account::default(),
        secrets,
        app,
        picture_shrinker: Some(Arc::new(LinkPictureShrinker::of(cx))),
        usage: UsageTracker::default(),
        video_service: video_service.clone(),
        now: cx.clock.date(),
    })
}

/// Returns our app at the network. A simulated network accepts any app, so the operator need not register one there.
pub(super) fn app(cx: &Domain, platform: PlatformId, sandbox: bool) -> Option<App> {
    let simulated = || App { client_id: "fanfare".into(), client_secret: "simulated".into() };
    if sandbox { Some(simulated()) } else { crate::settings(cx).apps.get(&platform).cloned() }
}
