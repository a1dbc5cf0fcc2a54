//! The brands of a workspace, and memberships that are locked to them.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{BrandId, Millis, UserId, WorkspaceId, brand, brand_lock, membership};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter,
    sea_query::OnConflict,
};

use super::{check_name, not_a_member, require_workspace};

/// Creates a brand.
///
/// # Errors
/// [`Code::WorkspaceNotFound`].
pub async fn create_brand(cx: &Domain, workspace: WorkspaceId, name: &str) -> Result<BrandId> {
    check_name(name)?;
    require_workspace(cx, workspace).await?;
    insert_brand(&cx.db.write, workspace, name, cx.clock.now()).await
}

/// Inserts a brand whose name and workspace were checked.
pub async fn insert_brand<C: ConnectionTrait>(
    conn: &C,
    workspace: WorkspaceId,
    name: &str,
    now: Millis,
) -> Result<BrandId> {
    let id = BrandId::fresh();
    let row = brand::ActiveModel {
        id: Set(id),
        workspace_id: Set(workspace),
        name: Set(name.to_owned()),
        created_at: Set(now),
    };
    brand::Entity::insert(row).exec_without_returning(conn).await?;
    Ok(id)
}

/// Returns the number of brands of a workspace.
pub async fn count_brands<C: ConnectionTrait>(conn: &C, id: WorkspaceId) -> Result<u64> {
    let ours = brand::Entity::find().filter(brand::Column::WorkspaceId.eq(id));
    Ok(ours.count(conn).await?)
}

/// Locks a membership to a brand. A membership may be locked to several brands.
///
/// # Errors
/// [`Code::BrandNotFound`], or [`Code::NotFound`] if the user has no membership there.
pub async fn lock_to_brand(
    cx: &Domain,
    workspace: WorkspaceId,
    person: UserId,
    id: BrandId,
) -> Result<()> {
    let conn = &cx.db.write;
    let found = brand::Entity::find_by_id(id).one(conn).await?;
    if found.is_none_or(|brand| brand.workspace_id != workspace) {
        return Err(Error::new(Code::BrandNotFound, format!("There is no brand {id} there.")));
    }
    if membership::Entity::find_by_id((workspace, person)).one(conn).await?.is_none() {
        return Err(not_a_member());
    }
    let row = brand_lock::ActiveModel {
        workspace_id: Set(workspace),
        user_id: Set(person),
        brand_id: Set(id),
    };
    let again = OnConflict::new().do_nothing().to_owned();
    brand_lock::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Removes the lock of a membership to a brand. A membership without a lock sees the whole workspace.
///
/// # Errors
/// [`Code::NotFound`] if there is no such lock.
pub async fn unlock_from_brand(
    cx: &Domain,
    workspace: WorkspaceId,
    person: UserId,
    id: BrandId,
) -> Result<()> {
    let lock = brand_lock::Entity::delete_many()
        .filter(brand_lock::Column::WorkspaceId.eq(workspace))
        .filter(brand_lock::Column::UserId.eq(person))
        .filter(brand_lock::Column::BrandId.eq(id));
    if lock.exec(&cx.db.write).await?.rows_affected == 0 {
        let message = "This user's membership in the workspace is not locked to the brand.";
        return Err(Error::new(Code::NotFound, message));
    }
    Ok(())
}
