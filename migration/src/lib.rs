//! The schema: forward-only migrations that run unchanged on SQLite and PostgreSQL.

mod ddl;
mod m0001_foundation;
mod m0002_limits;
mod m0003_operations;
mod m0004_lean_indexes;
mod m0005_uploads;
mod m0006_analysis;
mod m0007_connecting;
mod m0008_media_upkeep;
mod m0009_due_in_order;
mod m0010_brands_exist;
mod m0011_processes;
mod m0012_lines;
mod m0013_mail;
mod m0014_billing;
mod m0015_subscription_changes;
mod m0016_credits;
mod m0017_ai;
mod m0018_oauth;
mod m0019_analytics;
mod m0020_loop;
mod m0021_inbox;
mod m0022_business_profiles;
mod m0023_feedback;
mod m0024_details;
mod m0025_brand_profiles;
mod m0026_inbox_files;
mod m0027_post_warnings;
mod m0028_source_etags;
mod m0029_plain_names;
mod m0030_inbound_subjects;
mod m0031_invitations;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, Statement};

/// The list of migrations, oldest first.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_foundation::Foundation),
            Box::new(m0002_limits::Limits),
            Box::new(m0003_operations::Operations),
            Box::new(m0004_lean_indexes::LeanIndexes),
            Box::new(m0005_uploads::Uploads),
            Box::new(m0006_analysis::Analysis),
            Box::new(m0007_connecting::Connecting),
            Box::new(m0008_media_upkeep::MediaUpkeep),
            Box::new(m0009_due_in_order::DueInOrder),
            Box::new(m0010_brands_exist::BrandsExist),
            Box::new(m0011_processes::Processes),
            Box::new(m0012_lines::Lines),
            Box::new(m0013_mail::Mail),
            Box::new(m0014_billing::Billing),
            Box::new(m0015_subscription_changes::SubscriptionChanges),
            Box::new(m0016_credits::Credits),
            Box::new(m0017_ai::Ai),
            Box::new(m0018_oauth::Oauth),
            Box::new(m0019_analytics::Analytics),
            Box::new(m0020_loop::PerformanceLoop),
            Box::new(m0021_inbox::Inbox),
            Box::new(m0022_business_profiles::BusinessProfiles),
            Box::new(m0023_feedback::Feedback),
            Box::new(m0024_details::Details),
            Box::new(m0026_inbox_files::InboxFiles),
            Box::new(m0025_brand_profiles::BrandProfiles),
            Box::new(m0027_post_warnings::PostWarnings),
            Box::new(m0028_source_etags::SourceEtags),
            Box::new(m0029_plain_names::PlainNames),
            Box::new(m0030_inbound_subjects::InboundSubjects),
            Box::new(m0031_invitations::Invitations),
        ]
    }
}

/// Why the schema could not be migrated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database has migrations that this binary does not know.
    #[error(
        "The database was written by a newer Fanfare (its schema has {0:?}, which this version does not know). \
         Start that version, or restore a backup made before the upgrade."
    )]
    Newer(String),
    /// The database lacks migrations that this binary needs.
    #[error("The database's schema is older than this version needs. Run `fanfare migrate` first.")]
    Older,
    /// The database failed.
    #[error("The database's schema could not be read or changed: {0}")]
    Database(#[from] DbErr),
}

/// Brings the schema up to date.
///
/// # Errors
/// [`Error::Newer`] if the database is ahead of this binary; nothing is changed then.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), Error> {
    refuse_newer(db).await?;
    Migrator::up(db, None).await?;
    Ok(())
}

/// Fails unless the schema is exactly what this binary needs.
///
/// # Errors
/// [`Error::Older`] or [`Error::Newer`].
pub async fn check(db: &DatabaseConnection) -> Result<(), Error> {
    let applied = refuse_newer(db).await?;
    if applied.len() < Migrator::migrations().len() {
        return Err(Error::Older);
    }
    Ok(())
}

async fn refuse_newer(db: &DatabaseConnection) -> Result<Vec<String>, Error> {
    let known: Vec<String> =
        Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    let applied = applied(db).await?;
    match applied.iter().find(|name| !known.contains(name)) {
        Some(unknown) => Err(Error::Newer(unknown.clone())),
        None => Ok(applied),
    }
}

/// Returns the names in the migration table; empty if there is no such table yet.
async fn applied(db: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    if !SchemaManager::new(db).has_table("seaql_migrations").await? {
        return Ok(Vec::new());
    }
    let query =
        Statement::from_string(db.get_database_backend(), "SELECT version FROM seaql_migrations");
    db.query_all_raw(query).await?.iter().map(|row| row.try_get("", "version")).collect()
}
