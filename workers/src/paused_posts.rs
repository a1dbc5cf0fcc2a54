//! Sets aside due posts that a pause covers, and makes them due again after the pause.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use fanfare_core::{Domain, Result};
use fanfare_jobs::{JobKind, JobRef};
use fanfare_publishing::posts::holds;
use uuid::Uuid;

/// The interval at which the pauses are read.
const READ_EVERY: Duration = Duration::from_millis(500);

/// The interval at which the posts set aside are checked although no pause ended: a post may be set aside at the moment
/// at which its pause ends.
const RECHECK_EVERY: Duration = Duration::from_secs(10);

/// For this long after a pause began or ended, jobs enqueued more than a second ago count as lost: claims refused them.
const UNSETTLED: Duration = Duration::from_secs(3);

/// The scheduler's memory of pauses between its turns.
#[derive(Debug, Default)]
pub struct PausedPosts {
    pauses: Vec<Uuid>,
    read: Option<Instant>,
    rechecked: Option<Instant>,
    changed: Option<Instant>,
}

impl PausedPosts {
    /// Restores posts that are no longer paused, with at most a few small statements a second.
    ///
    /// # Errors
    /// The database's.
    pub async fn restore(&mut self, cx: &Domain) -> Result<()> {
        if !passed(&mut self.read, READ_EVERY) {
            return Ok(());
        }
        self.read_pauses(cx).await?;
        if passed(&mut self.rechecked, RECHECK_EVERY) {
            // In portions, so that a hundred thousand posts do not delay the scheduler.
            let restored = holds::restore(cx).await?;
            if restored > 0 {
                tracing::debug!(posts = restored, "posts are due again after a pause");
                (self.read, self.rechecked) = (None, None);
            }
        }
        Ok(())
    }

    /// Reads the pauses. After a change the next turn checks the posts set aside.
    async fn read_pauses(&mut self, cx: &Domain) -> Result<()> {
        let pauses = holds::pauses(cx).await?;
        if pauses != self.pauses {
            self.pauses = pauses;
            self.changed = Some(Instant::now());
            (self.read, self.rechecked) = (None, None);
        }
        Ok(())
    }

    /// Returns true shortly after a pause began or ended, when claims may have refused rows that are due.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.changed.is_some_and(|at| at.elapsed() < UNSETTLED)
    }

    /// Returns the jobs whose posts are not paused, and sets the other posts aside. Reads the pauses again, because a
    /// paused post that is enqueued would be looked at only ten seconds later.
    ///
    /// # Errors
    /// The database's.
    pub async fn unpaused(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        mut jobs: Vec<JobRef>,
    ) -> Result<Vec<JobRef>> {
        if kind != JobKind::PublishPost || jobs.is_empty() {
            return Ok(jobs);
        }
        self.read_pauses(cx).await?;
        if !self.pauses.is_empty() {
            let ids = jobs.iter().map(|job| job.id).collect();
            let unpaused: HashSet<i64> = holds::set_aside(cx, ids).await?.into_iter().collect();
            jobs.retain(|job| unpaused.contains(&job.id));
        }
        Ok(jobs)
    }
}

/// Returns true once in every `period`.
fn passed(last: &mut Option<Instant>, period: Duration) -> bool {
    if last.is_some_and(|last| last.elapsed() < period) {
        return false;
    }
    *last = Some(Instant::now());
    true
}
