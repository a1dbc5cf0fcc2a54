//! Writes new posts: those of concurrent requests are written in one transaction.
//!
//! A round trip to the database and a commit cost as much for one post as for many, and the commits of one workspace
//! wait for one another anyway, because its events are numbered without gaps. Instead of waiting in the database, with
//! a connection each, posts wait here and are written together.
//!
//! A workspace whose event counter is locked by another transaction does not delay the others: after [`PATIENCE`] its
//! posts are written apart, until they are done. Posts that must not repeat others are written for one account at a time
//! (`write_once.rs`).

use std::{collections::HashMap, sync::Arc, time::Duration};

use fanfare_core::{
    Act, Reply, Tx,
    batcher::Batcher,
    db::statement,
    error::{Error, Result},
    idempotency,
    rows::{Columns, Rows, Type},
};
use fanfare_entities::{AccountId, PostId, SuggestionId, WorkspaceId, post};
use fanfare_jobs::JobKind;
use fanfare_platforms::Warning;
use sea_orm::{ConnectionTrait, Value};
use uuid::Uuid;

use super::{
    caption_files, media, post_event, status_name, suggestion,
    view::{self, CreatedPost},
    workspace::WorkspaceOfPost,
    write_once::{self, Once},
};

/// A post to be written, and its request.
pub struct NewPostRow {
    /// The request.
    pub act: Act,
    /// The row, without an id.
    pub row: post::Model,
    /// The suggestion that it is made from.
    pub suggestion: Option<SuggestionId>,
    /// Warnings for the caller.
    pub warnings: Vec<Warning>,
    /// The workspace, as the reply shows it.
    pub workspace: WorkspaceOfPost,
    /// The comparison that it has to pass when it is written, if it must not repeat another post.
    pub once: Option<Once>,
}

/// The time for which the posts of many workspaces wait for the event counter of one, as PostgreSQL's `lock_timeout`.
const LOCK_TIMEOUT: &str = "250ms";

/// The replies for new posts that were written together.
type Written = Vec<Result<Reply<CreatedPost>>>;

/// Writes new posts in batches. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PostWriter {
    /// Writes the posts of requests of all workspaces together; `None` for those that are to be written apart.
    together: Batcher<(), Vec<Arc<NewPostRow>>, Option<Written>>,
    /// Writes the posts of each workspace by themselves.
    apart: Batcher<WorkspaceId, NewPostRow, Result<Reply<CreatedPost>>>,
    /// Writes the posts of each account that must not repeat others.
    once: Batcher<AccountId, NewPostRow, Result<Reply<CreatedPost>>>,
}

impl Default for PostWriter {
    fn default() -> Self {
        let together = |requests: Vec<Arc<Vec<Arc<NewPostRow>>>>| async move {
            let news: Vec<_> = requests.iter().flat_map(|news| news.iter().cloned()).collect();
            let mut outcomes = write_together(&news).await.map(Vec::into_iter);
            let of_request =
                |news: &Arc<Vec<_>>| Some(outcomes.as_mut()?.by_ref().take(news.len()).collect());
            Ok(requests.iter().map(of_request).collect())
        };
        // One of them may be the cause of a failure; then each is tried alone.
        let apart = |news: Vec<Arc<NewPostRow>>| async move {
            let tx = begin(&news).await?;
            Ok(commit(prepare(tx, &news, "").await?).await)
        };
        Self {
            together: Batcher::new("create", Duration::ZERO, together),
            apart: Batcher::new("create_apart", Duration::ZERO, apart),
            once: Batcher::new("create_once", Duration::ZERO, write_once::write),
        }
    }
}

impl PostWriter {
    /// Writes a post with its event and the reply to its request.
    ///
    /// # Errors
    /// The database's, or a file was deleted, or another request took over the idempotency key; then nothing was
    /// written. If the reply to the commit itself was lost, the post may have been written.
    pub async fn write(&self, new: impl Into<Arc<NewPostRow>>) -> Result<Reply<CreatedPost>> {
        let mut written = self.write_in_order(vec![new.into()]).await;
        written.pop().unwrap_or_else(|| Err(Error::internal("a new post had no answer")))
    }

