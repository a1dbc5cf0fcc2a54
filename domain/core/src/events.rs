//! Events of a workspace, in order: for webhooks, for programs that poll, and for the activity list.

mod outbox;

use fanfare_entities::{AccountId, BrandId, DeliveryId, Millis, PostId, WorkspaceId};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, FromQueryResult};
use uuid::Uuid;

pub use outbox::Outbox;

/// The types of events that webhooks can subscribe to.
pub const TYPES: &[&str] = &[
    "webhook.test",
    "post.created",
    "post.updated",
    "post.deleted",
    "post.publishing",
    "post.published",
    "post.failed",
    "post.removed",
    "post_set.created",
    "post_set.updated",
    "post_set.deleted",
    "post_set.published",
    "post_set.partial",
    "post_set.failed",
    "account.connected",
    "account.reconnected",
    "account.disconnected",
    "account.token_expiring",
    "analytics.synced",
    "message.received",
    "comment.received",
    "review.received",
    "insight.created",
    "video_job.completed",
    "video_job.failed",
];

/// Returns the smallest id of a time, since ids begin with their time.
pub fn first_id_at(time: Millis) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(time.max(0).unsigned_abs(), &[0; 10]).into_uuid()
}

/// An event to write.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The workspace it happened in.
    pub workspace_id: WorkspaceId,
    /// One of [`TYPES`], or another type that only the activity list shows.
    pub event_type: &'static str,
    /// False: the event is only in the activity list, not in the stream.
    pub streamed: bool,
    /// The payload, as JSON text.
    pub data: String,
    /// The post that it concerns.
    pub post_id: Option<PostId>,
    /// The account that it concerns.
    pub account_id: Option<AccountId>,
    /// Brand of the post or account.
    pub brand_id: Option<BrandId>,
    /// Platform of the post or account.
    pub platform: Option<String>,
    /// Status of the post after the event.
    pub status: Option<String>,
    /// A sentence for people.
    pub message: String,
    /// The request that caused it.
    pub request_id: Option<String>,
}

/// A new delivery of an event to a webhook.
#[derive(Debug, FromQueryResult)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The time at which it is due; null if the webhook is disabled.
    pub due_at: Option<Millis>,
}

/// Writes events, and a delivery for each webhook that subscribes to them. Returns the deliveries.
///
/// # Errors
/// The database's.
pub async fn append<C: ConnectionTrait>(
    conn: &C,
    events: &[NewEvent],
    now: Millis,
) -> Result<Vec<Delivery>, DbErr> {
    let outbox = Outbox::of(conn, events, now);
    let made = match conn.get_database_backend() {
        DbBackend::Postgres => outbox.write(conn).await?,
        _ => outbox.write_sqlite(conn).await?,
    };
    made.iter().map(|row| Delivery::from_query_result(row, "")).collect()
}
