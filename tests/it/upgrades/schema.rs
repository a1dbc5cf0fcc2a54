//! A schema as one can compare it, and rows that fit any schema.

use std::{collections::BTreeMap, ops::RangeInclusive};

use fanfare_core::db::Db;
use sea_orm::{ConnectionTrait, Statement};

/// Everything that a database holds: its schema, and the number of rows of each table.
pub type Dump = BTreeMap<String, String>;

/// Returns the values of a query's first column; nulls are empty.
pub async fn texts(db: &Db, sql: &str) -> Vec<String> {
    let query = Statement::from_string(db.backend(), sql);
    let rows = db.write.query_all_raw(query).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter()
        .map(|row| row.try_get_by_index::<Option<String>>(0).unwrap().unwrap_or_default())
        .collect()
}

/// Returns the tables of the service.
pub async fn tables(db: &Db) -> Vec<String> {
    let sql = if db.is_postgres() {
        "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' \
         AND tablename <> 'seaql_migrations' ORDER BY tablename = 'brands' DESC, tablename"
    } else {
        // Rows of other tables refer to brands.
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
         AND name <> 'seaql_migrations' ORDER BY name = 'brands' DESC, name"
    };
    texts(db, sql).await
}

/// Returns the schema: columns with types, defaults and constraints, and indexes. Only valid indexes count.
pub async fn schema(db: &Db) -> Dump {
    let parts: &[&str] = if db.is_postgres() {
        &[
            "SELECT table_name || '.' || column_name || chr(9) || data_type || ' ' || is_nullable || ' ' \
             || coalesce(column_default, '') || ' ' || coalesce(identity_generation, '') \
             FROM information_schema.columns WHERE table_schema = 'public'",
            "SELECT indexrelid::regclass::text || chr(9) || pg_get_indexdef(indexrelid) FROM pg_index \
             WHERE indisvalid AND indrelid::regclass::text NOT LIKE 'pg_%'",
            "SELECT conrelid::regclass::text || '.' || conname || chr(9) || pg_get_constraintdef(oid) \
             FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
        ]
    } else {
        &["SELECT type || ' ' || name || char(9) || coalesce(sql, '') FROM sqlite_master \
           WHERE name NOT LIKE 'sqlite_%'"]
    };
    let mut dump = Dump::new();
    for sql in parts {
        for line in texts(db, sql).await {
            let (name, rest) = line.split_once('\t').expect("a name and a description");
            dump.insert(name.to_owned(), rest.to_owned());
        }
    }
    dump
}

/// Returns the schema, the migrations that were applied, and the number of rows of each table.
pub async fn dump(db: &Db) -> Dump {
    let mut dump = schema(db).await;
    let mut applied = texts(db, "SELECT version FROM seaql_migrations").await;
    applied.sort();
    dump.insert("applied".to_owned(), applied.join(" "));
    for table in tables(db).await {
        let sql = format!("SELECT CAST(count(*) AS TEXT) FROM {table}");
        dump.insert(format!("rows of {table}"), texts(db, &sql).await.join(""));
    }
    dump
}

/// Puts three rows into every empty table. Rows of the same number belong together.
pub async fn fill(db: &Db) {
    for table in tables(db).await {
        if texts(db, &format!("SELECT 'x' FROM {table} LIMIT 1")).await.is_empty() {
            insert(db, &table, 1..=3, &[]).await;
        }
    }
}

/// Inserts rows of these numbers, in which some columns have the values `given`, as SQL.
pub async fn insert(db: &Db, table: &str, numbers: RangeInclusive<u32>, given: &[(&str, &str)]) {
    let columns = columns(db, table).await;
    let names: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let row = |number: u32| {
        let value = |(name, kind): &(String, String)| {
            let given = given.iter().find(|(column, _)| column == name);
            given.map_or_else(|| value(kind, number), |(_, sql)| (*sql).to_owned())
        };
        format!("({})", columns.iter().map(value).collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<_> = numbers.map(row).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES {}", names.join(", "), rows.join(", "));
    db.write.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{table}: {error}"));
}

/// Returns the columns of a table: names, and types in lower case.
pub async fn columns(db: &Db, table: &str) -> Vec<(String, String)> {
    let sql = if db.is_postgres() {
        format!(
            "SELECT column_name || chr(9) || data_type FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}'"
        )
    } else {
        format!("SELECT name || char(9) || lower(type) FROM pragma_table_info('{table}')")
    };
    let pair = |line: &String| {
        let (name, kind) = line.split_once('\t').expect("a name and a type");
        (name.to_owned(), kind.to_owned())
    };
    texts(db, &sql).await.iter().map(pair).collect()
}

/// Returns a value of a type: another one for each number, so that it fits into a unique index. A text may be JSON.
fn value(kind: &str, number: u32) -> String {
    match kind {
        "uuid" => format!("'00000000-0000-0000-0000-{number:012}'"),
        "blob" => format!("x'{number:032}'"),
        "bytea" => format!("'\\x{number:08}'"),
        "boolean" => number.is_multiple_of(2).to_string(),
        "text" | "json" => format!("'[{number}]'"),
        "bigint" | "integer" => number.to_string(),
        "double precision" | "double" | "real" => format!("{number}.5"),
        other => panic!("a column of the type {other:?}"),
    }
}
