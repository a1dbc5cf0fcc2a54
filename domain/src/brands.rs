//! Brands: groups of accounts and posts inside a workspace.

use fanfare_entities::{BrandId, account, account::AccountStatus, brand};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::{
    Act, Reply, accounts,
    clock::show,
    error::{Code, Error, Result},
};

/// The brands of the membership's workspace that the membership sees, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(act: &Act) -> Result<Reply> {
    let rows = visible(act).order_by_asc(brand::Column::Id).all(&act.cx.db.read).await?;
    Ok(Reply::of("brands", rows.iter().map(view).collect::<Vec<_>>()))
}

/// The brands among which a locked membership has to choose, with their names; none for a membership that sees all.
///
/// # Errors
/// The database's.
pub async fn of_seat(act: &Act) -> Result<Vec<(BrandId, String)>> {
    if act.membership.brands.is_none() {
        return Ok(Vec::new());
    }
    let rows = visible(act).order_by_asc(brand::Column::Id).all(&act.cx.db.read).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// One brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn get(act: &Act, id: BrandId) -> Result<Reply> {
    Ok(Reply::of("brand", view(&find(act, id).await?)))
}

/// The connected accounts of a brand, oldest first.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn accounts(act: &Act, id: BrandId) -> Result<Reply> {
    let brand = find(act, id).await?;
    let rows = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(account::Column::BrandId.eq(brand.id))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected))
        .order_by_asc(account::Column::Id)
        .all(&act.cx.db.read)
        .await?;
    let views: Vec<_> = rows.iter().map(|row| accounts::view(&act.cx, row)).collect();
    Ok(Reply::of("accounts", views))
}

/// Returns the voice of a brand; parts that were never set are null.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn profile(act: &Act, id: BrandId) -> Result<Reply> {
    let brand = find(act, id).await?;
    let profile = json!({
        "brand_id": brand.id, "voice": null, "tone": null, "audience": null, "positioning": null,
    });
    Ok(Reply::of("profile", profile))
}

fn visible(act: &Act) -> sea_orm::Select<brand::Entity> {
    let query =
        brand::Entity::find().filter(brand::Column::WorkspaceId.eq(act.membership.workspace_id));
    match &act.membership.brands {
        Some(brands) => query.filter(brand::Column::Id.is_in(brands.iter().copied())),
        None => query,
    }
}

async fn find(act: &Act, id: BrandId) -> Result<brand::Model> {
    let found = visible(act).filter(brand::Column::Id.eq(id)).one(&act.cx.db.read).await?;
    found.ok_or_else(|| Error::new(Code::BrandNotFound, "There is no such brand."))
}

fn view(row: &brand::Model) -> Value {
    json!({
        "id": row.id, "workspace_id": row.workspace_id, "name": row.name,
        "created_at": show(row.created_at),
    })
}
