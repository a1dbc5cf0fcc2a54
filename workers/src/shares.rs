//! Bulkheads: no network, account or receiver takes a whole worker while others wait.
//!
//! Each key has a share of the slots, and one that has less finds a slot at once, even if that makes a few more than there
//! are; all together are bounded by the rows that a worker holds. Over its share a key may use what is free. A receiver of
//! webhooks may do so only while it answers quickly: one that does not would keep all it got for as long as a try may take.
//! What finds no slot waits for one as long as its key frees some; then it is parked: its row is given back for a minute,
//! should this process die, and is taken out of the parking place when a slot of its key frees.
//!
//! Tenants share too. Among those that wait, whoever's tenant has fewer slots than others have on average is served first,
//! and is not left in the parking place because another tenant's rows never cease to wait. One that has next to none finds
//! some slots more on a network that is over its share, unless the network hangs.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fanfare_domain::work::Hold;
use fanfare_entities::{AccountId, WebhookId, WorkspaceId};
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

/// It is parked after so long in any case, and looks for a slot after so long, however many do.
const MOST_PATIENCE: Duration = Duration::from_secs(1);

/// While rows are parked and no slot is free, so many look for one at once: whatever is taken then is most likely
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
    /// How long work waits for a slot while its key frees none.
    patience: Duration,
    running: usize,
    held: HashMap<Key, Held>,
    /// How many slots each tenant has that has any.
    tenants: HashMap<WorkspaceId, usize>,
    /// Receivers that took their last delivery quickly.
    quick: HashSet<Key>,
    /// Who waits for a slot right now, in order: first those whose tenants had less than others as they came.
    waiting: [VecDeque<Waiting>; 2],
    parked: HashMap<Key, HashMap<WorkspaceId, VecDeque<Hold>>>,
}

/// What wants a slot.
#[derive(Debug, Clone)]
pub struct Seeker {
    /// Whose it is.
    pub tenant: WorkspaceId,
    /// What its slot counts against.
    pub keys: Vec<Key>,
}

/// A seeker, and where it waits for its slot.
type Waiting = (Seeker, oneshot::Sender<Share>);

/// What a key has.
#[derive(Debug)]
struct Held {
    slots: usize,
    /// When it last freed one; before that, when it got its first.
    moved: Instant,
}

impl Shares {
    /// Shares of `slots`, and the rows that leave the parking place, to be given back as due now.
    #[must_use]
    pub fn new(slots: usize) -> (Self, mpsc::UnboundedReceiver<Hold>) {
        let (leaving, left) = mpsc::unbounded_channel();
        let state = Mutex::new(State {
            slots,
            patience: PATIENCE,
            running: 0,
            held: HashMap::new(),
            tenants: HashMap::new(),
            quick: HashSet::new(),
            waiting: Default::default(),
            parked: HashMap::new(),
        });
        let seekers = Arc::new(Semaphore::new(SEEKERS));
        (Self(Arc::new(Inner { state, seekers, leaving })), left)
    }

