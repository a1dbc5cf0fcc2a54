//! Brands: groups of accounts and posts inside a workspace.

use fanfare_entities::{BrandId, WorkspaceId, account, brand};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Serialize;

use crate::{
    Act, Reply, accounts,
    accounts::AccountPage,
    clock::Time,
    error::{Code, Error, Result},
    input::{self, Cursor, List},
    page,
};

/// The brands of the membership's workspace that the membership sees, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(act: &Act, list: List) -> Result<Reply<BrandPage>> {
    let after: Option<uuid::Uuid> = input::cursor(list.cursor.as_deref())?;
    let from = |last: Option<&brand::Model>| {
        let query = visible(act).order_by_asc(brand::Column::Id);
        let after = last.map(|row| row.id).or(after.map(BrandId));
        after.map_or(query.clone(), |after| query.filter(brand::Column::Id.gt(after)))
    };
    let size = |row: &brand::Model| row.name.len() + 200;
    let page = page::read(&act.cx.db.read, page::ALL, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let listed =
        || BrandPage { brands: page.rows.into_iter().map(Brand::of).collect(), next_cursor };
    Reply::large(page.bytes, listed).await
}

/// The brands among which a locked membership has to choose, with their names; none for a membership that sees all.
///
/// # Errors
/// The database's.
pub async fn of_seat(act: &Act) -> Result<Vec<(BrandId, String)>> {
    if act.membership.brands.is_none() {
        return Ok(Vec::new());
    }
    names(act).await
}

/// Returns the brands that the membership sees, with their names, oldest first.
///
/// # Errors
/// The database's.
pub async fn names(act: &Act) -> Result<Vec<(BrandId, String)>> {
    let rows = visible(act).order_by_asc(brand::Column::Id).all(&act.cx.db.read).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// One brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn get(act: &Act, id: BrandId) -> Result<Reply<OneBrand>> {
    Ok(Reply::ok(&OneBrand { brand: Brand::of(find(act, id).await?) }))
}

/// The connected accounts of a brand, oldest first.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn accounts(act: &Act, id: BrandId, part: Cursor) -> Result<Reply<AccountPage>> {
    let brand = find(act, id).await?;
    let of_brand = accounts::visible(act).filter(account::Column::BrandId.eq(brand.id));
    accounts::page(act, of_brand, part.cursor.as_deref()).await
}

/// Returns the voice of a brand; parts that were never set are null.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn profile(act: &Act, id: BrandId) -> Result<Reply<OneProfile>> {
    let brand_id = find(act, id).await?.id;
    let profile =
        BrandProfile { brand_id, voice: None, tone: None, audience: None, positioning: None };
    Ok(Reply::ok(&OneProfile { profile }))
}

/// A group of accounts inside a workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Brand {
    id: BrandId,
    workspace_id: WorkspaceId,
    /// Name for people.
    name: String,
    created_at: Time,
}

/// A brand's voice. A part that nobody has written down is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrandProfile {
    brand_id: BrandId,
    voice: Option<String>,
    tone: Option<String>,
    audience: Option<String>,
    positioning: Option<String>,
}

/// One brand.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneBrand {
    brand: Brand,
}

/// The voice of one brand.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneProfile {
    profile: BrandProfile,
}

/// Brands.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct BrandPage {
    brands: Vec<Brand>,
    /// The cursor of the next page; null on the last one.
    next_cursor: Option<String>,
}

impl Brand {
    fn of(row: brand::Model) -> Self {
        Self {
            id: row.id,
            workspace_id: row.workspace_id,
            name: row.name,
            created_at: Time(row.created_at),
        }
    }
}

fn visible(act: &Act) -> sea_orm::Select<brand::Entity> {
    let query =
        brand::Entity::find().filter(brand::Column::WorkspaceId.eq(act.membership.workspace_id));
    match &act.membership.brands {
        Some(brands) => query.filter(brand::Column::Id.is_in(brands.iter().copied())),
        None => query,
    }
}

/// A brand that the membership sees.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub(crate) async fn find(act: &Act, id: BrandId) -> Result<brand::Model> {
    let found = visible(act).filter(brand::Column::Id.eq(id)).one(&act.cx.db.read).await?;
    found.ok_or_else(|| Error::new(Code::BrandNotFound, "There is no such brand."))
}
