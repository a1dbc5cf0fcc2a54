//! Creates databases in memory, quickly.

use fanfare_core::db::Db;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement,
};
use tokio::sync::OnceCell;

/// Statements that create the schema, recorded once: the migrations themselves take longer than a whole simulation.
static SCHEMA: OnceCell<Vec<String>> = OnceCell::const_new();

/// Creates a database with one connection, so that statements are sequential.
pub async fn database() -> Db {
    let schema = SCHEMA.get_or_init(written_down).await;
    let conn = connect().await;
    conn.execute_unprepared(&schema.join(";\n")).await.expect("the schema is made");
    Db { write: conn.clone(), read: conn }
}

async fn written_down() -> Vec<String> {
    let conn = connect().await;
    fanfare_migration::migrate(&conn).await.expect("the migrations run");
    let sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
               ORDER BY rowid";
    let made = conn.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await;
    let made = made.expect("SQLite tells its schema");
    made.iter().map(|row| row.try_get("", "sql").expect("a statement")).collect()
}

async fn connect() -> DatabaseConnection {
    let mut options = ConnectOptions::new("sqlite::memory:");
    // The database is lost with its connection, so the connection must not be closed.
    options
        .max_connections(1)
        .min_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .sqlx_logging(false);
    Database::connect(options).await.expect("SQLite opens")
}
