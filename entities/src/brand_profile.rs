//! Table `brand_profiles`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, Millis};

/// The voice of a brand; a brand without a row has none yet.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "brand_profiles")]
pub struct Model {
    /// The brand.
    #[sea_orm(primary_key, auto_increment = false)]
    pub brand_id: BrandId,
    /// Its parts, by name.
    pub voice: Json,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
