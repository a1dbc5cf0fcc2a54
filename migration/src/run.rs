//! Applies migrations so that a kill at any moment leaves a database that the next run finishes.
//!
//! A migration and its record are one transaction, on both databases. One that builds indexes on PostgreSQL runs outside
//! of transactions (`CONCURRENTLY`), because queries go on meanwhile; such a one can be repeated ([`crate::index`]).
//!
//! On SQLite `PRAGMA foreign_keys` has no effect in a transaction: a migration that rebuilds a table which others refer
//! to begins with `PRAGMA defer_foreign_keys = ON`, which ends with the transaction.

use std::{sync::Arc, time::Duration};

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{
    ConnectionTrait, DatabaseBackend, DatabaseConnection, DatabaseTransaction, RuntimeErr,
    SqliteTransactionMode, SqlxPostgresConnector, Statement, TransactionOptions, TransactionTrait,
    sqlx::postgres::PgPoolOptions,
};

use crate::{Error, Migrator, applied, refuse_newer};

/// Called after each statement of a run.
pub type Watch = Arc<dyn Fn(&str) + Send + Sync>;

/// A run of migrations.
#[derive(Default)]
pub struct Run {
    /// The last migration to apply; without it all are applied.
    pub last: Option<&'static str>,
    /// Called after each statement, for tests that stop a run.
    pub watch: Option<Watch>,
}

/// The time for which a statement waits for a lock on PostgreSQL. All queries of a table queue up behind a statement
/// that waits to change it, so it gives way soon and tries again.
const LOCK_TIMEOUT: &str = "2s";

/// The time after which PostgreSQL ends a run that stands still between two statements, and with it the run's locks. A
/// machine with much to do may take seconds from one statement to the next.
const STANDSTILL_TIMEOUT: &str = "60s";

/// The number of times that a migration tries to get its locks.
const ATTEMPTS: u32 = 60;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// The advisory lock that one run at a time holds on PostgreSQL.
const RUN_LOCK: i64 = 0x6661_6e66_6172_6501;

impl Run {
    /// Brings the schema up to date.
    ///
    /// # Errors
    /// [`Error::Newer`] if the database is ahead of this binary in a way it cannot work with; nothing is changed then.
    pub async fn on(self, db: &DatabaseConnection) -> Result<(), Error> {
        refuse_newer(db).await?;
        let mut conn = connection(db).await?;
        if let Some(watch) = self.watch {
            conn.set_metric_callback(move |info| watch(&info.statement.sql));
        }
        let outcome = apply(&conn, self.last).await;
        if is_postgres(&conn) {
            // The lock ends with the connection.
            conn.close().await?;
        }
        outcome
    }
}

/// Returns the connection for a run. On PostgreSQL it is one of its own, with settings and a lock that last as long as
/// it does.
async fn connection(db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    if !is_postgres(db) {
        return Ok(db.clone());
    }
    let options = (*db.get_postgres_connection_pool().connect_options()).clone();
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options.options([
            ("lock_timeout", LOCK_TIMEOUT),
            ("idle_in_transaction_session_timeout", STANDSTILL_TIMEOUT),
        ]))
        .await
        .map_err(|error| DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error))))?;
    let conn = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    // Waiting inside PostgreSQL would hold up an index that the other run builds: it waits for every running statement.
    while !is_alone(&conn).await? {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(conn)
}

/// Takes the lock of a run; returns false while another run has it.
async fn is_alone(conn: &DatabaseConnection) -> Result<bool, DbErr> {
    let sql = format!("SELECT pg_try_advisory_lock({RUN_LOCK}) AS taken");
    let row = conn.query_one_raw(statement(conn, sql)).await?;
    row.map_or(Ok(false), |row| row.try_get("", "taken"))
}

async fn apply(conn: &DatabaseConnection, last: Option<&str>) -> Result<(), Error> {
    Migrator::install(conn).await?;
    let applied = applied(conn).await?;
    for migration in Migrator::migrations() {
        let name = migration.name();
        if !applied.iter().any(|one| one == name) {
            with_patience(conn, &*migration).await?;
        }
        if last == Some(name) {
            break;
        }
    }
    Ok(())
}

/// Applies a migration, and tries again while other transactions hold the locks that it needs.
async fn with_patience(
    conn: &DatabaseConnection,
    migration: &dyn MigrationTrait,
) -> Result<(), Error> {
    for _ in 1..ATTEMPTS {
        match apply_one(conn, migration).await {
            Err(error) if is_lock_timeout(&error) => tokio::time::sleep(PAUSE).await,
            outcome => return outcome.map_err(Error::from),
        }
    }
    match apply_one(conn, migration).await {
        Err(error) if is_lock_timeout(&error) => Err(Error::Locked(migration.name().to_owned())),
        outcome => outcome.map_err(Error::from),
    }
}

async fn apply_one(conn: &DatabaseConnection, migration: &dyn MigrationTrait) -> Result<(), DbErr> {
    if is_postgres(conn) && migration.use_transaction() == Some(false) {
        migration.up(&SchemaManager::new(conn)).await?;
        return record(conn, migration.name()).await;
    }
    let transaction = begin(conn).await?;
    // On SQLite another process may have applied it since it was looked for.
    if !applied(&transaction).await?.iter().any(|one| one == migration.name()) {
        migration.up(&SchemaManager::new(&transaction)).await?;
        record(&transaction, migration.name()).await?;
    }
    transaction.commit().await
}

/// Begins a transaction, on SQLite one that holds the write lock from its beginning.
async fn begin(conn: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    if is_postgres(conn) {
        return conn.begin().await;
    }
    let immediate = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    conn.begin_with_options(immediate).await
}

async fn record<C: ConnectionTrait>(conn: &C, name: &str) -> Result<(), DbErr> {
    let now = match conn.get_database_backend() {
        DatabaseBackend::Postgres => "extract(epoch FROM now())::bigint",
        _ => "unixepoch()",
    };
    let sql = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ($1, {now})");
    let insert = Statement::from_sql_and_values(conn.get_database_backend(), sql, [name.into()]);
    conn.execute_raw(insert).await?;
    Ok(())
}

/// Returns true if PostgreSQL gave up waiting for a lock (55P03).
fn is_lock_timeout(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) =
        error
    else {
        return false;
    };
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "55P03")
}

fn is_postgres(conn: &DatabaseConnection) -> bool {
    conn.get_database_backend() == DatabaseBackend::Postgres
}

fn statement<C: ConnectionTrait>(conn: &C, sql: String) -> Statement {
    Statement::from_string(conn.get_database_backend(), sql)
}
