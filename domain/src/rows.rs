//! Many rows in one statement, written once for both databases.
//!
//! The rows travel as one JSON parameter and are unpacked by the database, so that a group of 64 results costs the
//! same round trip as one, and the statement's text (and its prepared plan) never changes with the group's size.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Value};
use serde_json::Value as Json;

use crate::db::statement;

/// Type of a column in a row set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit number.
    Big,
    /// A 32-bit number.
    Int,
    /// True or false.
    Bool,
    /// Text.
    Text,
    /// A UUID, given as text.
    Uuid,
    /// Any JSON; `null` becomes the database's null.
    Json,
}

/// A `FROM` item called `alias` with these columns, unpacked from the JSON list in parameter `$n`.
pub fn from(backend: DbBackend, alias: &str, n: usize, columns: &[(&str, Type)]) -> String {
    if backend == DbBackend::Postgres {
        let columns = columns.iter().map(|(name, kind)| format!("{name} {}", postgres(*kind)));
        let columns = columns.collect::<Vec<_>>().join(", ");
        return format!("json_to_recordset(${n}::json) AS {alias}({columns})");
    }
    let columns = columns.iter().map(|(name, kind)| sqlite(name, *kind));
    let columns = columns.collect::<Vec<_>>().join(", ");
    format!("(SELECT {columns} FROM json_each(${n})) AS {alias}")
}

const fn postgres(kind: Type) -> &'static str {
    match kind {
        Type::Big => "bigint",
        Type::Int => "int",
        Type::Bool => "boolean",
        Type::Text => "text",
        Type::Uuid => "uuid",
        Type::Json => "json",
    }
}

fn sqlite(name: &str, kind: Type) -> String {
    let value = format!("json_extract(value, '$.{name}')");
    match kind {
        Type::Uuid => format!("unhex(replace({value}, '-', '')) AS {name}"),
        // `->` keeps texts quoted, so that a JSON text stays JSON; a JSON null must become NULL all the same.
        Type::Json => {
            format!("CASE WHEN {value} IS NULL THEN NULL ELSE value -> '$.{name}' END AS {name}")
        }
        Type::Big | Type::Int | Type::Bool | Type::Text => format!("{value} AS {name}"),
    }
}

/// The parameter for [`from`].
pub fn parameter<C: ConnectionTrait>(conn: &C, rows: Vec<Json>) -> Value {
    let rows = Json::Array(rows);
    if conn.get_database_backend() == DbBackend::Postgres {
        Value::Json(Some(Box::new(rows)))
    } else {
        Value::String(Some(rows.to_string()))
    }
}

/// Inserts rows given as JSON objects with these columns; absent ones become null.
///
/// # Errors
/// The database's.
pub async fn insert<C: ConnectionTrait>(
    conn: &C,
    table: &str,
    columns: &[(&str, Type)],
    values: Vec<Json>,
) -> Result<(), DbErr> {
    if values.is_empty() {
        return Ok(());
    }
    let sql = insert_from(conn, table, columns);
    conn.execute_raw(statement(conn, sql, [parameter(conn, values)])).await?;
    Ok(())
}

/// The same for a table with a numbered key; returns the new keys.
///
/// # Errors
/// The database's.
pub async fn insert_numbered<C: ConnectionTrait>(
    conn: &C,
    table: &str,
    columns: &[(&str, Type)],
    values: Vec<Json>,
) -> Result<Vec<i64>, DbErr> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("{} RETURNING id", insert_from(conn, table, columns));
    let made = conn.query_all_raw(statement(conn, sql, [parameter(conn, values)])).await?;
    made.iter().map(|row| row.try_get("", "id")).collect()
}

fn insert_from<C: ConnectionTrait>(conn: &C, table: &str, columns: &[(&str, Type)]) -> String {
    let into = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let from = from(conn.get_database_backend(), "new", 1, columns);
    // SQLite would read a bare ON CONFLICT behind SELECT as part of a join; the WHERE keeps them apart.
    format!("INSERT INTO {table} ({into}) SELECT {into} FROM {from} WHERE true")
}
