//! The database: one connection pool for writes, one for reads, two dialects.

use std::time::Duration;

use fanfare_entities::Millis;
use rand::RngExt;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend,
    DbErr, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait, Value,
    sqlx::{Connection, SqliteConnection},
};

use crate::error;

/// The time after which PostgreSQL ends an idle transaction. The transaction of a frozen process would block all others
/// from the rows it has locked, such as the event counters of workspaces.
const IDLE_TRANSACTION_TIMEOUT: &str = "5s";

/// A transaction that can emit no events and enqueue no jobs.
pub type Transaction = DatabaseTransaction;

/// Connections to the database. Cheap to clone.
///
/// On SQLite all writes go through one connection, so that a write waits in this process instead of failing in the
/// database; reads have their own pool. On PostgreSQL both are the same pool.
#[derive(Debug, Clone)]
pub struct Db {
    /// For all writes.
    pub write: DatabaseConnection,
    /// For all reads.
    pub read: DatabaseConnection,
}

impl Db {
    /// Opens the database at `url` (`sqlite://…` or `postgres://…`), with at most `pool` connections.
    ///
    /// # Errors
    /// The database cannot be reached or opened.
    pub async fn open(url: &str, pool: u32) -> Result<Self, DbErr> {
        if url.starts_with("sqlite:") {
            let write = sqlite(url, 1, true).await?;
            let read = sqlite(url, pool, false).await?;
            return Ok(Self { write, read });
        }
        let mut options = ConnectOptions::new(url);
        options
            .max_connections(pool)
            .min_connections(0)
            .connect_timeout(Duration::from_secs(5))
            .acquire_timeout(Duration::from_secs(10))
            .idle_timeout(Duration::from_secs(60))
            .test_before_acquire(false)
            .sqlx_logging(false)
            .map_sqlx_postgres_opts(|options| {
                options.options([("idle_in_transaction_session_timeout", IDLE_TRANSACTION_TIMEOUT)])
            });
        let write = Database::connect(options).await?;
        Ok(Self { read: write.clone(), write })
    }

    /// Returns the kind of database.
    #[must_use]
    pub fn backend(&self) -> DbBackend {
        self.write.get_database_backend()
    }

    /// Returns true on PostgreSQL.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        self.backend() == DbBackend::Postgres
    }

    /// Begins a write transaction. On SQLite it takes the write lock at once, so that a read followed by a write cannot
    /// fail half-way.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(&self) -> Result<DatabaseTransaction, DbErr> {
        if self.is_postgres() {
            return self.write.begin().await;
        }
        let immediate = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        self.write.begin_with_options(immediate).await
    }

    /// Returns the most connections that the server accepts from all processes together; `None` on SQLite.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn max_connections(&self) -> Result<Option<i64>, DbErr> {
        if !self.is_postgres() {
            return Ok(None);
        }
        // The connections that are reserved for the server's administrator are not ours.
        let sql = "SELECT current_setting('max_connections')::bigint \
                   - current_setting('superuser_reserved_connections')::bigint AS most";
        let row = self.read.query_one_raw(statement(&self.read, sql, [])).await?;
        row.map(|row| row.try_get("", "most")).transpose()
    }

    /// Returns the settings with which the server can lose committed changes when its machine loses power. There are
    /// none on SQLite, which is opened without them.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn durability_problems(&self) -> Result<Vec<String>, DbErr> {
        if !self.is_postgres() {
            return Ok(Vec::new());
        }
        let sql = "SELECT name FROM pg_settings WHERE setting = 'off' \
                   AND name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name";
        let rows = self.read.query_all_raw(statement(&self.read, sql, [])).await?;
        rows.iter().map(|row| row.try_get("", "name")).collect()
    }

    /// Returns the database's own time, in milliseconds.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn now(&self) -> Result<Millis, DbErr> {
        let sql = if self.is_postgres() {
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"
        } else {
            "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now"
        };
        let row = self.read.query_one_raw(statement(&self.read, sql, [])).await?;
        row.ok_or_else(|| DbErr::Custom("the database did not say its time".into()))?
            .try_get("", "now")
    }
}

/// The most attempts to run a transaction that conflicts with others.
const MAX_ATTEMPTS: u32 = 4;

