//! Rows that will be due before the sweeper may come round again.

use std::collections::HashMap;

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};

use super::due::soon;
use crate::{Domain, error::Result};

/// So far ahead it is looked, in ms: longer than a turn of the sweeper takes under load.
const AHEAD: Millis = 300;

/// Most rows that are looked at. Those behind them are found when they are due.
const MOST: usize = 256;

/// How far it was looked for each kind of work. Rows that come nearer later are rung for by whoever moves them.
#[derive(Debug, Default)]
pub struct Foresight(HashMap<JobKind, Millis>);

impl Foresight {
    /// Has the rows of this kind that are due soon rung for at their time, by a timer of this process. `next` is when the
    /// next row is due. What is rung so is not remembered: the sweeper finds it if nobody takes it.
    ///
    /// # Errors
    /// The database's.
    pub async fn look(&mut self, cx: &Domain, kind: JobKind, next: Option<Millis>) -> Result<()> {
        let now = cx.clock.now();
        let to = now + AHEAD;
        // A clock that was set back makes what was seen worthless.
        let seen = self.0.get(&kind).copied().filter(|seen| *seen <= to).unwrap_or(now).max(now);
        if next.is_none_or(|next| next > to) || to - seen < AHEAD / 2 {
            return Ok(());
        }
        let rows = soon(cx, kind, (seen, to), MOST).await?;
        let seen = rows.last().filter(|_| rows.len() == MOST).map_or(to, |row| row.state.0);
        self.0.insert(kind, seen);
        for row in rows {
            cx.after_commit.enqueue(kind, JobRef::of(row.workspace, row.id), row.state.0);
        }
        Ok(())
    }
}
