//! Processes of the version before go on beside the new schema: every statement that they run is still understood, and
//! every row that they write is still taken.

use std::collections::BTreeSet;

use fanfare_core::db::Db;
use fanfare_tests::Stack;
use sea_orm::ConnectionTrait;

use super::{
    migrate, open,
    schema::{Dump, schema, tables, texts},
};
use crate::service::Dir;

/// The last migration of the version before.
const BEFORE: &str = "m0031_invitations";

/// The statements that the version before runs on PostgreSQL, recorded by the server (`log_statement`) while its stories
/// used every route, published, and read an inbox.
const STATEMENTS: &str = include_str!("before/statements.sql");

/// Returns for each column its type, and `!` if a row must bring a value.
async fn columns(db: &Db) -> Dump {
    let mut all = Dump::new();
    for table in tables(db).await {
        let sql = if db.is_postgres() {
            format!(
                "SELECT column_name || chr(9) || data_type || CASE WHEN is_nullable = 'NO' AND column_default IS NULL \
                 AND is_identity = 'NO' THEN '!' ELSE '' END FROM information_schema.columns \
                 WHERE table_schema = 'public' AND table_name = '{table}'"
            )
        } else {
            format!(
                "SELECT name || char(9) || lower(type) || CASE WHEN \"notnull\" AND dflt_value IS NULL THEN '!' ELSE '' END \
                 FROM pragma_table_info('{table}')"
            )
        };
        for line in texts(db, &sql).await {
            let (name, kind) = line.split_once('\t').unwrap();
            all.insert(format!("{table}.{name}"), kind.to_owned());
        }
    }
    all
}

fn table_of(column: &str) -> &str {
    column.split('.').next().unwrap_or_default()
}

/// Returns the unique indexes.
async fn unique(db: &Db) -> Dump {
    let is_unique = |sql: &String| sql.to_uppercase().contains("UNIQUE INDEX");
    schema(db).await.into_iter().filter(|(_, sql)| is_unique(sql)).collect()
}

#[tokio::test]
async fn what_the_version_before_names_stays_and_nothing_new_is_asked_of_its_rows() {
    let dir = Dir::new();
    let db = open(&Stack::of_this_run().empty_database(&dir).await).await;
    migrate(&db, Some(BEFORE)).await;
    let (old, old_unique) = (columns(&db).await, unique(&db).await);
    migrate(&db, None).await;
    let (new, new_unique) = (columns(&db).await, unique(&db).await);
    assert!(old.len() > 500, "{} columns", old.len());
    let known: BTreeSet<&str> = old.keys().map(|column| table_of(column)).collect();
    for (column, kind) in &old {
        let now = new.get(column).unwrap_or_else(|| panic!("{column} is gone"));
        // It may ask for less than before.
        assert!(now == kind || format!("{now}!") == *kind, "{column}: {kind} became {now}");
    }
    for (column, kind) in &new {
        let asked = kind.ends_with('!') && known.contains(table_of(column));
        assert!(old.contains_key(column) || !asked, "rows of the version before have no {column}");
    }
    for (name, sql) in &new_unique {
        let of_old = known.iter().any(|table| {
            sql.contains(&format!(" {table} ")) || sql.contains(&format!(".{table} "))
        });
        assert!(
            old_unique.contains_key(name) || !of_old,
            "rows of the version before may break {sql}"
        );
    }
}

#[tokio::test]
async fn the_statements_of_the_version_before_are_understood() {
    if Stack::of_this_run() == Stack::Embedded {
        // Without a server there is no second process. The columns are those of both databases.
        return;
    }
    let dir = Dir::new();
    // One connection, which keeps what it has prepared.
    let db = Db::open(&Stack::Fleet.empty_database(&dir).await, 1).await.unwrap();
    migrate(&db, None).await;
    let (mut count, mut broken) = (0, Vec::new());
    for sql in STATEMENTS.lines().filter(|line| !line.is_empty()) {
        let understood = db.write.execute_unprepared(&format!("PREPARE one AS {sql}")).await;
        match understood {
            Ok(_) => db.write.execute_unprepared("DEALLOCATE one").await.map(drop).unwrap(),
            Err(error) => broken.push(format!("{error}: {sql}")),
        }
        count += 1;
    }
    assert!(count > 300, "{count} statements");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
