//! The workspaces that have due work.

use std::{
    collections::BTreeSet,
    ops::Bound::{Excluded, Included, Unbounded},
};

use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use uuid::Uuid;

use super::due::{first_due, fresh_workspaces};
use crate::{Domain, error::Result};

/// The most workspaces in one walk; the next walk continues after them.
const WORKSPACES_A_WALK: usize = 4_096;

/// The workspaces that are known to have due work.
///
/// A walk visits every workspace that has waiting rows, also for a distant time, which is too slow for every turn of
/// the scheduler. Between two walks, the workspaces are added in which rows have become due.
#[derive(Debug, Default)]
pub(super) struct DueTenants {
    known: BTreeSet<Uuid>,
    /// The workspace at which the last walk stopped, if it did not reach the end.
    walked: Uuid,
    /// The time up to which due rows were seen; `None`: a walk is needed.
    seen: Option<Millis>,
}

impl DueTenants {
    /// Makes the next reading begin with a walk.
    pub(super) const fn walk_again(&mut self) {
        self.seen = None;
    }

    /// Updates the workspaces that have due work.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn read(&mut self, cx: &Domain, kind: JobKind) -> Result<()> {
        let now = cx.clock.now();
        match self.seen {
            Some(seen) => self.known.extend(fresh_workspaces(cx, kind, (seen, now)).await?),
            None => self.walk(cx, kind, now).await?,
        }
        self.seen = Some(now);
        Ok(())
    }

    async fn walk(&mut self, cx: &Domain, kind: JobKind, now: Millis) -> Result<()> {
        let found = first_due(cx, kind, self.walked, WORKSPACES_A_WALK).await?;
        let from = self.walked;
        self.walked = match found.last() {
            Some((last, _)) if found.len() >= WORKSPACES_A_WALK => *last,
            _ => Uuid::nil(),
        };
        let to = if self.walked.is_nil() { Uuid::max() } else { self.walked };
        self.known.retain(|id| *id <= from || *id > to);
        self.known.extend(found.iter().filter(|(_, due)| *due <= now).map(|(id, _)| *id));
        Ok(())
    }

    /// Returns all of them in a circle, beginning after this one.
    pub(super) fn behind(&self, position: Uuid) -> Vec<Uuid> {
        let behind = self.known.range((Excluded(position), Unbounded));
        behind.chain(self.known.range((Unbounded, Included(position)))).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circle_begins_behind_the_position_and_has_each_once() {
        let ids =
            |numbers: &[u128]| numbers.iter().map(|n| Uuid::from_u128(*n)).collect::<Vec<_>>();
        let waiting =
            DueTenants { known: ids(&[2, 4, 6]).into_iter().collect(), ..DueTenants::default() };
        assert_eq!(waiting.behind(Uuid::nil()), ids(&[2, 4, 6]));
        assert_eq!(waiting.behind(Uuid::from_u128(4)), ids(&[6, 2, 4]));
        assert_eq!(waiting.behind(Uuid::from_u128(5)), ids(&[6, 2, 4]));
        assert_eq!(waiting.behind(Uuid::max()), ids(&[2, 4, 6]));
    }
}
