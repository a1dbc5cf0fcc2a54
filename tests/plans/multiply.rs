//! Many rows in every table, made from one that the service wrote.

use std::{collections::BTreeSet, ops::RangeInclusive};

use fanfare_core::db::Db;
use sea_orm::{ConnectionTrait, Statement};

use crate::schema::{columns, tables, texts};

/// A time in the year 2096, in ms.
pub const FAR_AWAY: u64 = 4_000_000_000_000;

/// The time between two rows, in ms: enough for a window of some days to hold a part of each table only.
const APART: &str = "CAST(600000 AS BIGINT)";

/// Tables with few rows whatever the size of the service.
const SMALL: &[&str] = &[
    "brand_profiles",
    "chores",
    "connect_settings",
    "leases",
    "pauses",
    "post_holds",
    "operators",
    "workers",
    "api_processes",
];

/// Tables of which a workspace has few rows: theirs belong to others.
const OF_OTHERS: &[&str] = &[
    "accounts",
    "analytics_syncs",
    "api_keys",
    "brand_locks",
    "brands",
    "business_profiles",
    "connect_sessions",
    "inbox_syncs",
    "invitations",
    "memberships",
    "oauth_codes",
    "oauth_grants",
    "slot_grids",
    "subscriptions",
    "suggestion_rounds",
    "unpaid_posts",
    "webhooks",
];

/// Tables of which a person has many rows.
const OF_THE_PERSON: &[&str] = &["credit_entries"];

/// Puts rows with these numbers into every table.
pub async fn multiply(db: &Db, numbers: RangeInclusive<u32>) {
    for table in tables(db).await {
        if !SMALL.contains(&table.as_str()) {
            copy_first(db, &table, &numbers).await;
        }
    }
    if db.is_postgres() {
        db.write.execute_unprepared("VACUUM ANALYZE").await.unwrap();
    }
}

async fn copy_first(db: &Db, table: &str, numbers: &RangeInclusive<u32>) {
    let unique = unique_columns(db, table).await;
    let mut values = Vec::new();
    for (name, kind) in columns(db, table).await {
        if name == "id" && db.is_postgres() && is_numbered(db, table, &kind).await {
            // Rows that are there may have numbers that the database did not give.
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            );
            db.write.execute_unprepared(&sql).await.unwrap();
        }
        if name != "id" || !is_numbered(db, table, &kind).await {
            values.push((value(db, table, &name, &kind, unique.contains(&name)), name));
        }
    }
    let names: Vec<_> = values.iter().map(|(_, name)| name.as_str()).collect();
    let values: Vec<_> = values.iter().map(|(value, _)| value.as_str()).collect();
    let (from, to) = (numbers.start(), numbers.end());
    let series = if db.is_postgres() {
        format!("generate_series({from}, {to}) AS s(n)")
    } else {
        format!(
            "(WITH RECURSIVE s(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM s WHERE n < {to}) SELECT n FROM s) AS s"
        )
    };
    let sql = format!(
        "INSERT INTO {table} ({}) SELECT {} FROM (SELECT * FROM {table} LIMIT 1) AS r, {series}",
        names.join(", "),
        values.join(", "),
    );
    db.write.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Returns true if the database numbers the rows of a table itself.
async fn is_numbered(db: &Db, table: &str, kind: &str) -> bool {
    if !db.is_postgres() {
        return kind == "integer";
    }
    let sql = format!(
        "SELECT 1 FROM information_schema.columns WHERE table_name = '{table}' AND column_name = 'id' \
         AND is_identity = 'YES'"
    );
    let asked = Statement::from_string(db.write.get_database_backend(), sql);
    db.write.query_one_raw(asked).await.unwrap().is_some()
}

/// Returns for each unique index its last column that has many values.
async fn unique_columns(db: &Db, table: &str) -> BTreeSet<String> {
    let sql = if db.is_postgres() {
        format!(
            "SELECT (SELECT string_agg(a.attname, ' ' ORDER BY array_position(i.indkey::int2[], a.attnum)) \
             FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey::int2[])) \
             FROM pg_index i WHERE i.indisunique AND i.indrelid = '{table}'::regclass"
        )
    } else {
        format!(
            "SELECT (SELECT group_concat(name, ' ') FROM pragma_index_info(l.name)) \
             FROM pragma_index_list('{table}') AS l WHERE l.\"unique\" \
             UNION ALL SELECT name FROM pragma_table_info('{table}') WHERE pk = 1 AND name <> 'id'"
        )
    };
    let last = |columns: String| {
        let few = ["sandbox", "platform", "workspace_id", "account_id", "brand_id"];
        let names: Vec<_> = columns.split(' ').collect();
        let many = names.iter().rev().find(|name| !few.contains(name));
        many.or(names.last()).map(|name| (*name).to_owned())
    };
    texts(db, &sql).await.into_iter().filter_map(last).collect()
}

/// Returns the value of a column in the row of the number `s.n`, made from the row `r`.
fn value(db: &Db, table: &str, name: &str, kind: &str, is_unique: bool) -> String {
    let random = if db.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let is_uuid = matches!(kind, "uuid" | "blob");
    let is_owner = ["user_id", "owner_id"].contains(&name) && !OF_THE_PERSON.contains(&table);
    if is_uuid && (is_owner || name == "workspace_id" && OF_OTHERS.contains(&table)) {
        return random.to_owned();
    }
    if name == "due_at" {
        // Half of the work has ended, and the rest is far away.
        return format!("CASE WHEN s.n % 2 = 0 THEN NULL ELSE {FAR_AWAY} + s.n * {APART} END");
    }
    if name == "lease_expirations" {
        // Nobody is at work on them.
        return "0".to_owned();
    }
    if name == "scheduled_at" {
        // What is still to be done is behind everything else in the line of its account.
        return format!(
            "CASE WHEN s.n % 2 = 0 THEN r.{name} - s.n * {APART} ELSE {FAR_AWAY} + s.n * {APART} END"
        );
    }
    if is_unique {
        return match (kind, db.is_postgres()) {
            // The time at the beginning stays.
            ("uuid", _) => {
                format!("(substr(r.{name}::text, 1, 13) || substr({random}::text, 14))::uuid")
            }
            ("blob", _) => format!("CAST(substr(r.{name}, 1, 6) || randomblob(10) AS BLOB)"),
            ("bytea", _) => "decode(md5(s.n::text), 'hex')".to_owned(),
            ("text", _) => format!("r.{name} || '-' || s.n"),
            _ => format!("r.{name} + 1000000 + s.n * 1000"),
        };
    }
    if name.ends_with("_at") && kind == "bigint" {
        return format!("r.{name} - s.n * {APART}");
    }
    format!("r.{name}")
}
