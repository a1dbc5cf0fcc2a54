//! The schema: forward-only migrations that run unchanged on SQLite and PostgreSQL.

mod ddl;
mod index;
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
mod m0032_lists;
mod m0040_ledger_workspaces;
mod m0060_reversals;
mod m0070_remote_results;
mod m0071_unsettled_posts;
mod m0080_post_parts;
mod m0081_event_filters;
mod m0082_sync_first_day;
mod m0087_connect_links;
mod m0088_key_brands;
mod m0089_ledger_callers;
mod m0090_ledger_times;
mod m0093_lists_of_much;
mod m0094_audit_of_workspaces;
mod m0095_workspace_deletions;
mod m0096_rows_of_workspaces;
mod m0097_turns;
mod m0098_turns_of_held;
mod m0099_post_names;
mod m0100_post_removals;
mod m0101_posts_near_in_time;
mod m0102_post_sets;
mod m0103_posts_of_sets;
mod run;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, Statement};

pub use run::{Run, Watch};

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
            Box::new(m0032_lists::Lists),
            Box::new(m0040_ledger_workspaces::LedgerWorkspaces),
            Box::new(m0060_reversals::Reversals),
            Box::new(m0070_remote_results::RemoteResults),
            Box::new(m0071_unsettled_posts::UnsettledPosts),
            Box::new(m0080_post_parts::PostParts),
            Box::new(m0081_event_filters::EventFilters),
            Box::new(m0082_sync_first_day::SyncFirstDay),
            Box::new(m0087_connect_links::ConnectLinks),
            Box::new(m0088_key_brands::KeyBrands),
            Box::new(m0089_ledger_callers::LedgerCallers),
            Box::new(m0090_ledger_times::LedgerTimes),
            Box::new(m0093_lists_of_much::ListsOfMuch),
            Box::new(m0094_audit_of_workspaces::AuditOfWorkspaces),
            Box::new(m0095_workspace_deletions::WorkspaceDeletions),
            Box::new(m0096_rows_of_workspaces::RowsOfWorkspaces),
            Box::new(m0097_turns::Turns),
            Box::new(m0098_turns_of_held::TurnsOfHeld),
            Box::new(m0099_post_names::PostNames),
            Box::new(m0100_post_removals::PostRemovals),
            Box::new(m0101_posts_near_in_time::PostsNearInTime),
            Box::new(m0102_post_sets::PostSets),
            Box::new(m0103_posts_of_sets::PostsOfSets),
        ]
    }
}

/// Why the schema could not be migrated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database has migrations that this binary does not know and cannot work with.
    #[error(
        "The database was written by a newer Fanfare (its schema has {0:?}, which this version cannot work with). \
         Start that version, or restore a backup made before the upgrade."
    )]
    Newer(String),
    /// The database lacks migrations that this binary needs.
    #[error("The database's schema is older than this version needs. Run `fanfare migrate` first.")]
    Older,
    /// Other transactions hold locks for too long.
    #[error(
        "The migration {0:?} waited too long for other transactions, and changed nothing. End the longest ones \
         (SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start) and start it again."
    )]
    Locked(String),
    /// The database failed.
    #[error("The database's schema could not be read or changed: {0}")]
    Database(#[from] DbErr),
}

/// Brings the schema up to date.
///
/// # Errors
/// [`Error::Newer`] if the database is ahead of this binary in a way it cannot work with; nothing is changed then.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), Error> {
    Run::default().on(db).await
}

/// Fails unless the schema has all that this binary needs.
///
/// # Errors
/// [`Error::Older`] or [`Error::Newer`].
pub async fn check(db: &DatabaseConnection) -> Result<(), Error> {
    let applied = refuse_newer(db).await?;
    if names().iter().any(|name| !applied.contains(name)) {
        return Err(Error::Older);
    }
    Ok(())
}

/// Returns the names of all migrations, oldest first.
#[must_use]
pub fn names() -> Vec<String> {
    Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect()
}

/// Refuses a database with a migration that took away what this binary needs. Returns the names of those it has.
async fn refuse_newer(db: &DatabaseConnection) -> Result<Vec<String>, Error> {
    let (known, applied) = (names(), applied(db).await?);
    match applied.iter().find(|name| !known.contains(name) && !is_harmless(name, &known)) {
        Some(unknown) => Err(Error::Newer(unknown.clone())),
        None => Ok(applied),
    }
}

/// Returns true if a version that knows the migrations `known` works beside one that has applied `unknown`, too. A
/// migration only adds, unless its name ends with `_needs_` and the number of the migration since which nothing names
/// what it takes away: `m0050_drop_old_names_needs_m0041`.
fn is_harmless(unknown: &str, known: &[String]) -> bool {
    let needed = unknown.rsplit_once("_needs_").map(|(_, needed)| format!("{needed}_"));
    needed.is_none_or(|needed| known.iter().any(|name| name.starts_with(&needed)))
}

/// Returns the names in the migration table; empty if there is no such table yet.
async fn applied<C: ConnectionTrait>(db: &C) -> Result<Vec<String>, DbErr> {
    let backend = db.get_database_backend();
    let sql = match backend {
        DatabaseBackend::Postgres => {
            "SELECT 1 AS found WHERE to_regclass('seaql_migrations') IS NOT NULL"
        }
        _ => "SELECT 1 AS found FROM sqlite_master WHERE name = 'seaql_migrations'",
    };
    if db.query_one_raw(Statement::from_string(backend, sql)).await?.is_none() {
        return Ok(Vec::new());
    }
    let query = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    db.query_all_raw(query).await?.iter().map(|row| row.try_get("", "version")).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, names};

    #[test]
    fn an_earlier_version_works_with_what_is_added_and_not_without_what_it_names() {
        let known = ["m0040_more".to_owned(), "m0041_new_names".to_owned()];
        for (unknown, right) in [
            ("m0042_even_more", true),
            ("m0042_drop_old_names_needs_m0041", true),
            ("m0043_drop_old_names_needs_m0042", false),
            ("m0043_drop_old_names_needs_m004", false),
            ("m0043_drop_old_names_needs_", false),
        ] {
            assert_eq!(is_harmless(unknown, &known), right, "{unknown}");
        }
    }

    #[test]
    fn every_migration_that_takes_away_names_one_that_exists() {
        let names = names();
        for name in &names {
            assert!(is_harmless(name, &names), "{name}");
        }
    }
}
