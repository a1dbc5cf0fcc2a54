//! Writing new posts: those that requests of one workspace make at the same time go in one transaction.
//!
//! The events of a workspace are numbered without gaps, so its commits follow one another anyway. What would wait for the
//! counter in the database, with a connection each, waits here and costs one commit together.

use std::{collections::HashMap, sync::Arc};

use fanfare_entities::{PostId, WorkspaceId, post};
use fanfare_jobs::Kind;
use fanfare_platforms::Warning;
use sea_orm::{ConnectionTrait, Value};
use serde_json::json;
use uuid::Uuid;

use super::{media, media_of, status_name, view};
use crate::{
    Act, Reply, Tx,
    db::statement,
    error::{Error, Result},
    group::Group,
    idempotency,
    rows::{Columns, Rows, Type},
};

/// A post about to be written, and for which request.
pub struct NewRow {
    /// The request.
    pub act: Act,
    /// The row, without an id.
    pub row: post::Model,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

/// New posts on their way, by workspace.
pub type Writer = Group<WorkspaceId, NewRow, Result<Reply>>;

/// Writes new posts in groups.
#[must_use]
pub fn writer() -> Writer {
    Group::new("create", std::time::Duration::ZERO, |news: Vec<Arc<NewRow>>| async move {
        Ok(write(&news).await)
    })
}

/// Writes them, each with its event and its stored answer; if that cannot be done together, one by one.
async fn write(news: &[Arc<NewRow>]) -> Vec<Result<Reply>> {
    match prepare(news).await {
        Ok(ready) => commit(ready).await,
        Err(error) if news.len() == 1 => vec![Err(error)],
        // Nothing of it has been committed, so none can be made twice.
        Err(_) => {
            let mut outcomes = Vec::with_capacity(news.len());
            for new in news {
                match prepare(std::slice::from_ref(new)).await {
                    Ok(ready) => outcomes.extend(commit(ready).await),
                    Err(error) => outcomes.push(Err(error)),
                }
            }
            outcomes
        }
    }
}

/// When the answer of a commit is lost nobody knows whether the posts were made: none is tried again.
async fn commit((tx, replies): (Tx, Vec<Reply>)) -> Vec<Result<Reply>> {
    match tx.commit().await {
        Ok(()) => replies.into_iter().map(Ok).collect(),
        Err(error) => replies.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// Everything up to the commit.
async fn prepare(news: &[Arc<NewRow>]) -> Result<(Tx, Vec<Reply>)> {
    let Some(cx) = news.first().map(|new| &new.act.cx) else {
        return Err(Error::internal("a group of no posts"));
    };
    let mut tx = Tx::begin(cx).await?;
    let made = insert(tx.conn(), news).await?;
    let files = made.iter().map(|row| (row.id, media_of(row)));
    media::note(tx.conn(), &files.collect::<Vec<_>>()).await?;
    let mut replies = Vec::with_capacity(news.len());
    for (new, row) in news.iter().zip(&made) {
        let message = format!("A post for {} was created.", row.platform);
        tx.emit(new.act.post_event("post.created", row, message));
        if let Some(due_at) = row.due_at {
            tx.ring(Kind::PublishPost, row.workspace_id, row.id.0, due_at);
        }
        let body = json!({"post": view(row), "warnings": new.warnings});
        replies.push(Reply::ok(body).with_status(201));
    }
    let reserved = news.iter().zip(&replies);
    let reserved = reserved.filter_map(|(new, reply)| Some((new.act.reservation.as_ref()?, reply)));
    idempotency::settle(cx, tx.conn(), &reserved.collect::<Vec<_>>()).await?;
    Ok((tx, replies))
}

/// What a new post has; all else is null or the column's default.
const COLUMNS: Columns = &[
    ("workspace_id", Type::Uuid),
    ("account_id", Type::Big),
    ("brand_id", Type::Uuid),
    ("platform", Type::Text),
    ("created_by", Type::Uuid),
    ("request_id", Type::Text),
    ("caption", Type::Text),
    ("post_type", Type::Text),
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
    ("created_at", Type::Big),
    ("updated_at", Type::Big),
];

/// Inserts the rows; returns them with their ids, in the same order.
async fn insert<C: ConnectionTrait>(conn: &C, news: &[Arc<NewRow>]) -> Result<Vec<post::Model>> {
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
            row.created_at.into(),
            row.updated_at.into(),
        ]);
    }
    let sql = format!("{} RETURNING id, content_key", rows.insert_into("posts", 1));
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
