//! Enqueues rows at their due time that become due before the scheduler's next turn.

use std::collections::HashMap;

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};

use super::due::due_soon;
use crate::{Domain, error::Result};

/// The time to look ahead, in ms: longer than a turn of the scheduler takes under load.
const AHEAD: Millis = 300;

/// The most rows to read. Later rows are found when they are due.
const MAX_ROWS: usize = 256;

/// The time up to which the rows of each kind were read. A change that moves a row to an earlier time enqueues it
/// itself.
#[derive(Debug, Default)]
pub struct Lookahead(HashMap<JobKind, Millis>);

impl Lookahead {
    /// Sets timers that enqueue the rows of this kind that are due soon, at their time. `next` is the time of the next
    /// due row. These rows are not remembered: the scheduler finds them if no worker claims them.
    ///
    /// # Errors
    /// The database's.
    pub async fn look(&mut self, cx: &Domain, kind: JobKind, next: Option<Millis>) -> Result<()> {
        let now = cx.clock.now();
        let to = now + AHEAD;
        // If the clock was set back, the rows are read again.
        let seen = self.0.get(&kind).copied().filter(|seen| *seen <= to).unwrap_or(now).max(now);
        if next.is_none_or(|next| next > to) || to - seen < AHEAD / 2 {
            return Ok(());
        }
        let rows = due_soon(cx, kind, (seen, to), MAX_ROWS).await?;
        let seen = rows.last().filter(|_| rows.len() == MAX_ROWS).map_or(to, |row| row.state.0);
        self.0.insert(kind, seen);
        for row in rows {
            cx.after_commit.enqueue(kind, JobRef::of(row.workspace, row.id), row.state.0);
        }
        Ok(())
    }
}
