//! Many rows in one statement, written once for both databases.
//!
//! On PostgreSQL each column is sent as one array, on SQLite all rows as one JSON text. Either way a group of 64 rows
//! costs the same round trip as one row, and the statement's text (and its prepared plan) does not change with the size
//! of the group.

use std::fmt::Write;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Value};
use serde::Serialize;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::db::statement;

/// The type of a column.
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
    /// A UUID.
    Uuid,
    /// Any JSON.
    Json,
}

/// The names and types of columns.
pub type Columns = &'static [(&'static str, Type)];

/// One value of a row.
#[derive(Debug, Clone)]
pub enum Cell<'a> {
    /// The database's null.
    Null,
    /// For [`Type::Big`] and [`Type::Int`].
    Number(i64),
    /// For [`Type::Bool`].
    Bool(bool),
    /// For [`Type::Text`].
    Text(&'a str),
    /// For [`Type::Uuid`].
    Uuid(Uuid),
    /// For [`Type::Json`]; JSON's null is stored as the database's.
    Json(&'a Json),
}

/// Rows to be sent with a statement.
#[derive(Debug)]
pub struct Rows {
    backend: DbBackend,
    columns: Columns,
    /// PostgreSQL: an array literal for each column. SQLite: one JSON list of lists.
    texts: Vec<String>,
    rows: usize,
}

impl Rows {
    /// Creates an empty set of rows.
    pub fn new<C: ConnectionTrait>(conn: &C, columns: Columns) -> Self {
        let backend = conn.get_database_backend();
        let texts = if backend == DbBackend::Postgres { columns.len() } else { 1 };
        let open = if backend == DbBackend::Postgres { "{" } else { "[" };
        Self { backend, columns, texts: vec![open.to_owned(); texts], rows: 0 }
    }

    /// Creates rows with one number each, in a column `id`.
    pub fn of_ids<C: ConnectionTrait>(conn: &C, ids: &[i64]) -> Self {
        let mut rows = Self::new(conn, &[("id", Type::Big)]);
        for id in ids {
            rows.push([(*id).into()]);
        }
        rows
    }

    /// Creates rows with one UUID each, in a column `id`.
    pub fn of_uuids<C: ConnectionTrait>(conn: &C, ids: impl IntoIterator<Item = Uuid>) -> Self {
        let mut rows = Self::new(conn, &[("id", Type::Uuid)]);
        for id in ids {
            rows.push([id.into()]);
        }
        rows
    }

    /// Returns true if there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row; its cells are in the order of the columns.
    pub fn push<const N: usize>(&mut self, cells: [Cell<'_>; N]) {
        debug_assert_eq!(N, self.columns.len(), "a cell for each column");
        let first = self.rows == 0;
        self.rows += 1;
        if self.backend == DbBackend::Postgres {
            for (text, cell) in self.texts.iter_mut().zip(&cells) {
                if !first {
                    text.push(',');
                }
                cell.write_literal(text);
            }
            return;
        }
        let text = &mut self.texts[0];
        for (place, cell) in cells.iter().enumerate() {
            text.push_str(match (place, first) {
                (0, true) => "[",
                (0, false) => ",[",
                _ => ",",
            });
            cell.write_json(text);
        }
        text.push(']');
    }

    /// Returns a `FROM` item called `alias` with these columns. Its parameters begin with `$first`, after all others of
    /// the statement.
    #[must_use]
    pub fn from(&self, alias: &str, first: usize) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        if self.backend == DbBackend::Postgres {
            let types = self.columns.iter().enumerate();
            let arrays =
                types.map(|(n, (_, kind))| format!("${}::text::{}[]", first + n, sql_type(*kind)));
            let names = self.columns.iter().map(|(name, _)| (*name).to_owned());
            let shown = self.columns.iter().map(|(name, kind)| match kind {
                Type::Json => format!("{name}::json AS {name}"),
                _ => (*name).to_owned(),
            });
            return format!(
                "(SELECT {} FROM unnest({}) AS sent({})) AS {alias}",
                joined(shown.collect()),
                joined(arrays.collect()),
                joined(names.collect()),
            );
        }
        let shown = self.columns.iter().enumerate().map(|(n, (name, kind))| {
            let value = format!("json_extract(value, '$[{n}]')");
            match kind {
                Type::Uuid => format!("unhex({value}) AS {name}"),
                _ => format!("{value} AS {name}"),
            }
        });
        format!("(SELECT {} FROM json_each(${first})) AS {alias}", joined(shown.collect()))
    }

    /// Returns the parameters for [`Rows::from`], which come after all others.
    pub fn values(self) -> impl Iterator<Item = Value> {
        let close = if self.backend == DbBackend::Postgres { '}' } else { ']' };
        self.texts.into_iter().map(move |mut text| {
            text.push(close);
            text.into()
        })
    }

    /// Inserts the rows into `table`, whose other columns become null.
    ///
    /// # Errors
    /// The database's.
    pub async fn insert<C: ConnectionTrait>(self, conn: &C, table: &str) -> Result<(), DbErr> {
        if self.is_empty() {
            return Ok(());
        }
        let sql = self.insert_into(table, 1);
        conn.execute_raw(statement(conn, sql, self.values())).await?;
        Ok(())
    }

    /// Returns the statement that inserts the rows. Its parameters begin with `$first`, and a condition or a clause may
    /// follow.
    #[must_use]
    pub fn insert_into(&self, table: &str, first: usize) -> String {
        let into = self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        // SQLite would read a bare ON CONFLICT behind SELECT as part of a join; the WHERE keeps them apart.
        format!(
            "INSERT INTO {table} ({into}) SELECT {into} FROM {} WHERE true",
            self.from("new", first)
        )
    }
}

/// Returns the type in which PostgreSQL receives a value; JSON is sent as text and parsed once, by the cast.
const fn sql_type(kind: Type) -> &'static str {
    match kind {
        Type::Big => "bigint",
        Type::Int => "int",
        Type::Bool => "boolean",
        Type::Text | Type::Json => "text",
        Type::Uuid => "uuid",
    }
}