    /// Has work wait so long for a slot, whether any is freed or not.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        self.state().patience = patience;
        self
    }

    /// Says how many slots there are: what one key may have alone.
    pub fn set_slots(&self, slots: usize) {
        self.state().slots = slots;
    }

    /// Waits until it makes sense to take a row that needs a slot; what comes back is kept until the row has one, or has
    /// been given back. Who is among the first few of its tenant waits for nobody, and nobody for long: whose the row is, and
    /// whether its tenant has less than others, is known when it has been taken.
    pub async fn seek(&self, lane: Lane) -> Option<OwnedSemaphorePermit> {
        if lane == Lane::First || !self.state().is_crowded() {
            return None;
        }
        let permit = Arc::clone(&self.0.seekers).acquire_owned();
        // Never closed.
        tokio::time::timeout(MOST_PATIENCE, permit).await.ok()?.ok()
    }

    /// Takes a slot until the share is dropped; waits for it while others free theirs. Who is among the first few of its
    /// tenant, or whose tenant has fewer slots than others, waits before those of whom that is not so.
    ///
    /// # Errors
    /// The key that is over its share while too few slots are free.
    pub async fn enter(&self, lane: Lane, seeker: Seeker) -> Result<Share, Key> {
        let (full, patience, within, mut freed) = {
            let mut state = self.state();
            let patience = state.patience;
            let Some(full) = state.full(&seeker) else {
                state.take(&seeker);
                return Ok(Share::of(seeker, self.clone()));
            };
            let (free, freed) = oneshot::channel();
            if lane == Lane::First || state.is_behind(seeker.tenant) {
                state.waiting[0].push_back((seeker, free));
                // Its turn is next, even if slots free in waves.
                (full, patience, MOST_PATIENCE, freed)
            } else {
                state.waiting[1].push_back((seeker, free));
                (full, patience, patience, freed)
            }
        };
        let since = Instant::now();
        loop {
            if let Ok(Ok(share)) = tokio::time::timeout(patience, &mut freed).await {
                return Ok(share);
            }
            if !self.state().is_moving(&full, within) || since.elapsed() > MOST_PATIENCE {
                break;
            }
        }
        // One that came in the same moment is taken; none can come from here on.
        freed.close();
        freed.try_recv().map_err(|_| full)
    }

    /// Keeps a row that was given back until a slot of its key frees.
    pub fn park(&self, key: Key, tenant: WorkspaceId, row: Hold) {
        let mut state = self.state();
        if state.admits(&key, tenant) {
            // A slot has freed in the meantime, and nobody else would wake the row.
            let _ = self.0.leaving.send(row);
            return;
        }
        state.parked.entry(key).or_default().entry(tenant).or_default().push_back(row);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A slot of this key may be had by this tenant.
    fn admits(&self, key: &Key, tenant: WorkspaceId) -> bool {
        let share = match key {
            Key::Platform(_) => (self.slots / 4).max(1),
            Key::Account(_) | Key::Receiver(_) => OF_ONE.min(self.slots),
        };
        let held = self.held.get(key).map_or(0, |held| held.slots);
        let may_have_more = !matches!(key, Key::Receiver(_)) || self.quick.contains(key);
        held < share || may_have_more && self.running < self.slots + self.beside(key, tenant)
    }

    /// How many slots more there are for this tenant while the key is over its share.
    fn beside(&self, key: &Key, tenant: WorkspaceId) -> usize {
        let has_few = self.of(tenant) < OF_ONE && self.is_behind(tenant);
        if has_few && self.is_moving(key, MOST_PATIENCE) { (self.slots / 8).div_ceil(2) } else { 0 }
    }

    /// Work is parked, and no slot is free but for newcomers.
    fn is_crowded(&self) -> bool {
        !self.parked.is_empty() && self.running >= self.slots
    }

    /// The first of its keys of which it may have no slot.
    fn full(&self, seeker: &Seeker) -> Option<Key> {
        seeker.keys.iter().find(|key| !self.admits(key, seeker.tenant)).cloned()
    }

    /// The key has freed a slot within this time, or has not had any for longer.
    fn is_moving(&self, key: &Key, within: Duration) -> bool {
        self.held.get(key).is_none_or(|held| held.moved.elapsed() < within)
    }

    fn of(&self, tenant: WorkspaceId) -> usize {
        self.tenants.get(&tenant).copied().unwrap_or_default()
    }

    /// The tenant has fewer slots than those who have some have on average.
    fn is_behind(&self, tenant: WorkspaceId) -> bool {
        self.of(tenant) * self.tenants.len() < self.running
    }

    fn take(&mut self, seeker: &Seeker) {
        self.running += 1;
        *self.tenants.entry(seeker.tenant).or_default() += 1;
        for key in &seeker.keys {
            let new = || Held { slots: 0, moved: Instant::now() };
            self.held.entry(key.clone()).or_insert_with(new).slots += 1;
        }
    }

    fn give(&mut self, seeker: &Seeker, after: Duration) {
        self.running -= 1;
        if let Some(held) = self.tenants.get_mut(&seeker.tenant) {
            *held -= 1;
            if *held == 0 {
                self.tenants.remove(&seeker.tenant);
            }
        }
        for key in &seeker.keys {
            if after > QUICK {
                self.quick.remove(key);
            } else if matches!(key, Key::Receiver(_)) {
                self.quick.insert(key.clone());
            }
            if let Some(held) = self.held.get_mut(key) {
                held.slots -= 1;
                held.moved = Instant::now();
                if held.slots == 0 {
                    self.held.remove(key);
                }
            }
        }
    }

    /// The first that waits and may enter now; its slot is taken.
    fn next_waiting(&mut self) -> Option<Waiting> {
        for line in 0..self.waiting.len() {
            self.waiting[line].retain(|(_, free)| !free.is_closed());
            let enters = |(seeker, _): &Waiting| self.full(seeker).is_none();
            if let Some(place) = self.waiting[line].iter().position(enters) {
                let next = self.waiting[line].remove(place)?;
                self.take(&next.0);
                return Some(next);
            }
        }
        None
    }

    /// The next parked row that is to look for a slot again: of the keys that have just freed one before others. While
    /// others wait for slots it is one that will be served before them.
    fn next_parked(&mut self, freed: &[Key], others_wait: bool) -> Option<Hold> {
        let mine = freed.iter().find_map(|key| Some((key, self.kept_back(key)?)));
        let any = || self.parked.keys().find_map(|key| Some((key, self.kept_back(key)?)));
        let next = if others_wait { mine } else { mine.or_else(any) };
        let (key, tenant) = next.map(|(key, tenant)| (key.clone(), tenant))?;
        self.unpark(&key, tenant)
    }

    /// Of the tenants with rows parked at this key that would not wait behind others, the one with the fewest slots.
    fn kept_back(&self, key: &Key) -> Option<WorkspaceId> {
        // Over its share a network's slots may be had, one by one, by whoever has less than others; an account's may not.
        let is_next = |tenant: &WorkspaceId| {
            self.admits(key, *tenant) || matches!(key, Key::Platform(_)) && self.is_behind(*tenant)
        };
        let tenants = self.parked.get(key)?.keys().copied();
        tenants.filter(is_next).min_by_key(|tenant| self.of(*tenant))
    }

    fn unpark(&mut self, key: &Key, tenant: WorkspaceId) -> Option<Hold> {
        let tenants = self.parked.get_mut(key)?;
        let rows = tenants.get_mut(&tenant)?;
        let row = rows.pop_front();
        if rows.is_empty() {
            tenants.remove(&tenant);
        }
        if tenants.is_empty() {
            self.parked.remove(key);
        }
        row
    }
}

/// A slot in use.
#[derive(Debug)]
pub struct Share {
    seeker: Seeker,
    shares: Shares,
    since: Instant,
}

impl Share {
    /// Who has it.
    pub const fn seeker(&self) -> &Seeker {
        &self.seeker
    }

    fn of(seeker: Seeker, shares: Shares) -> Self {
        Self { seeker, shares, since: Instant::now() }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.shares.state();
        state.give(&self.seeker, self.since.elapsed());
        let next = state.next_waiting();
        let row = state.next_parked(&self.seeker.keys, next.is_some());
        drop(state);
        if let Some(row) = row {
            let _ = self.shares.0.leaving.send(row);
        }
        if let Some((seeker, free)) = next {
            // Whoever has stopped waiting gives it back here, which lets in the next one.
            let _ = free.send(Share::of(seeker, self.shares.clone()));
        }
    }
}

#[cfg(test)]
mod tests;
