//! The numbers of a post by its age.

use std::collections::BTreeMap;

use fanfare_core::{Act, error::Result};
use fanfare_entities::{Millis, PostId, post_numbers, post_reading};
use fanfare_publishing::posts;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::parse_metrics;

/// The numbers of a post at one age.
#[derive(Debug, Clone)]
pub struct PostReading {
    /// The age: `1h`, `6h`, `24h`, `72h` or `7d`.
    pub checkpoint: String,
    /// The known numbers by name.
    pub numbers: BTreeMap<String, i64>,
    /// The time at which they were read.
    pub read_at: Millis,
}

/// Returns the numbers of a post at each age at which they were read, earliest first.
///
/// # Errors
/// [`fanfare_core::Code::PostNotFound`].
pub async fn readings(act: &Act, id: PostId) -> Result<Vec<PostReading>> {
    let post = posts::find(act, id).await?;
    let conn = &act.cx.db.read;
    let of_post = post_numbers::Entity::find()
        .filter(post_numbers::Column::PostId.eq(post.id))
        .filter(post_numbers::Column::WorkspaceId.eq(act.membership.workspace_id));
    let Some(row) = of_post.one(conn).await? else { return Ok(Vec::new()) };
    let rows = post_reading::Entity::find()
        .filter(post_reading::Column::PostNumbersId.eq(row.id))
        .order_by_asc(post_reading::Column::ReadAt)
        .all(conn)
        .await?;
    let shown = |row: post_reading::Model| PostReading {
        numbers: parse_metrics(&row.numbers)
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
        checkpoint: row.checkpoint,
        read_at: row.read_at,
    };
    Ok(rows.into_iter().map(shown).collect())
}