    /// Writes the posts of one request, each as [`Self::write`] does. Their ids follow their order, since the posts of
    /// an account that are due at the same time are published in the order of their ids.
    pub async fn write_in_order(
        &self,
        news: Vec<Arc<NewPostRow>>,
    ) -> Vec<Result<Reply<CreatedPost>>> {
        let mut outcomes = Vec::with_capacity(news.len());
        for run in news.chunk_by(|one, next| one.once.is_none() && next.once.is_none()) {
            match run {
                [new] if new.once.is_some() => {
                    let written = self.once.call(new.row.account_id, Arc::clone(new)).await;
                    outcomes.push(written.flatten());
                }
                run => outcomes.extend(self.write_run(run.to_vec()).await),
            }
        }
        outcomes
    }

    async fn write_run(&self, news: Vec<Arc<NewPostRow>>) -> Vec<Result<Reply<CreatedPost>>> {
        if !news.iter().any(|new| self.apart.serves(&new.row.workspace_id)) {
            match self.together.call((), news.clone()).await {
                Ok(Some(outcomes)) => return outcomes,
                Ok(None) => {}
                Err(error) => return news.iter().map(|_| Err(error.clone())).collect(),
            }
        }
        let mut outcomes = Vec::with_capacity(news.len());
        for new in news {
            outcomes.push(self.apart.call(new.row.workspace_id, new).await.flatten());
        }
        outcomes
    }
}

pub(super) async fn begin(news: &[Arc<NewPostRow>]) -> Result<Tx> {
    let first = news.first().ok_or_else(|| Error::internal("a group of no posts"))?;
    Tx::begin(&first.act.cx).await
}

/// Writes posts of any workspaces. If something fails before the commit, nothing was written, and `None` says that each
/// post is to be written apart.
async fn write_together(news: &[Arc<NewPostRow>]) -> Option<Vec<Result<Reply<CreatedPost>>>> {
    let tx = match begin(news).await {
        Ok(tx) => tx,
        Err(error) => return Some(news.iter().map(|_| Err(error.clone())).collect()),
    };
    let patience = if tx.domain().db.is_postgres() {
        format!(" AND set_config('lock_timeout', '{LOCK_TIMEOUT}', true) IS NOT NULL")
    } else {
        String::new()
    };
    match prepare(tx, news, &patience).await {
        Ok(ready) => Some(commit(ready).await),
        Err(error) => {
            tracing::debug!(%error, posts = news.len(), "new posts go apart");
            None
        }
    }
}

