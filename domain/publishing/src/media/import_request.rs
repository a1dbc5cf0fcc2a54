//! The import request: asks for a copy of a file at another address, and waits for it.
//!
//! An import is a job like any other: the request writes a row, enqueues it, and waits for a worker, so that no API
//! process ever downloads media.

use std::time::Duration;

use fanfare_core::{
    Act, Reply, Tx,
    error::{Code, Error, Result, violation},
    notices::Awaited,
};
use fanfare_entities::{AssetId, Millis, media_asset, media_asset::AssetStatus};
use fanfare_jobs::JobKind;
use fanfare_media::filename;
use fanfare_platforms::text::clean_identifier;
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::asset::Media;

/// The time for which a request waits for its copies.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The interval at which it reads the row itself, in case a notice was lost.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The time for which a finished copy of the same address is used again, in ms: long enough for a retry of the
/// request, too short to serve yesterday's file.
const REUSE_WINDOW: Millis = 10 * 60_000;

/// The time in which the caller of a pending import is expected to repeat the request, in ms.
const RETRY_WINDOW: Millis = 60_000;

/// A file at another address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewImport {
    /// A public address of the file itself.
    #[schemars(length(max = 2_048))]
    pub url: String,
    /// The display name; taken from the address if left out.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub filename: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// An address to import from, and how the request names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImportSource<'a> {
    /// The address.
    pub url: &'a str,
    /// The display name, if not that of the address.
    pub filename: &'a str,
    /// The field that names it, for errors.
    pub field: &'static str,
    /// True if the present content of the address is needed, and not the copy of another request.
    pub must_be_fresh: bool,
}

/// Copies a file into our storage.
///
/// # Errors
/// The flaw of the file, or [`Code::MediaCopyPending`] if the import takes longer than a request may.
pub async fn from_url(act: &Act, mut new: NewImport) -> Result<Reply<Media>> {
    new.url = clean_identifier(&new.url);
    let url = Url::parse(&new.url).ok();
    if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
        let message = "url is not an http(s) address.";
        return Err(Error::field(Code::InvalidField, "url", message, "Send a full address."));
    }
    let filename = new.filename.as_deref().unwrap_or_default().trim();
    if filename.chars().count() > 255 {
        let message = "filename has more than 255 characters.";
        return Err(Error::field(Code::InvalidField, "filename", message, "Shorten it."));
    }
    let row = request_import(
        act,
        ImportSource { url: &new.url, filename, field: "url", must_be_fresh: false },
    )
    .await?;
    Ok(Reply::ok(&Media::of(&act.cx, &row)).with_status(201))
}

/// Returns the copy of a file as soon as it is stored.
///
/// # Errors
/// As for [`from_url`].
pub(crate) async fn request_import(
    act: &Act,
    source: ImportSource<'_>,
) -> Result<media_asset::Model> {
    let id = match find_earlier(act, source).await? {
        Some(row) => row.id,
        None => start(act, source).await?,
    };
    let mut notices = act.cx.notices.subscribe();
    let deadline = tokio::time::Instant::now() + MAX_WAIT;
    loop {
        let row = media_asset::Entity::find_by_id(id).one(&act.cx.db.read).await?;
        let row = row.ok_or_else(|| Error::internal("a media row is gone"))?;
        match row.status {
            AssetStatus::Ready => return Ok(row),
            AssetStatus::Failed => return Err(failure(row.error.as_ref(), source.field)),
            AssetStatus::Copying if tokio::time::Instant::now() >= deadline => {
                let message = "The media is still being copied.";
                return Err(Error::new(Code::MediaCopyPending, message).with_retry_after(5));
            }
            AssetStatus::Copying => {
                let look = deadline.min(tokio::time::Instant::now() + POLL_INTERVAL);
                let _ = tokio::time::timeout_at(look, notices.wait_for(Awaited::Import(id))).await;
            }
        }
    }
}

/// Returns a copy of the same address that is running or has just ended. If the file must be fresh, only a copy that
/// was made for this request counts: for another post of it, or before the caller was asked to repeat it.
async fn find_earlier(act: &Act, source: ImportSource<'_>) -> Result<Option<media_asset::Model>> {
    let since = act.cx.clock.now() - REUSE_WINDOW;
    let rows = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(media_asset::Column::SourceUrl.eq(source.url))
        .filter(media_asset::Column::CreatedAt.gte(since))
        .order_by_desc(media_asset::Column::Id)
        .limit(10)
        .all(&act.cx.db.read)
        .await?;
    let (outlived, now) = (Millis::try_from(MAX_WAIT.as_millis()), act.cx.clock.now());
    let outlived = outlived.unwrap_or(Millis::MAX);
    let counts = |row: &media_asset::Model| {
        let sent_away = row.updated_at - row.created_at >= outlived;
        let same = row.request_id.as_deref() == Some(act.request_id.as_str());
        match row.status {
            AssetStatus::Copying => true,
            AssetStatus::Ready => !source.must_be_fresh || sent_away || same,
            AssetStatus::Failed => sent_away && row.updated_at + RETRY_WINDOW > now,
        }
    };
    // The same address with another file name is another file.
    let is_asked = |row: &media_asset::Model| {
        let mime = row.mime.as_deref().unwrap_or_default();
        row.filename == source.filename || row.filename == filename(source.filename, mime)
    };
    let is_it = |row: &media_asset::Model| source.filename.is_empty() || is_asked(row);
    Ok(rows.into_iter().find(|row| counts(row) && is_it(row)))
}

async fn start(act: &Act, source: ImportSource<'_>) -> Result<AssetId> {
    let mut tx = Tx::begin(&act.cx).await?;
    let now = act.cx.clock.now();
    let row = media_asset::ActiveModel {
        uid: Set(Uuid::now_v7()),
        workspace_id: Set(act.membership.workspace_id),
        source_url: Set(Some(source.url.to_owned())),
        filename: Set(source.filename.to_owned()),
        status: Set(AssetStatus::Copying),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        created_by: Set(Some(act.caller.user_id)),
        request_id: Set(Some(act.request_id.clone())),
        ..Default::default()
    };
    let made = media_asset::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.enqueue(JobKind::CopyMedia, made.workspace_id, made.id.0, now);
    tx.commit().await?;
    Ok(made.id)
}

/// Returns the error for the stored reason why a file could not be copied.
fn failure(stored: Option<&Value>, field: &str) -> Error {
    let text = |name: &str| stored.and_then(|error| error.get(name)).and_then(Value::as_str);
    let code = text("code").and_then(Code::named).unwrap_or(Code::RemoteMediaUnavailable);
    let message = text("message").unwrap_or("The media could not be copied.");
    let remedy = text("remedy").unwrap_or(code.entry().remedy);
    let mut broken = violation(code, field, message, remedy);
    let compared = |name: &str| stored?.get(name).filter(|value| !value.is_null()).cloned();
    broken.limit = compared("limit");
    broken.actual = compared("actual");
    Error::violation(broken)
}
