//! Begins steps: records each before its remote call.

use std::sync::Arc;

use fanfare_core::{
    Domain,
    durable::Lease,
    error::Result,
    mutation::{self, Mutation},
    rows::{Columns, Rows, Type},
};
use fanfare_entities::Millis;

use super::{
    account_order,
    attempt::{Attempt, RUNNING},
    change::Change,
};

/// A step about to begin, recorded before the remote call.
#[derive(Debug)]
pub struct BeginStep {
    /// The row.
    pub lease: Lease,
    /// The attempt with the step.
    pub attempt: Attempt,
    /// For a commit call: when it starts and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// The step publishes, so it has to wait for its turn among the posts of the account.
    pub in_line: bool,
    /// The lease lasts at least until then.
    pub lease_until: Millis,
}

/// Records that the steps begin. Returns true for each step whose call may be made: its row is still held and, if it
/// publishes, no earlier post of the account is before it.
///
/// # Errors
/// The database's: no call may be made.
pub async fn begin_step(cx: &Domain, steps: &[Arc<BeginStep>]) -> Result<Vec<bool>> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fencing_token", Type::Big),
        ("attempt", Type::Int),
        ("steps", Type::Json),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("due_at", Type::Big),
        ("in_line", Type::Bool),
    ];
    let conn = &cx.db.write;
    let mut values = Rows::new(conn, COLUMNS);
    for one in steps {
        values.push([
            one.lease.id.into(),
            one.lease.fencing_token.into(),
            one.attempt.number.into(),
            (&RUNNING).into(),
            one.sending.map(|(from, _)| from).into(),
            one.sending.map(|(_, until)| until).into(),
            one.lease_until.into(),
            one.in_line.into(),
        ]);
    }
    let fenced =
        mutation::unless(Mutation::BeginStepFenced, " AND posts.fencing_token = u.fencing_token");
    // A lease that lasts long enough stays as it is. Then no index changes, and PostgreSQL updates the row in place.
    let sql = format!(
        "UPDATE posts SET attempt = u.attempt, steps = u.steps, \
         due_at = CASE WHEN posts.due_at < u.due_at THEN u.due_at ELSE posts.due_at END, \
         out_of_line = posts.out_of_line AND NOT u.in_line, \
         sending_at = u.sending_at, sending_until = u.sending_until FROM {} \
         WHERE posts.id = u.id{fenced}{}",
        values.from("u", 1),
        mutation::unless(Mutation::InAccountOrder, account_order::IS_FIRST),
    );
    let attempts = steps.iter().map(|one| (one.lease.id, &one.attempt)).collect();
    let change =
        Change { update: sql, values: values.values().collect(), attempts, ..Change::default() };
    let held = change.apply(cx).await?;
    Ok(steps.iter().map(|one| held.contains(&one.lease.id)).collect())
}
