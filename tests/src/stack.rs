//! The database and queue of a service of a test.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use fanfare_domain::db::Db;
use sea_orm::ConnectionTrait;
use tokio::sync::OnceCell;

/// The two stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// SQLite and a queue in memory.
    Embedded,
    /// PostgreSQL and Redis.
    Fleet,
}

impl Stack {
    /// Returns the stack that this run tests.
    ///
    /// # Panics
    /// `TEST_STACK` is neither.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the tests' own switch")]
    pub fn of_this_run() -> Self {
        match std::env::var("TEST_STACK").as_deref() {
            Ok("fleet") => Self::Fleet,
            Ok("embedded") | Err(_) => Self::Embedded,
            Ok(other) => panic!("TEST_STACK is {other:?}; it may be embedded or fleet"),
        }
    }

    /// Creates a database with the current schema for this test; returns it and its address.
    pub async fn database(self, dir: &Path) -> (Db, String) {
        let url = match self {
            Self::Embedded => format!("sqlite://{}", dir.join("fanfare.db").display()),
            Self::Fleet => fresh_postgres(dir).await,
        };
        (migrated(&url).await, url)
    }

    /// Returns the address of a Redis database for this test, if the stack has Redis.
    #[must_use]
    pub fn redis_url(self) -> Option<String> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        match self {
            Self::Embedded => None,
            Self::Fleet => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                Some(format!("{}/{number}", service("TEST_REDIS_URL")))
            }
        }
    }
}

/// Opens the database at an address, and migrates it.
pub(crate) async fn migrated(url: &str) -> Db {
    let db = Db::open(url, 8).await.expect("the database opens");
    fanfare_migration::migrate(&db.write).await.expect("the schema is made");
    db
}

#[expect(clippy::disallowed_methods, reason = "where `make test-fleet` says its servers are")]
fn service(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!(
            "{name} is not set: run `make test-fleet`, which starts PostgreSQL and Redis for the tests"
        )
    })
}

/// Creates a database from a migrated template, which is created once. It lives as long as the directory.
async fn fresh_postgres(dir: &Path) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let server = service("TEST_POSTGRES_URL");
    let root = server.rsplit_once('/').map_or(server.as_str(), |(root, _)| root).to_owned();
    let admin = sea_orm::Database::connect(&server).await.expect("PostgreSQL answers");
    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("template_{}", uuid::Uuid::now_v7().simple());
            admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.expect("a template");
            let db = Db::open(&format!("{root}/{name}"), 1).await.expect("the template");
            fanfare_migration::migrate(&db.write).await.expect("the template's schema");
            db.write.close().await.expect("the template is closed");
            name
        })
        .await;
    let name = format!("t_{}", uuid::Uuid::now_v7().simple());
    let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
    admin.execute_unprepared(&sql).await.expect("a database");
    for ended in in_place_of_ended(dir, &name) {
        let sql = format!("DROP DATABASE {ended} WITH (FORCE)");
        admin.execute_unprepared(&sql).await.expect("a story's database is dropped after it");
    }
    admin.close().await.expect("the connection is closed");
    format!("{root}/{name}")
}

/// Registers a database with its story's directory, and returns those whose directory is gone, to be dropped: hundreds
/// of unused databases would fill a small disk.
fn in_place_of_ended(dir: &Path, name: &str) -> Vec<String> {
    static KEPT: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().expect("the lock");
    kept.push((dir.to_owned(), name.to_owned()));
    kept.extract_if(.., |(dir, _)| !dir.exists()).map(|(_, name)| name).collect()
}
