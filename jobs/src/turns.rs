//! In which order ids leave a queue: in the order they came, except that each further id of one tenant stands [`APART`]
//! behind its last one. A tenant with one id passes a burst of another; two bursts alternate.
//!
//! This is start-time fair queueing. `redis_queue.rs` has the same rule as a script.

use std::collections::HashMap;

use uuid::Uuid;

/// So far apart stand ids of one tenant that were pushed one behind the other. Within so many arrivals of others a
/// newcomer passes one id of a burst; more is more even among many tenants, and any number above one lets newcomers pass.
pub(crate) const APART: i64 = 1_024;

/// Tenants kept in mind at most; beyond that all are newcomers once.
pub(crate) const TENANTS: usize = 10_000;

/// The next place for each tenant.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Where a newcomer stands: behind what is served now and behind whoever came before.
    now: i64,
    /// Where a tenant's last id was put.
    last: HashMap<Uuid, i64>,
    /// The greatest place given away.
    furthest: i64,
}

impl Turns {
    /// Goes on to the place that is served now; `None` if nothing waits.
    pub(crate) fn serve(&mut self, head: Option<i64>) {
        if head.is_none() {
            // Nobody waits, so nobody has anything ahead of others.
            self.last.clear();
        }
        self.now = self.now.max(head.unwrap_or(self.furthest));
    }

    /// The place of a tenant's next id.
    pub(crate) fn next(&mut self, tenant: Uuid) -> i64 {
        if self.last.len() > TENANTS {
            self.last.clear();
        }
        self.now += 1;
        let own = self.last.get(&tenant).map_or(self.now, |last| last + APART);
        let turn = self.now.max(own);
        self.last.insert(tenant, turn);
        self.furthest = self.furthest.max(turn);
        turn
    }
}
