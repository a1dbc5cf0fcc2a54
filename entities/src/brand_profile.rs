//! Table `brand_profiles`.

use sea_orm::entity::prelude::*;

use crate::{BrandId, Millis};

/// The voice of a brand. A brand without a row has none yet.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "brand_profiles")]
pub struct Model {
    /// The brand.
    #[sea_orm(primary_key, auto_increment = false)]
    pub brand_id: BrandId,
    /// The parts of the voice, by name.
    pub voice: Json,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