impl Cell<'_> {
    /// Writes the cell as an element of a PostgreSQL array literal.
    fn write_literal(&self, to: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Null | Self::Json(Json::Null) => to.write_str("NULL"),
            Self::Number(number) => write!(to, "{number}"),
            Self::Bool(truth) => to.write_str(if *truth { "t" } else { "f" }),
            Self::Uuid(uuid) => write!(to, "{}", uuid.simple()),
            Self::Text(text) => write_quoted(text, to),
            Self::Json(json) => write_quoted(&to_json(*json), to),
        };
    }

    /// Writes the cell as an element of a JSON list.
    fn write_json(&self, to: &mut String) {
        let _ = match self {
            Self::Null | Self::Json(Json::Null) => to.write_str("null"),
            Self::Number(number) => write!(to, "{number}"),
            Self::Bool(truth) => write!(to, "{truth}"),
            Self::Uuid(uuid) => write!(to, "\"{}\"", uuid.simple()),
            Self::Text(text) => to.write_str(&to_json(text)),
            // SQLite stores JSON as text.
            Self::Json(json) => to.write_str(&to_json(&to_json(json))),
        };
    }
}

/// Serializes a value as JSON. This is several times as fast as the `to_string` of a `Value`, which goes through a
/// formatter.
fn to_json<T: Serialize + ?Sized>(json: &T) -> String {
    // These values can always be serialized.
    serde_json::to_string(json).unwrap_or_default()
}

fn write_quoted(text: &str, to: &mut String) -> std::fmt::Result {
    to.push('"');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\')) {
        let (plain, marked) = rest.split_at(place);
        to.push_str(plain);
        to.push('\\');
        to.push_str(&marked[..1]);
        rest = &marked[1..];
    }
    to.push_str(rest);
    to.write_char('"')
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Cell<'_> {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Uuid> for Cell<'_> {
    fn from(uuid: Uuid) -> Self {
        Self::Uuid(uuid)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Json> for Cell<'a> {
    fn from(json: &'a Json) -> Self {
        Self::Json(json)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_quoted_for_an_array() {
        let mut literal = String::new();
        Cell::from(r#"a "b" \ {c,d} NULL"#).write_literal(&mut literal);
        assert_eq!(literal, r#""a \"b\" \\ {c,d} NULL""#);
        literal.clear();
        Cell::from("").write_literal(&mut literal);
        assert_eq!(literal, r#""""#);
        literal.clear();
        Cell::from(&json!({"a": "\"\\"})).write_literal(&mut literal);
        assert_eq!(literal, r#""{\"a\":\"\\\"\\\\\"}""#);
    }

    #[test]
    fn nothing_is_null() {
        let mut text = String::new();
        Cell::from(None::<i64>).write_literal(&mut text);
        Cell::from(&Json::Null).write_json(&mut text);
        assert_eq!(text, "NULLnull");
    }
}
