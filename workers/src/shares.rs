//! Bulkheads: no network, account or receiver takes a whole worker while others wait.
//!
//! Each key has a share of the slots. Over it, it may use what is free, but never the last eighth: a newcomer finds a
//! slot at once. A receiver of webhooks may do so only while it answers quickly: one that does not would keep all it got
//! for as long as a try may take. What finds no slot waits for one as long as its key frees some; then it is parked: its
//! row is given back for a minute, should this process die, and is taken out of the parking place when a slot of its key
//! frees.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fanfare_domain::work::Hold;
use fanfare_entities::{AccountId, WebhookId};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::Instant,
};

use crate::lane::Lane;

/// Most slots of one account or receiver while others want them.
const OF_ONE: usize = 4;

/// A receiver that took longer than this for its last delivery gets no more than its share.
const QUICK: Duration = Duration::from_secs(1);

/// Work that waits for a slot is parked when its key has freed none for so long: while a network answers quickly slots free
/// faster than rows could be given back and taken again, and when it does not, newcomers behind the waiting ones lose no
/// more.
const PATIENCE: Duration = Duration::from_millis(25);

/// It is parked after so long in any case.
const MOST_PATIENCE: Duration = Duration::from_secs(1);

/// While rows are parked and hardly a slot is free, so many look for one at once: whatever is taken then is most likely
/// parked too, and a network that hangs would have all its rows taken and given back as fast as can be.
const SEEKERS: usize = 32;

/// What slots are shared among.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// A network.
    Platform(String),
    /// An account on a network.
    Account(AccountId),
    /// A receiver of webhooks.
    Receiver(WebhookId),
}

/// The slots of one kind of work in this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shares(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    seekers: Arc<Semaphore>,
    leaving: mpsc::UnboundedSender<Hold>,
}

#[derive(Debug)]
struct State {
    slots: usize,
    running: usize,
    held: HashMap<Key, Held>,
    /// Receivers that took their last delivery quickly.
    quick: HashSet<Key>,
    /// Who waits for a slot right now, in order.
    waiting: VecDeque<(Vec<Key>, oneshot::Sender<Share>)>,
    parked: HashMap<Key, VecDeque<Hold>>,
}

/// What a key has.
#[derive(Debug, Default)]
struct Held {
    slots: usize,
    /// When it last freed one.
    freed: Option<Instant>,
}

impl Shares {
    /// Shares of `slots`, and the rows that leave the parking place, to be given back as due now.
    #[must_use]
    pub fn new(slots: usize) -> (Self, mpsc::UnboundedReceiver<Hold>) {
        let (leaving, left) = mpsc::unbounded_channel();
        let state = Mutex::new(State {
            slots,
            running: 0,
            held: HashMap::new(),
            quick: HashSet::new(),
            waiting: VecDeque::new(),
            parked: HashMap::new(),
        });
        let seekers = Arc::new(Semaphore::new(SEEKERS));
        (Self(Arc::new(Inner { state, seekers, leaving })), left)
    }

    /// Says how many slots there are.
    pub fn set_slots(&self, slots: usize) {
        self.state().slots = slots;
    }

    /// Waits until it makes sense to take a row that needs a slot; what comes back is kept until the row has one, or has
    /// been given back. Who is the first of its tenant waits for nobody.
    pub async fn seek(&self, lane: Lane) -> Option<OwnedSemaphorePermit> {
        if lane == Lane::First || !self.state().is_crowded() {
            return None;
        }
        // Never closed.
        Arc::clone(&self.0.seekers).acquire_owned().await.ok()
    }

    /// Takes a slot for all of these keys until the share is dropped; waits for it while others free theirs. Who is
    /// the first of its tenant waits before all others.
    ///
    /// # Errors
    /// The key that is over its share while too few slots are free.
    pub async fn enter(&self, lane: Lane, keys: Vec<Key>) -> Result<Share, Key> {
        let (full, mut freed) = {
            let mut state = self.state();
            let Some(full) = state.full(&keys) else {
                state.take(&keys);
                return Ok(Share::of(keys, self.clone()));
            };
            let (free, freed) = oneshot::channel();
            match lane {
                Lane::First => state.waiting.push_front((keys, free)),
                Lane::Further => state.waiting.push_back((keys, free)),
            }
            (full, freed)
        };
        let since = Instant::now();
        loop {
            if let Ok(Ok(share)) = tokio::time::timeout(PATIENCE, &mut freed).await {
                return Ok(share);
            }
            if !self.state().is_moving(&full) || since.elapsed() > MOST_PATIENCE {
                break;
            }
        }
        // One that came in the same moment is taken; none can come from here on.
        freed.close();
        freed.try_recv().map_err(|_| full)
    }

