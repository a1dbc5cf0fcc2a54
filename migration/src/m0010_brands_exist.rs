//! A foreign key for the brand of an account.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

use crate::ddl;

/// Makes the brand of an account a foreign key. Accounts whose brand does not exist, or is in another workspace, lose
/// it.
pub struct BrandsExist;

impl MigrationName for BrandsExist {
    fn name(&self) -> &'static str {
        "m0010_brands_exist"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for BrandsExist {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &[CLEARED]).await?;
        match manager.get_database_backend() {
            DatabaseBackend::Postgres => ddl::run(manager, POSTGRES).await,
            _ => ddl::run(manager, SQLITE).await,
        }
    }
}

const CLEARED: &str = "UPDATE accounts SET brand_id = NULL WHERE brand_id IS NOT NULL AND NOT EXISTS \
    (SELECT 1 FROM brands b WHERE b.id = accounts.brand_id AND b.workspace_id = accounts.workspace_id)";

const POSTGRES: &[&str] = &[
    "ALTER TABLE accounts ADD CONSTRAINT accounts_brand FOREIGN KEY (brand_id) REFERENCES brands (id)",
];

/// SQLite accepts a foreign key only with a new column.
const SQLITE: &[&str] = &[
    "ALTER TABLE accounts ADD COLUMN brand BLOB REFERENCES brands (id)",
    "UPDATE accounts SET brand = brand_id",
    "ALTER TABLE accounts DROP COLUMN brand_id",
    "ALTER TABLE accounts RENAME COLUMN brand TO brand_id",
];
