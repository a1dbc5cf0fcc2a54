//! What the leading sweeper does beside ringing: it sets paused posts aside, gives them back, and notes how much waits.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use fanfare_domain::{
    Domain, Result,
    ops::{holds, queues},
};
use fanfare_jobs::{JobKind, JobRef};
use uuid::Uuid;

/// How often the pauses are read.
const LOOK: Duration = Duration::from_millis(500);

/// Held posts are looked through this often although no pause ended: a post may be set aside in the moment in which its
/// pause ends.
const RECHECK: Duration = Duration::from_secs(10);

/// How often it is noted how much waits.
const SAMPLE: Duration = Duration::from_secs(15);

/// For this long after a pause began or ended, rings of more than a second ago count as unheard: claims refused them.
const UNSETTLED: Duration = Duration::from_secs(3);

/// What it remembers between turns.
#[derive(Debug, Default)]
pub struct Keeper {
    pauses: Vec<Uuid>,
    looked: Option<Instant>,
    rechecked: Option<Instant>,
    sampled: Option<Instant>,
    changed: Option<Instant>,
}

impl Keeper {
    /// Gives back what is no longer paused, and takes its notes; at most a few small statements a second.
    ///
    /// # Errors
    /// The database's.
    pub async fn tend(&mut self, cx: &Domain) -> Result<()> {
        if !passed(&mut self.looked, LOOK) {
            return Ok(());
        }
        self.look(cx).await?;
        if passed(&mut self.rechecked, RECHECK) {
            // In portions, so that a hundred thousand of them do not keep others from being rung for.
            let given_back = holds::restore(cx).await?;
            if given_back > 0 {
                tracing::debug!(posts = given_back, "posts go on after a pause");
                (self.looked, self.rechecked) = (None, None);
            }
        }
        if passed(&mut self.sampled, SAMPLE) {
            queues::sample(cx).await?;
        }
        Ok(())
    }

    /// Reads the pauses; one that began or ended has the held posts looked through at the next turn.
    async fn look(&mut self, cx: &Domain) -> Result<()> {
        let pauses = holds::pauses(cx).await?;
        if pauses != self.pauses {
            self.pauses = pauses;
            self.changed = Some(Instant::now());
            (self.looked, self.rechecked) = (None, None);
        }
        Ok(())
    }

    /// A pause began or ended just now, so that rows may be due whose ring was in vain.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.changed.is_some_and(|at| at.elapsed() < UNSETTLED)
    }

    /// The rings among these for what is not paused; the others are set aside. The pauses are read anew: what is rung for
    /// although it is paused would be looked at again only ten seconds later.
    ///
    /// # Errors
    /// The database's.
    pub async fn unpaused(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        mut rings: Vec<JobRef>,
    ) -> Result<Vec<JobRef>> {
        if kind != JobKind::PublishPost || rings.is_empty() {
            return Ok(rings);
        }
        self.look(cx).await?;
        if !self.pauses.is_empty() {
            let ids = rings.iter().map(|ring| ring.id).collect();
            let unpaused: HashSet<i64> = holds::hold(cx, ids).await?.into_iter().collect();
            rings.retain(|ring| unpaused.contains(&ring.id));
        }
        Ok(rings)
    }
}

/// True once in every `period`.
fn passed(last: &mut Option<Instant>, period: Duration) -> bool {
    if last.is_some_and(|last| last.elapsed() < period) {
        return false;
    }
    *last = Some(Instant::now());
    true
}
