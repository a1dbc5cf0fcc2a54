//! Files that a model made: stored like uploaded files, and marked.

use std::fmt::Display;

use bytes::Bytes;
use fanfare_core::{
    Domain, Tx,
    access::{Membership, PlanTier},
    error::{Error, Result},
};
use fanfare_entities::{UserId, WorkspaceId, media_asset, media_asset::Column};
use fanfare_media::{StoredMedia, filename};
use futures_util::Stream;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};

use super::{
    asset::{self, Origin},
    receive::{self, Requirements},
    sizes,
};

/// The origin of a file that a model made.
pub struct GeneratedFile {
    /// The workspace that gets it.
    pub workspace_id: WorkspaceId,
    /// The workspace's plan, which says how long it is kept.
    pub plan: PlanTier,
    /// The user for whom it was made.
    pub created_by: UserId,
    /// The display name, without an extension.
    pub name: String,
    /// The request, for logs and events.
    pub request_id: Option<String>,
}

/// Stores the bytes.
pub async fn receive<E: Display>(
    cx: &Domain,
    place: &Membership,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<StoredMedia> {
    receive_for(cx, place.workspace_id, place.plan, body).await
}

/// Stores the bytes for a workspace on a plan.
pub async fn receive_for<E: Display>(
    cx: &Domain,
    workspace: WorkspaceId,
    plan: PlanTier,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<StoredMedia> {
    let wanted = Requirements {
        sizes: sizes::max_sizes(plan),
        bytes: None,
        mime: None,
        documents: false,
        field: "result",
    };
    receive::receive(cx, workspace, wanted, body).await
}

/// Writes the row of a file whose bytes are stored.
pub async fn keep(
    tx: &mut Tx,
    made: GeneratedFile,
    file: &StoredMedia,
) -> Result<media_asset::Model> {
    let origin = Origin {
        workspace_id: made.workspace_id,
        plan: made.plan,
        created_by: made.created_by,
        drop_session_id: None,
        filename: filename(&made.name, file.mime),
        public_name: asset::public_name(file.mime),
        request_id: made.request_id,
    };
    let mut row = asset::insert(tx, origin, file, None).await?;
    media_asset::Entity::update_many()
        .col_expr(Column::AiGenerated, Expr::value(true))
        .filter(Column::Id.eq(row.id))
        .exec(tx.conn())
        .await?;
    row.ai_generated = true;
    Ok(row)
}

/// Removes the bytes if no row references them.
pub async fn tidy(cx: &Domain, file: &StoredMedia, named: Result<&str, &Error>) {
    asset::remove_unreferenced(cx, file, named).await;
}
