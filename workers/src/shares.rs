//! Bulkheads: no network, account or receiver takes a whole worker while others wait.
//!
//! Each key has a share of the slots. Over it, it may use what is free, but never the last eighth: a newcomer finds a
//! slot at once. What finds no slot is parked: its row is given back for a minute, should this process die, and is taken
//! out of the parking place when a slot of its key frees.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use fanfare_domain::work::Hold;
use fanfare_entities::{AccountId, WebhookId};
use tokio::sync::mpsc;

/// Most slots of one account or receiver while others want them.
const OF_ONE: usize = 4;

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
    leaving: mpsc::UnboundedSender<Hold>,
}

#[derive(Debug)]
struct State {
    slots: usize,
    running: usize,
    held: HashMap<Key, usize>,
    parked: HashMap<Key, VecDeque<Hold>>,
}

impl Shares {
    /// Shares of `slots`, and the rows that leave the parking place, to be given back as due now.
    #[must_use]
    pub fn new(slots: usize) -> (Self, mpsc::UnboundedReceiver<Hold>) {
        let (leaving, left) = mpsc::unbounded_channel();
        let (held, parked) = (HashMap::new(), HashMap::new());
        let state = Mutex::new(State { slots, running: 0, held, parked });
        (Self(Arc::new(Inner { state, leaving })), left)
    }

    /// Says how many slots there are.
    pub fn set_slots(&self, slots: usize) {
        self.state().slots = slots;
    }

    /// Takes a slot for all of these keys until the share is dropped.
    ///
    /// # Errors
    /// The key that is over its share while too few slots are free.
    pub fn enter(&self, keys: Vec<Key>) -> Result<Share, Key> {
        let mut state = self.state();
        if let Some(full) = keys.iter().find(|key| !state.admits(key)) {
            return Err(full.clone());
        }
        state.running += 1;
        for key in &keys {
            *state.held.entry(key.clone()).or_default() += 1;
        }
        drop(state);
        Ok(Share { keys, shares: self.clone() })
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
        let held = self.held.get(key).copied().unwrap_or(0);
        held < share || self.running < self.slots - self.slots / 8
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
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.shares.state();
        state.running -= 1;
        for key in &self.keys {
            if let Some(held) = state.held.get_mut(key) {
                *held -= 1;
                if *held == 0 {
                    state.held.remove(key);
                }
            }
        }
        if let Some(row) = state.next(&self.keys) {
            let _ = self.shares.0.leaving.send(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: i64) -> Vec<Key> {
        vec![Key::Platform("bluesky".into()), Key::Account(AccountId(number))]
    }

    fn other() -> Vec<Key> {
        vec![Key::Platform("threads".into()), Key::Account(AccountId(9))]
    }

    #[test]
    fn alone_one_account_uses_all_but_an_eighth_which_newcomers_find_free() {
        let (shares, _left) = Shares::new(16);
        let mine: Vec<_> = (0..14).map(|_| shares.enter(account(1)).unwrap()).collect();
        assert_eq!(shares.enter(account(1)).unwrap_err(), Key::Platform("bluesky".into()));
        let newcomers = [shares.enter(other()).unwrap(), shares.enter(other()).unwrap()];
        drop((mine, newcomers));
        assert_eq!(shares.state().running, 0);
        assert!(shares.state().held.is_empty());
    }

    #[test]
    fn while_others_hold_slots_a_key_keeps_to_its_share() {
        let (shares, _left) = Shares::new(16);
        let others: Vec<_> = (0..14).map(|_| shares.enter(other()).unwrap()).collect();
        let mine: Vec<_> = (0..2).map(|_| shares.enter(account(1)).unwrap()).collect();
        assert!(shares.enter(other()).is_err());
        drop((others, mine));
    }

    #[test]
    fn a_freed_slot_wakes_a_parked_row_of_its_key() {
        let (shares, mut left) = Shares::new(8);
        let mut mine: Vec<_> = (0..7).map(|_| shares.enter(account(1)).unwrap()).collect();
        let full = shares.enter(account(1)).unwrap_err();
        shares.park(full, Hold { id: 5, fence: 2 });
        assert!(left.try_recv().is_err());
        mine.pop();
        assert_eq!(left.try_recv().unwrap(), Hold { id: 5, fence: 2 });
        assert!(shares.state().parked.is_empty());
    }

    #[test]
    fn a_row_that_is_parked_too_late_is_woken_at_once() {
        let (shares, mut left) = Shares::new(8);
        shares.park(Key::Account(AccountId(1)), Hold { id: 5, fence: 2 });
        assert_eq!(left.try_recv().unwrap().id, 5);
    }
}
