//! Creates very many scheduled posts in the database, as the API would have.

use std::collections::HashSet;

use fanfare_entities::{Millis, post};
use sea_orm::{ConnectionTrait, DatabaseConnection, Iterable, QueryResult, Statement};
use serde_json::json;

use crate::{
    fleet::Fleet,
    judge::{Account, Expected},
};

/// A time in the far future.
const LATER: &str = "2099-01-01T00:00:00Z";

/// Schedules posts on each account in turn, `step` ms apart from `from` on; their texts contain their due times.
pub async fn schedule(
    fleet: &Fleet,
    accounts: &[Account],
    count: usize,
    from: Millis,
    step: Millis,
) -> Expected {
    for account in accounts {
        let body = json!({"account_id": account.id, "caption": "first", "scheduled_at": LATER});
        let _ = fleet.user().publish(body).await;
    }
    let each = count.div_ceil(accounts.len());
    let total = accounts.len();
    let due = format!("({from} + (s.n * {total} + t.place) * {step})");
    let columns: Vec<_> =
        post::Column::iter().filter(|column| !matches!(column, post::Column::Id)).collect();
    let name = |column: &post::Column| sea_orm::IdenStatic::as_str(column).to_owned();
    let value = |column: &post::Column| match column {
        post::Column::ScheduledAt => due.clone(),
        // A post that needs preparation is due before its scheduled time.
        post::Column::DueAt => format!("{due} + t.due_at - t.scheduled_at"),
        post::Column::Caption => format!("'Post ' || t.account_id || ' due=' || {due}"),
        post::Column::ContentKey => "gen_random_uuid()".into(),
        other => format!("t.{}", name(other)),
    };
    let sql = format!(
        "INSERT INTO posts ({}) SELECT {} FROM (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place \
         FROM posts WHERE caption = 'first') AS t CROSS JOIN generate_series(0, {}) AS s(n)",
        columns.iter().map(name).collect::<Vec<_>>().join(", "),
        columns.iter().map(value).collect::<Vec<_>>().join(", "),
        each - 1
    );
    fleet.db.execute_unprepared(&sql).await.expect("posts");
    let drop = "DELETE FROM posts WHERE caption = 'first'";
    fleet.db.execute_unprepared(drop).await.expect("the first posts go");
    fleet.db.execute_unprepared("ANALYZE posts").await.expect("statistics");
    let mut expected = Expected::new();
    for (place, account) in accounts.iter().enumerate() {
        let at = |n: usize| from + Millis::try_from(n * total + place).unwrap() * step;
        let texts = (0..each).map(|n| format!("Post {} due={}", account.id, at(n)));
        expected.insert(*account, texts.collect());
    }
    expected
}

/// Returns the expected posts that must have ended: all that were due before `until`, and those of the others that
/// have.
pub async fn ended(db: &DatabaseConnection, expected: &Expected, until: Millis) -> Expected {
    let sql = format!(
        "SELECT caption FROM posts WHERE scheduled_at >= {until} AND status IN ('published', 'failed')"
    );
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await;
    let caption = |row: &QueryResult| row.try_get::<String>("", "caption").expect("a caption");
    let later: HashSet<String> = rows.expect("the posts").iter().map(caption).collect();
    let has_ended = |text: &&String| {
        let due = text.split_once("due=").and_then(|(_, due)| due.parse::<Millis>().ok());
        due.is_some_and(|due| due < until) || later.contains(*text)
    };
    let part = expected.iter().map(|(account, texts)| {
        (*account, texts.iter().filter(has_ended).cloned().collect::<Vec<_>>())
    });
    part.collect()
}
