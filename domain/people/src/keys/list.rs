//! The keys of a user.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{BrandId, KeyId, Millis, UserId, WorkspaceId, api_key, api_key::Column};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, Select};

/// A key as its user sees it; the key itself is not stored.
#[derive(Debug, Clone)]
pub struct KeySummary {
    /// Its id.
    pub id: KeyId,
    /// Name for people.
    pub name: String,
    /// Its prefix.
    pub prefix: String,
    /// Its scopes.
    pub scopes: String,
    /// The only workspace that it can reach, if any.
    pub workspace_id: Option<WorkspaceId>,
    /// The only brand that it can reach there, if any.
    pub brand_id: Option<BrandId>,
    /// The time at which it was created.
    pub created_at: Millis,
    /// The time at which it was last used, to the minute.
    pub last_used_at: Option<Millis>,
    /// The time at which it expires.
    pub expires_at: Option<Millis>,
}

/// Selects the keys of a user that are valid.
pub(super) fn valid_keys(person: UserId, now: Millis) -> Select<api_key::Entity> {
    let lasting = Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(now));
    api_key::Entity::find()
        .filter(Column::UserId.eq(person))
        .filter(Column::RevokedAt.is_null())
        .filter(lasting)
}

/// Returns the keys of a user that are valid, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain, person: UserId) -> Result<Vec<KeySummary>> {
    let rows = valid_keys(person, cx.clock.now())
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(&cx.db.read)
        .await?;
    Ok(rows.into_iter().map(KeySummary::of).collect())
}

impl KeySummary {
    pub(super) fn of(row: api_key::Model) -> Self {
        Self {
            id: row.id,
            name: row.name,
            prefix: row.prefix,
            scopes: row.scopes,
            workspace_id: row.workspace_id,
            brand_id: row.brand_id,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
        }
    }
}
