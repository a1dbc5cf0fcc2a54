//! A set with its targets, as the database has them.

use std::collections::BTreeMap;

use fanfare_core::{
    db::statement,
    error::{Error, Result},
};
use fanfare_entities::{BrandId, Millis, PostId, PostSetId, post, post::PostStatus, post_set};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, IdenStatic, Iterable,
    QuerySelect,
};
use serde_json::Value;

use super::levels::{Level, SetContent};

/// A target of a set: its post without content, and what it has of its own.
#[derive(Debug, Clone)]
pub struct TargetRow {
    /// The post, with an empty text and without settings, metadata and files.
    pub post: post::Model,
    /// The name of the account; null if it is gone.
    pub username: Option<String>,
    /// The content of its own.
    pub overrides: Value,
    /// True if its time is its own.
    pub own_time: bool,
    /// The distance of its time from that of the set, in ms.
    pub offset_ms: Option<Millis>,
}

impl TargetRow {
    /// Returns the content of its own.
    ///
    /// # Errors
    /// The column cannot be read.
    pub fn own(&self) -> Result<Level> {
        serde_json::from_value(self.overrides.clone()).map_err(Error::internal)
    }

    /// Returns true if it can still be changed with its set: it is not going out, and no part of it is public.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        is_open(&self.post)
    }
}

/// Returns true if a post can be changed with its set: it is not going out, and no part of it is public.
#[must_use]
pub const fn is_open(post: &post::Model) -> bool {
    !post.partly_public
        && matches!(post.status, PostStatus::Draft | PostStatus::Scheduled | PostStatus::Paused)
}

/// Returns the columns of posts, with empty content.
fn bare_columns<C: ConnectionTrait>(conn: &C) -> String {
    let json = if conn.get_database_backend() == DbBackend::Postgres { "::json" } else { "" };
    let column = |column: post::Column| match column {
        post::Column::Caption => "'' AS caption".to_owned(),
        post::Column::Settings => format!("'{{}}'{json} AS settings"),
        post::Column::Metadata => format!("'{{}}'{json} AS metadata"),
        post::Column::Media => format!("'[]'{json} AS media"),
        post::Column::State => format!("NULL{json} AS state"),
        other => format!("posts.{}", other.as_str()),
    };
    post::Column::iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Returns the content of a set.
///
/// # Errors
/// The column cannot be read.
pub fn content_of(set: &post_set::Model) -> Result<SetContent> {
    serde_json::from_value(set.content.clone()).map_err(Error::internal)
}

/// Returns the targets of these sets, in their order.
///
/// # Errors
/// The database's.
pub async fn targets_of<C: ConnectionTrait>(
    conn: &C,
    sets: &[PostSetId],
    brands: Option<&[BrandId]>,
) -> Result<BTreeMap<PostSetId, Vec<TargetRow>>> {
    let mut found: BTreeMap<PostSetId, Vec<TargetRow>> = BTreeMap::new();
    if sets.is_empty() {
        return Ok(found);
    }
    let places: Vec<_> = (1..=sets.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "SELECT {}, accounts.username, own.overrides, own.own_time, own.offset_ms \
         FROM posts JOIN post_set_targets AS own ON own.post_id = posts.id \
         LEFT JOIN accounts ON accounts.id = posts.account_id \
         WHERE posts.post_set_id IN ({}) ORDER BY own.place, posts.id",
        bare_columns(conn),
        places.join(", ")
    );
    let values = sets.iter().map(|id| id.0.into());
    for row in conn.query_all_raw(statement(conn, sql, values)).await? {
        let target = TargetRow {
            post: post::Model::from_query_result(&row, "")?,
            username: row.try_get("", "username")?,
            overrides: row.try_get("", "overrides")?,
            own_time: row.try_get("", "own_time")?,
            offset_ms: row.try_get("", "offset_ms")?,
        };
        let brand = target.post.brand_id;
        let is_seen = brands.is_none_or(|seen| brand.is_some_and(|id| seen.contains(&id)));
        if let Some(set) = target.post.post_set_id.filter(|_| is_seen) {
            found.entry(set).or_default().push(target);
        }
    }
    Ok(found)
}

/// Locks a set until the transaction ends. It has to be locked before its posts are.
///
/// # Errors
/// The database's.
pub async fn lock<C: ConnectionTrait>(conn: &C, id: PostSetId) -> Result<Option<post_set::Model>> {
    Ok(post_set::Entity::find_by_id(id).lock_exclusive().one(conn).await?)
}

/// Locks the set of a post, if it is in one.
///
/// # Errors
/// The database's.
pub async fn lock_of_post<C: ConnectionTrait>(conn: &C, post: PostId) -> Result<()> {
    let set = post::Entity::find_by_id(post)
        .select_only()
        .column(post::Column::PostSetId)
        .into_tuple::<Option<PostSetId>>();
    if let Some(set) = set.one(conn).await?.flatten() {
        lock(conn, set).await?;
    }
    Ok(())
}

/// Locks the sets of these posts, in the order of their ids, and returns them.
///
/// # Errors
/// The database's.
pub async fn lock_of_posts<C: ConnectionTrait>(
    conn: &C,
    posts: &[PostId],
) -> Result<Vec<PostSetId>> {
    let mut sets = Vec::new();
    for chunk in posts.chunks(500) {
        let places: Vec<_> = (1..=chunk.len()).map(|place| format!("${place}")).collect();
        let sql = format!(
            "SELECT DISTINCT post_set_id FROM posts WHERE post_set_id IS NOT NULL AND id IN ({})",
            places.join(", ")
        );
        let rows =
            conn.query_all_raw(statement(conn, sql, chunk.iter().map(|id| id.0.into()))).await?;
        let read = rows.iter().map(|row| row.try_get::<PostSetId>("", "post_set_id"));
        sets.extend(read.collect::<Result<Vec<_>, DbErr>>()?);
    }
    sets.sort_unstable();
    sets.dedup();
    for id in &sets {
        lock(conn, *id).await?;
    }
    Ok(sets)
}