/// Runs a whole transaction, and runs it again if the database aborted it because of a conflict with another one.
///
/// # Errors
/// The last attempt's.
pub async fn retry_conflicts<T, F: Future<Output = error::Result<T>>>(
    mut run: impl FnMut() -> F,
) -> error::Result<T> {
    for _ in 1..MAX_ATTEMPTS {
        match run().await {
            Err(error) if error.is_conflict() => {
                let pause = rand::rng().random_range(2..30);
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            outcome => return outcome,
        }
    }
    run().await
}

/// The number of rows that SQLite's thread reads ahead, so that it does not wait for the reader while it holds the only
/// write connection: more than any statement returns for a batch.
const READ_AHEAD: usize = 1_024;

async fn sqlite(url: &str, connections: u32, writes: bool) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections)
        .min_connections(u32::from(writes))
        .acquire_timeout(Duration::from_secs(30))
        .test_before_acquire(false)
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |options| {
            options
                .create_if_missing(writes)
                .row_buffer_size(READ_AHEAD)
                .pragma("journal_mode", "WAL")
                // A change that was answered, and a call that is about to be sent, survive a power failure.
                .pragma("synchronous", "FULL")
                .pragma("busy_timeout", "5000")
                .pragma("temp_store", "MEMORY")
        })
        .map_sqlx_sqlite_pool_opts(|options| {
            options.after_release(|conn, _| Box::pin(async move { is_reusable(conn).await }))
        });
    Database::connect(options).await
}

/// Returns false for a connection that seems to be in a transaction when it is returned to the pool. SQLite
/// itself ends a transaction when the disk is full; the rollback that follows then fails, and no other transaction
/// could begin.
async fn is_reusable(conn: &mut SqliteConnection) -> Result<bool, sea_orm::sqlx::Error> {
    if conn.is_in_transaction() {
        // A rollback may be in progress.
        conn.ping().await?;
    }
    Ok(!conn.is_in_transaction())
}

/// Returns a statement in the dialect of `conn`; parameters are written `$1`, `$2` … on both.
pub fn statement<C: ConnectionTrait>(
    conn: &C,
    sql: impl Into<String>,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database in a file of its own, which is removed at the end.
    struct File(std::path::PathBuf);

    impl File {
        fn new() -> Self {
            let name = format!("fanfare-test-{}.db", uuid::Uuid::now_v7().simple());
            Self(std::env::temp_dir().join(name))
        }

        async fn open(&self) -> Db {
            Db::open(&format!("sqlite://{}", self.0.display()), 1).await.unwrap()
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
            }
        }
    }

    #[tokio::test]
    async fn a_commit_waits_for_the_disk() {
        /// `PRAGMA synchronous`: the log is synced with every commit.
        const FULL: i32 = 2;
        let file = File::new();
        let db = file.open().await;
        let asked = statement(&db.write, "PRAGMA synchronous", []);
        let row = db.write.query_one_raw(asked).await.unwrap().unwrap();
        assert_eq!(row.try_get::<i32>("", "synchronous").unwrap(), FULL);
    }

    #[tokio::test]
    async fn a_write_that_finds_no_room_keeps_no_other_from_its_transaction() {
        let file = File::new();
        let db = file.open().await;
        db.write.execute_unprepared("CREATE TABLE t (a)").await.unwrap();
        db.write.execute_unprepared("PRAGMA max_page_count = 4").await.unwrap();
        let tx = db.begin().await.unwrap();
        tx.execute_unprepared("INSERT INTO t VALUES (1)").await.unwrap();
        let large = "INSERT INTO t VALUES (zeroblob(100000))";
        assert!(tx.execute_unprepared(large).await.is_err());
        drop(tx);
        let tx = db.begin().await.unwrap();
        tx.execute_unprepared("INSERT INTO t VALUES (2)").await.unwrap();
        tx.commit().await.unwrap();
        let held = statement(&db.read, "SELECT a FROM t", []);
        let held = db.read.query_all_raw(held).await.unwrap();
        assert_eq!(held.len(), 1);
        assert_eq!(held[0].try_get::<i64>("", "a").unwrap(), 2);
    }
}