    /// Keeps a row that was given back until a slot of its key frees.
    pub fn park(&self, key: Key, row: Hold) {
        let mut state = self.state();
        if state.admits(&key) {
            // A slot has freed in the meantime, and nobody else would wake the row.
            let _ = self.0.leaving.send(row);
            return;
        }
        state.parked.entry(key).or_default().push_back(row);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn admits(&self, key: &Key) -> bool {
        let share = match key {
            Key::Platform(_) => (self.slots / 4).max(1),
            Key::Account(_) | Key::Receiver(_) => OF_ONE.min(self.slots),
        };
        let held = self.held.get(key).map_or(0, |held| held.slots);
        let may_have_more = !matches!(key, Key::Receiver(_)) || self.quick.contains(key);
        held < share || may_have_more && self.running < self.slots - self.slots / 8
    }

    /// Work is parked, and only what is kept for newcomers is free.
    fn is_crowded(&self) -> bool {
        !self.parked.is_empty() && self.running >= self.slots - self.slots / 8
    }

    /// The first of these keys that is over its share.
    fn full(&self, keys: &[Key]) -> Option<Key> {
        keys.iter().find(|key| !self.admits(key)).cloned()
    }

    /// The key has freed a slot just now, or has none any more.
    fn is_moving(&self, key: &Key) -> bool {
        let freed = |held: &Held| held.freed.is_some_and(|freed| freed.elapsed() < PATIENCE);
        self.held.get(key).is_none_or(freed)
    }

    fn take(&mut self, keys: &[Key]) {
        self.running += 1;
        for key in keys {
            self.held.entry(key.clone()).or_default().slots += 1;
        }
    }

    fn give(&mut self, keys: &[Key], after: Duration) {
        self.running -= 1;
        for key in keys {
            if after > QUICK {
                self.quick.remove(key);
            } else if matches!(key, Key::Receiver(_)) {
                self.quick.insert(key.clone());
            }
            if let Some(held) = self.held.get_mut(key) {
                held.slots -= 1;
                held.freed = Some(Instant::now());
                if held.slots == 0 {
                    self.held.remove(key);
                }
            }
        }
    }

    /// The first that waits and may enter now.
    fn next_waiting(&mut self) -> Option<(Vec<Key>, oneshot::Sender<Share>)> {
        self.waiting.retain(|(_, free)| !free.is_closed());
        let place = self.waiting.iter().position(|(keys, _)| self.full(keys).is_none())?;
        let (keys, free) = self.waiting.remove(place)?;
        self.take(&keys);
        Some((keys, free))
    }

    /// The next parked row that may enter now: of the keys that have just freed a slot before others.
    fn next(&mut self, freed: &[Key]) -> Option<Hold> {
        let admitted =
            |state: &Self, key: &Key| state.parked.contains_key(key) && state.admits(key);
        let mine = freed.iter().find(|key| admitted(self, key)).cloned();
        let key = mine.or_else(|| self.parked.keys().find(|key| self.admits(key)).cloned())?;
        let waiting = self.parked.get_mut(&key)?;
        let row = waiting.pop_front();
        if waiting.is_empty() {
            self.parked.remove(&key);
        }
        row
    }
}

/// A slot in use.
#[derive(Debug)]
pub struct Share {
    keys: Vec<Key>,
    shares: Shares,
    since: Instant,
}

impl Share {
    fn of(keys: Vec<Key>, shares: Shares) -> Self {
        Self { keys, shares, since: Instant::now() }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.shares.state();
        state.give(&self.keys, self.since.elapsed());
        if let Some((keys, free)) = state.next_waiting() {
            drop(state);
            // Whoever has stopped waiting gives it back here, which lets in the next one.
            let _ = free.send(Share::of(keys, self.shares.clone()));
        } else if let Some(row) = state.next(&self.keys) {
            let _ = self.shares.0.leaving.send(row);
        }
    }
}

#[cfg(test)]
mod tests;
