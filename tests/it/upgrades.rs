//! Upgrades: a kill at any moment leaves a database that the next start finishes, and processes of the version before
//! go on beside the new schema.

mod beside;
mod first_start;
mod killed;
pub mod schema;

use fanfare_core::db::Db;
use fanfare_tests::Stack;
use sea_orm::ConnectionTrait;

/// Opens the database at an address, for one run of migrations.
async fn open(url: &str) -> Db {
    Db::open(url, 2).await.expect("the database opens")
}

/// Closes a database, so that it is whole in its file.
async fn close(db: Db) {
    let Db { write, read } = db;
    read.close().await.expect("it is closed");
    write.close().await.expect("it is closed");
}

/// Runs all migrations, or those up to `last`.
async fn migrate(db: &Db, last: Option<&'static str>) {
    let run = fanfare_migration::Run { last, watch: None };
    run.on(&db.write).await.unwrap_or_else(|error| panic!("up to {last:?}: {error}"));
}

/// Returns the names of all migrations, which live as long as the test.
fn names() -> Vec<&'static str> {
    fanfare_migration::names().into_iter().map(|name| &*name.leak()).collect()
}

#[tokio::test]
async fn two_processes_that_start_at_once_bring_the_schema_up_to_date_together() {
    let dir = crate::service::Dir::new();
    let url = Stack::of_this_run().empty_database(&dir).await;
    let (one, other) = (open(&url).await, open(&url).await);
    tokio::join!(migrate(&one, None), migrate(&other, None));
    for db in [&one, &other] {
        fanfare_migration::check(&db.write).await.unwrap();
    }
}

#[tokio::test]
async fn a_version_starts_beside_what_a_newer_one_added_and_not_where_it_took_away() {
    let dir = crate::service::Dir::new();
    let url = Stack::of_this_run().empty_database(&dir).await;
    let db = open(&url).await;
    migrate(&db, None).await;
    let apply = async |name: &str| {
        let sql =
            format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{name}', 0)");
        db.write.execute_unprepared(&sql).await.unwrap();
    };
    let newest = names().last().unwrap().split('_').next().unwrap();
    apply("m9001_more").await;
    apply(&format!("m9002_drop_old_names_needs_{newest}")).await;
    fanfare_migration::check(&db.write).await.unwrap();
    fanfare_migration::migrate(&db.write).await.unwrap();
    apply("m9003_drop_old_names_needs_m9001").await;
    for refused in
        [fanfare_migration::check(&db.write).await, fanfare_migration::migrate(&db.write).await]
    {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("m9003_drop_old_names_needs_m9001"), "{message}");
    }
}
