//! Who has slots, who waits for them, and who is next.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use fanfare_domain::work::Hold;
use fanfare_entities::WorkspaceId;
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};

use super::{Key, MOST_PATIENCE, PATIENCE, Seeker, Share, Shares, pace::Pace, ramp::Ramp};

/// Most slots of one account or receiver while others want them.
pub(super) const OF_ONE: usize = 4;

/// A receiver that took longer than this for its last delivery gets no more than its share.
pub(super) const QUICK: Duration = Duration::from_secs(1);

/// For so long after somebody with next to nothing came, others are mindful of more of the kind.
const LATELY: Duration = Duration::from_millis(500);

/// One is let in ahead for so many slots at most.
const AHEAD_ONE_IN: usize = 2;

/// The slots of one kind of work, and all that want one.
#[derive(Debug)]
pub(super) struct State {
    slots: usize,
    /// How long work waits for a slot while its key frees none.
    pub patience: Duration,
    pub running: usize,
    /// Those of them that are more than there are, of tenants that have next to none.
    pub extras: usize,
    /// Of those that got ready, as many begin at once as there are slots.
    pub turns: Arc<Semaphore>,
    pub pace: Pace,
    pub ramp: Ramp,
    pub held: HashMap<Key, Held>,
    /// How many slots each tenant has that has any.
    tenants: HashMap<WorkspaceId, usize>,
    /// When a tenant with next to none last came beside others.
    newcomer: Option<Instant>,
    /// Receivers that took their last delivery quickly.
    quick: HashSet<Key>,
    /// Who waits for a slot right now, in order: first those whose tenants had less than others as they came.
    pub waiting: [VecDeque<Waiting>; 2],
    pub parked: HashMap<Key, HashMap<WorkspaceId, VecDeque<Hold>>>,
}

/// A seeker, and where it waits for its slot.
type Waiting = (Seeker, oneshot::Sender<Share>);

/// What a key has.
#[derive(Debug)]
pub(super) struct Held {
    pub slots: usize,
    /// When it last freed one; before that, when it got its first.
    pub moved: Instant,
}

impl State {
    pub fn new(slots: usize) -> Self {
        Self {
            slots,
            patience: PATIENCE,
            running: 0,
            extras: 0,
            turns: turns(slots),
            pace: Pace::default(),
            ramp: Ramp::default(),
            held: HashMap::new(),
            tenants: HashMap::new(),
            newcomer: None,
            quick: HashSet::new(),
            waiting: Default::default(),
            parked: HashMap::new(),
        }
    }

    pub fn set_slots(&mut self, slots: usize) {
        (self.slots, self.turns) = (slots, turns(slots));
    }

    /// A slot of this key may be had by this tenant.
    pub fn admits(&self, key: &Key, tenant: WorkspaceId) -> bool {
        let may_have_more = !matches!(key, Key::Receiver(_)) || self.quick.contains(key);
        let is_free = || self.running < self.bound() || self.finds_beside(key, tenant);
        self.is_below_share(key) || may_have_more && is_free()
    }

    /// So many slots are given out to whoever is over its share.
    pub fn bound(&self) -> usize {
        match self.ramp.open(self.slots) {
            open if open < self.slots => open,
            slots => slots + self.pace.ahead().min(slots / AHEAD_ONE_IN),
        }
    }

    fn is_below_share(&self, key: &Key) -> bool {
        let share = match key {
            Key::Platform(_) => (self.slots / 4).max(1),
            Key::Account(_) | Key::Receiver(_) => OF_ONE.min(self.slots),
        };
        self.held.get(key).map_or(0, |held| held.slots) < share
    }

    /// There is one of the slots for this tenant that are there besides, while the key is over its share.
    fn finds_beside(&self, key: &Key, tenant: WorkspaceId) -> bool {
        let besides = (self.slots / 8).div_ceil(2);
        self.extras < besides && self.has_few(tenant) && self.is_moving(key, MOST_PATIENCE)
    }

