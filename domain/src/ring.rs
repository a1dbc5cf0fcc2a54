//! Rings after a commit: best effort, in the background, never in the way of a reply.

use std::{collections::BTreeMap, time::Duration};

use fanfare_entities::Millis;
use fanfare_jobs::{Bell, Kind, Ring};
use tokio::sync::mpsc;

use crate::clock::Clock;

/// Rows due within this many ms are rung at their time by the process that committed them; later ones are the
/// sweeper's.
const SOON: Millis = 1_000;

/// Rings waiting to be sent at most; beyond that they are left to the sweeper.
const WAITING: usize = 65_536;

/// Hands rings to a background task. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ringer {
    rings: mpsc::Sender<(Kind, Ring)>,
    clock: Clock,
}

impl Ringer {
    /// A ringer and the rings it collects, to be given to [`run`].
    pub(crate) fn new(clock: Clock) -> (Self, Rings) {
        let (rings, waiting) = mpsc::channel(WAITING);
        (Self { rings, clock }, Rings(waiting))
    }

    /// Rings for a row that is due at `due_at`; does nothing if that is too far away.
    pub fn ring(&self, kind: Kind, ring: Ring, due_at: Millis) {
        let wait = due_at - self.clock.now();
        if wait > SOON {
            return;
        }
        if wait <= 0 {
            // A full channel means that the queue hangs; the sweeper rings again.
            let _ = self.rings.try_send((kind, ring));
            return;
        }
        let (rings, clock) = (self.rings.clone(), self.clock.clone());
        tokio::spawn(async move {
            clock.sleep(Duration::from_millis(wait.unsigned_abs())).await;
            let _ = rings.try_send((kind, ring));
        });
    }
}

/// Rings on their way.
#[derive(Debug)]
pub(crate) struct Rings(mpsc::Receiver<(Kind, Ring)>);

/// Pushes rings to the queue, all that wait at once; ends when nobody can ring any more.
pub(crate) async fn run(mut rings: Rings, bell: Bell) {
    let mut batch = Vec::new();
    while rings.0.recv_many(&mut batch, 1_024).await > 0 {
        let mut by_kind: BTreeMap<Kind, Vec<Ring>> = BTreeMap::new();
        for (kind, ring) in batch.drain(..) {
            by_kind.entry(kind).or_default().push(ring);
        }
        for (kind, rings) in by_kind {
            if let Err(error) = bell.push(kind, &rings).await {
                tracing::debug!(%error, "rings were not heard; the sweeper will ring");
            }
        }
    }
}
