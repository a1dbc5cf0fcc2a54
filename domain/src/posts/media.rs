//! The files of a post: ours by their address, other people's by a copy.
//!
//! A third-party address is copied into our storage before the post is saved. The copy is work like any other: the
//! request writes a row, rings, and waits for a worker to do it, so that no API process ever downloads media.

use std::time::Duration;

use fanfare_entities::{AssetId, Millis, WorkspaceId, media_asset, media_asset::AssetStatus};
use fanfare_jobs::Kind;
use futures_util::future;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::view::PostMedia;
use crate::{
    Act, Domain, Tx,
    error::{Code, Error, Result},
};

/// How long a request waits for its copies.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);

/// A finished copy of the same address is used again for this long, in ms: long enough for a retry of the request, too
/// short to serve yesterday's file.
const REUSED: Millis = 10 * 60_000;

/// `media_url` and `media_urls` as one list, duplicates dropped.
#[must_use]
pub fn list(one: Option<&str>, many: Option<&[String]>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for url in one.into_iter().chain(many.into_iter().flatten().map(String::as_str)) {
        if !list.iter().any(|known| known == url) {
            list.push(url.to_owned());
        }
    }
    list
}

/// What is known of these addresses without copying anything: everything of our own files, the address of others.
///
/// # Errors
/// [`Code::InvalidField`] for what is no http(s) address or is no longer stored.
pub async fn look_up(act: &Act, urls: &[String]) -> Result<Vec<PostMedia>> {
    let looks = urls.iter().enumerate().map(|(place, url)| look_up_one(act, place, url));
    Error::all(future::join_all(looks).await)
}

async fn look_up_one(act: &Act, place: usize, url: &str) -> Result<PostMedia> {
    let field = format!("media_urls[{place}]");
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed else {
        let message = format!("{field} is not an http(s) address.");
        return Err(Error::field(Code::InvalidField, field, message, "Send a full address."));
    };
    let ours = url.strip_prefix(act.cx.settings.media_base_url.as_str());
    let Some(path) = ours.and_then(|path| path.strip_prefix('/')) else {
        let filename = parsed.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("");
        return Ok(PostMedia {
            url: url.to_owned(),
            filename: filename.to_owned(),
            ..PostMedia::default()
        });
    };
    let row = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.seat.workspace_id))
        .filter(media_asset::Column::Path.eq(path))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .one(&act.cx.db.read)
        .await?;
    row.map(|row| of_asset(&act.cx, &row)).ok_or_else(|| {
        let message = format!("{field} is not a stored file of this workspace.");
        Error::field(Code::InvalidField, field, message, "Upload the file again.")
    })
}

fn of_asset(cx: &Domain, row: &media_asset::Model) -> PostMedia {
    PostMedia {
        url: format!("{}/{}", cx.settings.media_base_url, row.path.as_deref().unwrap_or_default()),
        asset_id: Some(row.uid),
        path: row.path.clone(),
        filename: row.filename.clone(),
        mime: row.mime.clone().unwrap_or_default(),
        bytes: row.bytes,
        width: row.width,
        height: row.height,
    }
}

/// The same list with every third-party file copied into our storage; copies run at the same time.
///
/// # Errors
/// What is wrong with a file, or [`Code::MediaCopyPending`] when the copies take longer than a request may.
pub async fn copy(act: &Act, files: Vec<PostMedia>) -> Result<Vec<PostMedia>> {
    let copies = files.into_iter().map(|file| async move {
        if file.path.is_some() { Ok(file) } else { copy_one(act, &file.url).await }
    });
    future::try_join_all(copies).await
}

async fn copy_one(act: &Act, url: &str) -> Result<PostMedia> {
    let id = match earlier(act, url).await? {
        Some(row) => row.id,
        None => start(act, url).await?,
    };
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let row = media_asset::Entity::find_by_id(id).one(&act.cx.db.read).await?;
        let row = row.ok_or_else(|| Error::internal("a media row is gone"))?;
        match row.status {
            AssetStatus::Ready => return Ok(of_asset(&act.cx, &row)),
            AssetStatus::Failed => return Err(failure(row.error.as_ref())),
            AssetStatus::Copying if tokio::time::Instant::now() >= deadline => {
                let message = "The media is still being copied.";
                return Err(Error::new(Code::MediaCopyPending, message).retry_after(5));
            }
            AssetStatus::Copying => tokio::time::sleep(LOOK).await,
        }
    }
}

/// A copy of the same address that is running or has just finished.
async fn earlier(act: &Act, url: &str) -> Result<Option<media_asset::Model>> {
    let since = act.cx.clock.now() - REUSED;
    Ok(media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(act.seat.workspace_id))
        .filter(media_asset::Column::SourceUrl.eq(url))
        .filter(media_asset::Column::Status.ne(AssetStatus::Failed))
        .filter(media_asset::Column::CreatedAt.gte(since))
        .order_by_desc(media_asset::Column::Id)
        .one(&act.cx.db.read)
        .await?)
}

async fn start(act: &Act, url: &str) -> Result<AssetId> {
    let mut tx = Tx::begin(&act.cx).await?;
    let now = act.cx.clock.now();
    let row = new_copy(act.seat.workspace_id, url, now);
    let made = media_asset::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.ring(Kind::CopyMedia, made.id.0, now);
    tx.commit().await?;
    Ok(made.id)
}

fn new_copy(workspace: WorkspaceId, url: &str, now: Millis) -> media_asset::ActiveModel {
    media_asset::ActiveModel {
        uid: Set(Uuid::now_v7()),
        workspace_id: Set(workspace),
        source_url: Set(Some(url.to_owned())),
        filename: Set(String::new()),
        status: Set(AssetStatus::Copying),
        due_at: Set(Some(now)),
        rung_at: Set(Some(now)),
        fence: Set(0),
        attempts: Set(0),
        laps: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    }
}

/// The stored reason why a file could not be copied.
fn failure(stored: Option<&Value>) -> Error {
    let text = |name: &str| stored.and_then(|error| error.get(name)).and_then(Value::as_str);
    let code = text("code").and_then(Code::named).unwrap_or(Code::RemoteMediaUnavailable);
    let message = text("message").unwrap_or("The media could not be copied.");
    let remedy = text("remedy").unwrap_or(code.entry().remedy);
    let mut broken = crate::error::violation(code, "media_urls", message, remedy);
    broken.limit = stored.and_then(|error| error.get("limit")).cloned();
    broken.actual = stored.and_then(|error| error.get("actual")).cloned();
    Error::violation(broken)
}