    /// The tenant has next to none.
    fn has_few(&self, tenant: WorkspaceId) -> bool {
        self.of(tenant) < OF_ONE && self.is_behind(tenant)
    }

    /// One of the first few of this tenant comes.
    pub fn greet(&mut self, tenant: WorkspaceId) {
        if self.has_few(tenant) {
            self.newcomer = Some(Instant::now());
        }
    }

    /// A tenant with next to none has lately come beside others.
    pub fn has_newcomers(&self) -> bool {
        self.newcomer.is_some_and(|at| at.elapsed() < LATELY)
    }

    /// Work is parked, and no slot is free but for newcomers.
    pub fn is_crowded(&self) -> bool {
        !self.parked.is_empty() && self.running >= self.slots
    }

    /// The first of its keys of which it may have no slot.
    pub fn full(&self, seeker: &Seeker) -> Option<Key> {
        seeker.keys.iter().find(|key| !self.admits(key, seeker.tenant)).cloned()
    }

    /// The key has freed a slot within this time, or has not had any for longer.
    fn is_moving(&self, key: &Key, within: Duration) -> bool {
        self.held.get(key).is_none_or(|held| held.moved.elapsed() < within)
    }

    /// A slot of the key may be had before long.
    pub fn is_hopeful(&self, key: &Key, within: Duration) -> bool {
        self.is_moving(key, within) || self.ramp.is_watched()
    }

    fn of(&self, tenant: WorkspaceId) -> usize {
        self.tenants.get(&tenant).copied().unwrap_or_default()
    }

    /// The tenant has fewer slots than those who have some have on average.
    pub fn is_behind(&self, tenant: WorkspaceId) -> bool {
        self.of(tenant) * self.tenants.len() < self.running
    }

    pub fn take(&mut self, seeker: Seeker, shares: Shares) -> Share {
        let is_below_share = seeker.keys.iter().all(|key| self.is_below_share(key));
        // Who may have one of those does not wait behind others that were let in ahead.
        let besides = |key| self.is_below_share(key) || self.finds_beside(key, seeker.tenant);
        let is_extra = !is_below_share
            && self.running >= self.slots.min(self.bound())
            && seeker.keys.iter().all(besides);
        self.extras += usize::from(is_extra);
        self.running += 1;
        self.ramp.running(self.running, self.slots);
        *self.tenants.entry(seeker.tenant).or_default() += 1;
        for key in &seeker.keys {
            let new = || Held { slots: 0, moved: Instant::now() };
            self.held.entry(key.clone()).or_insert_with(new).slots += 1;
        }
        Share {
            seeker,
            shares,
            since: Instant::now(),
            is_extra,
            waits: !is_below_share && !is_extra,
            turn: None,
        }
    }

    pub fn give(&mut self, seeker: &Seeker, after: Duration) {
        self.running -= 1;
        self.ramp.running(self.running, self.slots);
        self.pace.freed();
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

    /// Those that have waited and may enter now, with their slots: one, and more only if more are given out than before.
    pub fn next_waiting(&mut self, shares: &Shares) -> Vec<(Share, oneshot::Sender<Share>)> {
        let mut next = Vec::new();
        while next.is_empty() || self.running < self.bound() {
            let Some((seeker, free)) = self.first_waiting() else { break };
            next.push((self.take(seeker, shares.clone()), free));
        }
        next
    }

    /// The first that waits and may enter now.
    fn first_waiting(&mut self) -> Option<Waiting> {
        for line in 0..self.waiting.len() {
            self.waiting[line].retain(|(_, free)| !free.is_closed());
            let enters = |(seeker, _): &Waiting| self.full(seeker).is_none();
            if let Some(place) = self.waiting[line].iter().position(enters) {
                return self.waiting[line].remove(place);
            }
        }
        None
    }

    /// The next parked row that is to look for a slot again: of the keys that have just freed one before others. While
    /// others wait for slots it is one that will be served before them.
    pub fn next_parked(&mut self, freed: &[Key], others_wait: bool) -> Option<Hold> {
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

fn turns(slots: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS)))
}
