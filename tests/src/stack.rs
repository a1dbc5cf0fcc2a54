//! The database and queue of a service of a test.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use fanfare_core::db::Db;
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
            Self::Embedded => fresh_sqlite(dir).await,
            Self::Fleet => fresh_postgres(dir).await,
        };
        (migrated(&url).await, url)
    }

    /// Creates a database without a schema for this test; returns its address. It lives as long as the directory.
    ///
    /// # Panics
    /// Something it needs is missing.
    pub async fn empty_database(self, dir: &Path) -> String {
        std::fs::create_dir_all(dir).expect("a directory");
        match self {
            Self::Embedded => format!("sqlite://{}", dir.join("fanfare.db").display()),
            Self::Fleet => Postgres::of_this_run().await.create(dir, "template0").await,
        }
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

/// The PostgreSQL server of this run.
struct Postgres {
    admin: sea_orm::DatabaseConnection,
    root: String,
}

impl Postgres {
    async fn of_this_run() -> Self {
        let server = service("TEST_POSTGRES_URL");
        let root = server.rsplit_once('/').map_or(server.as_str(), |(root, _)| root).to_owned();
        Self { admin: sea_orm::Database::connect(&server).await.expect("PostgreSQL answers"), root }
    }

    async fn run(&self, sql: &str) {
        self.admin.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Creates a database from a template; returns its address. It lives as long as the directory.
    async fn create(self, dir: &Path, template: &str) -> String {
        let name = format!("t_{}", uuid::Uuid::now_v7().simple());
        self.run(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        for ended in in_place_of_ended(dir, &name) {
            self.run(&format!("DROP DATABASE {ended} WITH (FORCE)")).await;
        }
        let url = format!("{}/{name}", self.root);
        self.admin.close().await.expect("the connection is closed");
        url
    }
}

/// Creates a database from a migrated template, which is created once. It lives as long as the directory.
async fn fresh_postgres(dir: &Path) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let server = Postgres::of_this_run().await;
    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("template_{}", uuid::Uuid::now_v7().simple());
            server.run(&format!("CREATE DATABASE {name}")).await;
            let url = format!("{}/{name}", server.root);
            let db = Db::open(&url, 1).await.expect("the template");
            fanfare_migration::migrate(&db.write).await.expect("the template's schema");
            db.write.close().await.expect("the template is closed");
            name
        })
        .await;
    server.create(dir, template).await
}

/// Writes a migrated database, which is made once, into a directory; returns its address.
async fn fresh_sqlite(dir: &Path) -> String {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let file = dir.join("fanfare.db");
    let url = format!("sqlite://{}", file.display());
    // A story may open its database again.
    if !file.exists() {
        let template = TEMPLATE.get_or_init(|| sqlite_template(dir)).await;
        std::fs::write(&file, template).expect("the database is written");
    }
    url
}

/// Returns the bytes of a migrated database.
async fn sqlite_template(dir: &Path) -> Vec<u8> {
    let file = dir.join("template.db");
    let db = migrated(&format!("sqlite://{}", file.display())).await;
    db.read.close().await.expect("the template is closed");
    // The last connection to close moves what is in the log into the file.
    db.write.close().await.expect("the template is closed");
    let bytes = std::fs::read(&file).expect("the template");
    std::fs::remove_file(&file).expect("the template is deleted");
    bytes
}

/// Registers a database with its story's directory, and returns those whose directory is gone, to be dropped: hundreds
/// of unused databases would fill a small disk.
fn in_place_of_ended(dir: &Path, name: &str) -> Vec<String> {
    static KEPT: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().expect("the lock");
    kept.push((dir.to_owned(), name.to_owned()));
    kept.extract_if(.., |(dir, _)| !dir.exists()).map(|(_, name)| name).collect()
}
