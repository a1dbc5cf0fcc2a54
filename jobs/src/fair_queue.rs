//! Fair queueing between tenants: ids leave in the order in which they came, except that each further id of one tenant
//! is placed [`SPACING`] behind its last one. A tenant with one id passes the burst of another; two bursts alternate.
//!
//! This is start-time fair queueing. `redis_queue.rs` has the same rule as a script.

use std::collections::HashMap;

use uuid::Uuid;

/// The distance between consecutive ids of one tenant. Within this many arrivals of others a new tenant passes one id
/// of a burst; a larger value is fairer among many tenants, and any value above one lets new tenants pass.
pub(crate) const SPACING: i64 = 1_024;

/// The most tenants to remember; beyond that all of them start over.
pub(crate) const MAX_TENANTS: usize = 10_000;

/// Computes the position of each tenant's next id.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    /// The position of a new tenant: behind the id that is served now and behind earlier arrivals.
    now: i64,
    /// The position of each tenant's last id.
    last: HashMap<Uuid, i64>,
    /// The greatest position assigned so far.
    furthest: i64,
}

impl FairQueue {
    /// Advances to the position that is served now; `None` if the queue is empty.
    pub(crate) fn advance(&mut self, head: Option<i64>) {
        if head.is_none() {
            // An empty queue gives no tenant a head start.
            self.last.clear();
        }
        self.now = self.now.max(head.unwrap_or(self.furthest));
    }

    /// Returns the position of a tenant's next id.
    pub(crate) fn next(&mut self, tenant: Uuid) -> i64 {
        if self.last.len() > MAX_TENANTS {
            self.last.clear();
        }
        self.now += 1;
        let own = self.last.get(&tenant).map_or(self.now, |last| last + SPACING);
        let turn = self.now.max(own);
        self.last.insert(tenant, turn);
        self.furthest = self.furthest.max(turn);
        turn
    }
}
