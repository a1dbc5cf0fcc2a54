//! The row of a file: written once its bytes are in the store.

use fanfare_core::{
    Domain, Tx,
    access::PlanTier,
    clock::Time,
    error::{Error, Result},
};
use fanfare_entities::{
    AssetId, DropSessionId, Millis, UserId, WorkspaceId, media_asset, media_asset::AssetStatus,
};
use fanfare_media::{StoredMedia, extension};
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{on_stored, sizes};

/// The prefix of every uploaded file.
pub(super) const ROOT: &str = "assets";

/// The origin of a file.
pub(super) struct Origin {
    pub workspace_id: WorkspaceId,
    pub plan: PlanTier,
    pub created_by: UserId,
    pub drop_session_id: Option<DropSessionId>,
    pub filename: String,
    pub public_name: String,
    /// The id of the request that brings it.
    pub request_id: Option<String>,
}

/// Returns the prefix of a workspace's files.
pub(super) fn prefix(workspace: WorkspaceId) -> String {
    format!("{ROOT}/{workspace}")
}

/// Returns an unguessable name to serve a file under.
pub(super) fn public_name(mime: &str) -> String {
    format!("{:032x}.{}", rand::random::<u128>(), extension(mime))
}

/// Returns the public address of a file.
pub fn url(cx: &Domain, row: &media_asset::Model) -> String {
    format!("{}/{}", cx.settings.media_base_url, name(row))
}

fn name(row: &media_asset::Model) -> &str {
    row.public_name.as_deref().or(row.path.as_deref()).unwrap_or_default()
}

/// A stored file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Media {
    pub id: Uuid,
    /// The same as `id`.
    pub asset_id: Uuid,
    /// The address at which it is served; to be sent as `media_url`.
    pub url: String,
    /// The same as `url`.
    pub public_url: String,
    /// The display name.
    pub filename: String,
    /// The part of the address that identifies the file.
    pub path: String,
    /// Media type, detected from the bytes.
    pub mime: Option<String>,
    pub bytes: Option<i64>,
    /// Pixels, once it is analysed.
    pub width: Option<i32>,
    /// Pixels, once it is analysed.
    pub height: Option<i32>,
    /// True if a model made it.
    pub ai_generated: bool,
    /// The drop session that it came through.
    pub drop_session_id: Option<DropSessionId>,
    pub created_at: Time,
}

impl Media {
    /// Creates the view of a row.
    pub(super) fn of(cx: &Domain, row: &media_asset::Model) -> Self {
        let url = url(cx, row);
        Self {
            id: row.uid,
            asset_id: row.uid,
            public_url: url.clone(),
            url,
            filename: row.filename.clone(),
            path: name(row).to_owned(),
            mime: row.mime.clone(),
            bytes: row.bytes,
            width: row.width,
            height: row.height,
            ai_generated: row.ai_generated,
            drop_session_id: row.drop_session_id,
            created_at: Time(row.created_at),
        }
    }
}

/// An earlier file of the workspace with the same bytes, whose stored bytes can be shared.
#[derive(Debug)]
pub(super) struct Duplicate {
    id: AssetId,
    path: String,
}

/// Returns a duplicate whose bytes are still stored.
pub(super) async fn find_duplicate(
    cx: &Domain,
    workspace: WorkspaceId,
    file: &StoredMedia,
) -> Result<Option<Duplicate>> {
    let found = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(workspace))
        .filter(media_asset::Column::Digest.eq(file.digest.as_str()))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .order_by_desc(media_asset::Column::Id)
        .one(&cx.db.read)
        .await?;
    let Some((id, path)) = found.and_then(|row| Some((row.id, row.path?))) else {
        return Ok(None);
    };
    let stat = cx.store.stat(&path).await;
    Ok(stat.is_ok_and(|stat| stat.size == file.bytes).then_some(Duplicate { id, path }))
}

/// Returns the path for a new row: the duplicate's, if it still exists (then it is locked until this transaction ends),
/// or the file's own.
pub(super) async fn shared_path(
    tx: &Tx,
    file: &StoredMedia,
    duplicate: Option<Duplicate>,
) -> Result<String> {
    let Some(duplicate) = duplicate else { return Ok(file.path.clone()) };
    let held = lock_path(tx, duplicate.id, &duplicate.path).await?;
    Ok(if held { duplicate.path } else { file.path.clone() })
}

/// Returns true if an earlier file still exists, and locks it until this transaction ends.
pub(super) async fn lock_earlier(tx: &Tx, known: &media_asset::Model) -> Result<bool> {
    lock_path(tx, known.id, known.path.as_deref().unwrap_or_default()).await
}

async fn lock_path(tx: &Tx, id: AssetId, path: &str) -> Result<bool> {
    let held: Option<AssetId> = media_asset::Entity::find_by_id(id)
        .select_only()
        .column(media_asset::Column::Id)
        .filter(media_asset::Column::Path.eq(path))
        .lock_shared()
        .into_tuple()
        .one(tx.conn())
        .await?;
    Ok(held.is_some())
}

/// Writes the row of a stored file.
pub(super) async fn insert(
    tx: &mut Tx,
    origin: Origin,
    file: &StoredMedia,
    duplicate: Option<Duplicate>,
) -> Result<media_asset::Model> {
    let now = tx.now();
    let path = shared_path(tx, file, duplicate).await?;
    let row = media_asset::ActiveModel {
        uid: Set(Uuid::now_v7()),
        workspace_id: Set(origin.workspace_id),
        source_url: Set(None),
        filename: Set(origin.filename),
        path: Set(Some(path)),
        mime: Set(Some(file.mime.to_owned())),
        bytes: Set(Some(i64::try_from(file.bytes).map_err(Error::internal)?)),
        width: Set(side(file.width)),
        height: Set(side(file.height)),
        status: Set(AssetStatus::Ready),
        due_at: Set(None),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        public_name: Set(Some(origin.public_name)),
        digest: Set(Some(file.digest.clone())),
        created_by: Set(Some(origin.created_by)),
        drop_session_id: Set(origin.drop_session_id),
        review_at: Set(Some(review_at(now, origin.plan))),
        request_id: Set(origin.request_id),
        ..Default::default()
    };
    let made = media_asset::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    on_stored(tx, &made).await?;
    Ok(made)
}

/// Returns the time at which to check whether a file that came now is still needed.
pub(super) fn review_at(now: Millis, plan: PlanTier) -> Millis {
    now + sizes::retention(plan)
}

/// Returns a side in pixels as the row stores it.
pub(super) fn side(pixels: Option<u32>) -> Option<i32> {
    pixels.and_then(|pixels| i32::try_from(pixels).ok())
}

/// Removes received bytes that no row references: the file has a duplicate, or was refused. After an error of our own
/// they are kept, since the row may have been written; if not, the bytes are an orphan.
pub(super) async fn remove_unreferenced(
    cx: &Domain,
    file: &StoredMedia,
    named: Result<&str, &Error>,
) {
    let spare = match named {
        Ok(path) => path != file.path,
        Err(error) => error.status() < 500,
    };
    if spare && let Err(error) = cx.store.delete(&file.path).await {
        tracing::warn!(%error, "bytes that nobody needs were not removed; they are found as an orphan");
    }
}
