//! A step, written down before it is taken.

use std::sync::Arc;

use fanfare_entities::Millis;

use super::{
    attempt::{Attempt, RUNNING},
    change::Change,
    line,
};
use crate::{
    Domain,
    error::Result,
    guard::{self, Guard},
    rows::{Columns, Rows, Type},
    work::Hold,
};

/// A step about to be taken: written before the remote call.
#[derive(Debug)]
pub struct Armed {
    /// The row.
    pub hold: Hold,
    /// The attempt with the step.
    pub attempt: Attempt,
    /// For a commit call: when it starts and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// The step publishes: it has to wait for its turn among the posts of the account.
    pub in_line: bool,
    /// The lease lasts at least until then.
    pub lease_until: Millis,
}

/// Writes the steps down; says for each whether the row is still held and, for a publishing one, whether it is its turn.
/// Only then may the call be made.
///
/// # Errors
/// The database's: no call may be made.
pub async fn arm(cx: &Domain, armed: &[Arc<Armed>]) -> Result<Vec<bool>> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fence", Type::Big),
        ("attempt", Type::Int),
        ("steps", Type::Json),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("due_at", Type::Big),
        ("in_line", Type::Bool),
    ];
    let conn = &cx.db.write;
    let mut values = Rows::new(conn, COLUMNS);
    for one in armed {
        values.push([
            one.hold.id.into(),
            one.hold.fence.into(),
            one.attempt.number.into(),
            (&RUNNING).into(),
            one.sending.map(|(from, _)| from).into(),
            one.sending.map(|(_, until)| until).into(),
            one.lease_until.into(),
            one.in_line.into(),
        ]);
    }
    let fenced = guard::with(Guard::ArmFenced, " AND posts.fence = u.fence");
    // A lease that lasts long enough stays as it is: then no index changes, and PostgreSQL updates the row in place.
    let sql = format!(
        "UPDATE posts SET attempt = u.attempt, steps = u.steps, \
         due_at = CASE WHEN posts.due_at < u.due_at THEN u.due_at ELSE posts.due_at END, \
         out_of_line = posts.out_of_line AND NOT u.in_line, \
         sending_at = u.sending_at, sending_until = u.sending_until FROM {} \
         WHERE posts.id = u.id{fenced}{}",
        values.from("u", 1),
        guard::with(Guard::InLine, line::IS_FIRST),
    );
    let attempts = armed.iter().map(|one| (one.hold.id, &one.attempt)).collect();
    let change =
        Change { update: sql, values: values.values().collect(), attempts, ..Change::default() };
    let held = change.make(cx).await?;
    Ok(armed.iter().map(|one| held.contains(&one.hold.id)).collect())
}
