//! Brands: groups of accounts and posts inside a workspace.

pub mod voice;

use std::collections::HashMap;

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::{Code, Error, Result},
    input::{self, CursorQuery, ListQuery},
    page::{self, Listed},
};
use fanfare_entities::{BrandId, WorkspaceId, account, brand};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;

use crate::{accounts, accounts::AccountPage};

/// Lists the brands of the membership's workspace that the membership can see, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(act: &Act, list: ListQuery) -> Result<Reply<Listed<BrandPage>>> {
    let after: Option<uuid::Uuid> = input::cursor(list.cursor.as_deref())?;
    let from = |last: Option<&brand::Model>| {
        let query = visible(act).order_by_asc(brand::Column::Id);
        let after = last.map(|row| row.id).or(after.map(BrandId));
        after.map_or(query.clone(), |after| query.filter(brand::Column::Id.gt(after)))
    };
    let size = |row: &brand::Model| row.name.len() + 200;
    let page = page::read(&act.cx.db.read, page::ALL, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let counts = account_counts(act, page.rows.iter().map(|row| row.id)).await?;
    let place = (page.rows.is_empty(), after.is_some());
    let why = page::why_empty(&act.cx.db.read, place, visible(act)).await?;
    let brands = page.rows.into_iter().map(|row| Brand::of(row, &counts)).collect();
    let listed = move || Listed::new(BrandPage { brands, next_cursor }, why);
    Reply::large(page.bytes, listed).await
}

/// Returns the brands, with their names, that a locked membership has to choose from; none for a membership that sees
/// all.
///
/// # Errors
/// The database's.
pub async fn brands_to_choose(act: &Act) -> Result<Vec<(BrandId, String)>> {
    if act.membership.brands.is_none() {
        return Ok(Vec::new());
    }
    names(act).await
}

/// Returns the brands that the membership can see, with their names, oldest first.
///
/// # Errors
/// The database's.
pub async fn names(act: &Act) -> Result<Vec<(BrandId, String)>> {
    let rows = visible(act).order_by_asc(brand::Column::Id).all(&act.cx.db.read).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// Returns one brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn get(act: &Act, id: BrandId) -> Result<Reply<OneBrand>> {
    let row = find(act, id).await?;
    let counts = account_counts(act, [row.id]).await?;
    Ok(Reply::ok(&OneBrand { brand: Brand::of(row, &counts) }))
}

/// Lists the connected accounts of a brand, oldest first.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn accounts(
    act: &Act,
    id: BrandId,
    part: CursorQuery,
) -> Result<Reply<Listed<AccountPage>>> {
    let brand = find(act, id).await?;
    let of_brand = accounts::visible(act).filter(account::Column::BrandId.eq(brand.id));
    accounts::page(act, of_brand, part.cursor.as_deref()).await
}

/// Returns the voice of a brand; parts that were never set are null or empty.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn profile(act: &Act, id: BrandId) -> Result<Reply<OneBrandProfile>> {
    let brand_id = find(act, id).await?.id;
    let voice = voice::read(&act.cx.db.read, brand_id).await?;
    Ok(Reply::ok(&OneBrandProfile { profile: BrandProfile::of(brand_id, voice) }))
}

/// A group of accounts inside a workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Brand {
    id: BrandId,
    workspace_id: WorkspaceId,
    /// Name for people.
    name: String,
    /// Always `canonical`: brands are created in this service.
    source: &'static str,
    /// The number of its connected accounts.
    account_count: u64,
    created_at: Time,
}

/// A brand's voice. A part that was never set is null, or an empty list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrandProfile {
    brand_id: BrandId,
    voice: Option<String>,
    tone: Option<String>,
    audience: Option<String>,
    positioning: Option<String>,
    /// Facts about the brand, which generated texts may claim.
    facts: Vec<String>,
    /// Phrases that texts generated for the brand never use.
    never_say: Vec<String>,
    brand_values: Vec<String>,
    keywords: Vec<String>,
    competitors: Vec<String>,
    do_donts: Vec<String>,
    visual_guidelines: Vec<String>,
    custom_instructions: Vec<String>,
    topics_to_cover: Vec<String>,
    topics_to_avoid: Vec<String>,
    voice_examples: Vec<String>,
}

impl BrandProfile {
    fn of(brand_id: BrandId, from: voice::Voice) -> Self {
        Self {
            brand_id,
            voice: from.voice,
            tone: from.tone,
            audience: from.audience,
            positioning: from.positioning,
            facts: from.facts,
            never_say: from.never_say,
            brand_values: from.brand_values,
            keywords: from.keywords,
            competitors: from.competitors,
            do_donts: from.do_donts,
            visual_guidelines: from.visual_guidelines,
            custom_instructions: from.custom_instructions,
            topics_to_cover: from.topics_to_cover,
            topics_to_avoid: from.topics_to_avoid,
            voice_examples: from.voice_examples,
        }
    }
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
pub struct OneBrandProfile {
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
    fn of(row: brand::Model, counts: &HashMap<BrandId, u64>) -> Self {
        Self {
            id: row.id,
            workspace_id: row.workspace_id,
            name: row.name,
            source: "canonical",
            account_count: counts.get(&row.id).copied().unwrap_or(0),
            created_at: Time(row.created_at),
        }
    }
}

/// Returns the number of connected accounts of each of these brands; brands without accounts are left out.
async fn account_counts(
    act: &Act,
    brands: impl IntoIterator<Item = BrandId>,
) -> Result<HashMap<BrandId, u64>> {
    let counted: Vec<(BrandId, i64)> = accounts::visible(act)
        .select_only()
        .column(account::Column::BrandId)
        .column_as(account::Column::Id.count(), "accounts")
        .filter(account::Column::BrandId.is_in(brands))
        .group_by(account::Column::BrandId)
        .into_tuple()
        .all(&act.cx.db.read)
        .await?;
    Ok(counted.into_iter().map(|(id, count)| (id, count.unsigned_abs())).collect())
}

fn visible(act: &Act) -> sea_orm::Select<brand::Entity> {
    let query =
        brand::Entity::find().filter(brand::Column::WorkspaceId.eq(act.membership.workspace_id));
    match &act.membership.brands {
        Some(brands) => query.filter(brand::Column::Id.is_in(brands.iter().copied())),
        None => query,
    }
}

/// Returns a brand that the membership can see.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn find(act: &Act, id: BrandId) -> Result<brand::Model> {
    let found = visible(act).filter(brand::Column::Id.eq(id)).one(&act.cx.db.read).await?;
    found.ok_or_else(|| Error::new(Code::BrandNotFound, "There is no such brand."))
}
