//! Indexes of large tables, which PostgreSQL builds while queries go on.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseBackend, Statement};

/// An index: its name, and what follows `ON`.
pub type Index = (&'static str, &'static str);

/// Builds indexes. The migration must say `use_transaction() == Some(false)`: on PostgreSQL an index that was built is
/// kept, and one that a killed run left half built, which PostgreSQL never uses, is built again.
pub async fn build(manager: &SchemaManager<'_>, indexes: &[Index]) -> Result<(), DbErr> {
    let conn = manager.get_connection();
    if manager.get_database_backend() != DatabaseBackend::Postgres {
        for (name, on) in indexes {
            conn.execute_unprepared(&format!("CREATE INDEX {name} ON {on}")).await?;
        }
        return Ok(());
    }
    // It waits for the running transactions, and nobody waits for it.
    conn.execute_unprepared("SET lock_timeout = 0").await?;
    for (name, on) in indexes {
        if is_half_built(manager, name).await? {
            conn.execute_unprepared(&format!("DROP INDEX CONCURRENTLY {name}")).await?;
        }
        let sql = format!("CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {on}");
        conn.execute_unprepared(&sql).await?;
    }
    conn.execute_unprepared("RESET lock_timeout").await?;
    Ok(())
}

async fn is_half_built(manager: &SchemaManager<'_>, name: &str) -> Result<bool, DbErr> {
    let sql =
        "SELECT 1 AS found FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid";
    let query = Statement::from_sql_and_values(DatabaseBackend::Postgres, sql, [name.into()]);
    Ok(manager.get_connection().query_one_raw(query).await?.is_some())
}