/// Commits the transaction. If that fails, all posts fail, and none is tried again: after a lost reply it is unknown
/// whether they were written.
pub(super) async fn commit(
    (tx, replies): (Tx, Vec<Reply<CreatedPost>>),
) -> Vec<Result<Reply<CreatedPost>>> {
    match tx.commit().await {
        Ok(()) => replies.into_iter().map(Ok).collect(),
        Err(error) => replies.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// Writes new posts in an open transaction, with their events; returns their rows, in the same order. `patience` is a
/// condition that is always true and sets the lock timeout.
///
/// # Errors
/// The database's, or a file was deleted, or a suggestion was taken.
pub(super) async fn write_rows(
    tx: &mut Tx,
    news: &[Arc<NewPostRow>],
    patience: &str,
) -> Result<Vec<post::Model>> {
    let made = insert(tx.conn(), news, patience).await?;
    let mut files = Vec::with_capacity(made.len());
    for row in &made {
        files.push((row.id, caption_files::with_media(tx.domain(), tx.conn(), row).await?));
    }
    media::record_uses(tx.conn(), &files).await?;
    for (new, row) in news.iter().zip(&made) {
        if let Some(id) = new.suggestion {
            suggestion::assign(tx.conn(), id, row.id, row.created_at).await?;
        }
    }
    for (new, row) in news.iter().zip(&made) {
        let message = format!("A post for {} was created.", row.platform);
        tx.emit(post_event(&new.act, "post.created", row, message));
        if let Some(due_at) = row.due_at {
            tx.enqueue(JobKind::PublishPost, row.workspace_id, row.id.0, due_at);
        }
    }
    Ok(made)
}

/// Writes everything up to the commit.
pub(super) async fn prepare(
    mut tx: Tx,
    news: &[Arc<NewPostRow>],
    patience: &str,
) -> Result<(Tx, Vec<Reply<CreatedPost>>)> {
    let made = write_rows(&mut tx, news, patience).await?;
    let mut replies = Vec::with_capacity(news.len());
    for (new, row) in news.iter().zip(made) {
        replies.push(
            view::created_reply(&new.act, row, new.warnings.clone(), new.workspace.clone()).await?,
        );
    }
    let reserved = news.iter().zip(&replies);
    let reserved = reserved.filter_map(|(new, reply)| Some((new.act.reservation.as_ref()?, reply)));
    idempotency::settle(tx.domain(), tx.conn(), &reserved.collect::<Vec<_>>()).await?;
    tx.write_events().await?;
    Ok((tx, replies))
}

/// The columns that a new post sets; all others are null or the default.
const COLUMNS: Columns = &[
    ("workspace_id", Type::Uuid),
    ("account_id", Type::Big),
    ("brand_id", Type::Uuid),
    ("platform", Type::Text),
    ("created_by", Type::Uuid),
    ("request_id", Type::Text),
    ("caption", Type::Text),
    ("post_type", Type::Text),
    ("requested_post_type", Type::Text),
    ("settings", Type::Json),
    ("metadata", Type::Json),
    ("media", Type::Json),
    ("status", Type::Text),
    ("scheduled_at", Type::Big),
    ("timezone", Type::Text),
    ("group_key", Type::Text),
    ("content_key", Type::Uuid),
    ("due_at", Type::Big),
    ("attempt", Type::Int),
    ("partly_public", Type::Bool),
    ("duplicate_risk", Type::Bool),
    ("post_set_id", Type::Uuid),
    ("created_at", Type::Big),
    ("updated_at", Type::Big),
];

/// Inserts the rows; returns them with their ids, in the same order. `patience` is a condition that is always true and
/// sets the lock timeout.
async fn insert<C: ConnectionTrait>(
    conn: &C,
    news: &[Arc<NewPostRow>],
    patience: &str,
) -> Result<Vec<post::Model>> {
    let mut rows = Rows::new(conn, COLUMNS);
    for row in news.iter().map(|new| &new.row) {
        rows.push([
            row.workspace_id.0.into(),
            row.account_id.0.into(),
            row.brand_id.map(|id| id.0).into(),
            (&row.platform).into(),
            row.created_by.0.into(),
            (&row.request_id).into(),
            (&row.caption).into(),
            (&row.post_type).into(),
            row.requested_post_type.as_ref().into(),
            (&row.settings).into(),
            (&row.metadata).into(),
            (&row.media).into(),
            status_name(row.status).into(),
            row.scheduled_at.into(),
            row.timezone.as_ref().into(),
            row.group_key.as_ref().into(),
            row.content_key.into(),
            row.due_at.into(),
            row.attempt.into(),
            row.partly_public.into(),
            row.duplicate_risk.into(),
            row.post_set_id.map(|id| id.0).into(),
            row.created_at.into(),
            row.updated_at.into(),
        ]);
    }
    let sql = format!("{}{patience} RETURNING id, content_key", rows.insert_into("posts", 1));
    let values: Vec<Value> = rows.values().collect();
    let mut ids: HashMap<Uuid, PostId> = HashMap::with_capacity(news.len());
    for made in conn.query_all_raw(statement(conn, sql, values)).await? {
        ids.insert(made.try_get("", "content_key")?, made.try_get("", "id")?);
    }
    let with_id = |row: &post::Model| {
        let id = ids.get(&row.content_key).copied();
        id.map(|id| post::Model { id, ..row.clone() })
    };
    let made = news.iter().map(|new| with_id(&new.row)).collect::<Option<_>>();
    made.ok_or_else(|| Error::internal("a new post has no id"))
}
