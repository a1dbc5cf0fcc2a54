//! Bulkheads: no network, account or receiver takes a whole worker while others wait.
//!
//! Each key has a share of the slots, and one that has less finds a slot at once, even if that makes a few more than there
//! are; all together are bounded by the rows that a worker holds. Over its share a key may use what is free. A receiver of
//! webhooks may do so only while it answers quickly: one that does not would keep all it got for as long as a try may take.
//! What finds no slot waits for one as long as its key frees some; then it is parked: its row is given back for a minute,
//! should this process die, and is taken out of the parking place when a slot of its key frees.
//!
//! What begins with a burst may open its slots little by little, so that neither its calls nor their ends come all at once.
//!
//! Who has to get ready for its slot is let in a little before one frees, at the pace at which they do.
//!
//! Tenants share too. Among those that wait, whoever's tenant has fewer slots than others have on average is served first,
//! and is not left in the parking place because another tenant's rows never cease to wait. One that has next to none finds
//! some slots more on a network that is over its share, unless the network hangs.

mod pace;
mod ramp;
mod state;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fanfare_domain::work::Hold;
use fanfare_entities::{AccountId, WebhookId, WorkspaceId};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Instant, timeout},
};

use crate::lane::Lane;
use ramp::Ramp;
use state::State;

/// Work that waits for a slot is parked when its key has freed none for so long: while a network answers quickly slots free
/// faster than rows could be given back and taken again, and when it does not, newcomers behind the waiting ones lose no
/// more.
const PATIENCE: Duration = Duration::from_millis(25);

/// It is parked after so long in any case, and looks for a slot after so long, however many do.
const MOST_PATIENCE: Duration = Duration::from_secs(1);

/// While rows are parked and no slot is free, so many look for one at once: whatever is taken then is most likely
/// parked too, and a network that hangs would have all its rows taken and given back as fast as can be.
const SEEKERS: usize = 32;

/// Who was let in ahead of a slot and is ready waits so long for it; then the network has become slower than it was, and
/// whatever made it ready would grow old.
const SOON: Duration = Duration::from_millis(100);

/// While slots open, it is looked so often who may enter.
const GLANCE: Duration = Duration::from_millis(2);

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

/// What wants a slot.
#[derive(Debug, Clone)]
pub struct Seeker {
    /// Whose it is.
    pub tenant: WorkspaceId,
    /// What its slot counts against.
    pub keys: Vec<Key>,
}

impl Shares {
    /// Shares of `slots`, and the rows that leave the parking place, to be given back as due now.
    #[must_use]
    pub fn new(slots: usize) -> (Self, mpsc::UnboundedReceiver<Hold>) {
        let (leaving, left) = mpsc::unbounded_channel();
        let state = Mutex::new(State::new(slots));
        let seekers = Arc::new(Semaphore::new(SEEKERS));
        (Self(Arc::new(Inner { state, seekers, leaving })), left)
    }

    /// Has work wait so long for a slot, whether any is freed or not.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        self.state().patience = patience;
        self
    }

    /// Has a burst open the slots little by little.
    #[must_use]
    pub fn slow_start(self) -> Self {
        self.state().ramp = Ramp::on();
        self
    }

    /// Says how many slots there are: what one key may have alone.
    pub fn set_slots(&self, slots: usize) {
        self.state().set_slots(slots);
    }

    /// Waits until it makes sense to take a row that needs a slot; what comes back is kept until the row has one, or has
    /// been given back. Who is among the first few of its tenant waits for nobody, and nobody for long: whose the row is, and
    /// whether its tenant has less than others, is known when it has been taken.
    pub async fn seek(&self, lane: Lane) -> Option<OwnedSemaphorePermit> {
        let is_free = |state: &State| !state.is_crowded() && !state.ramp.is_opening();
        if lane == Lane::First || is_free(&self.state()) {
            return None;
        }
        let permit = Arc::clone(&self.0.seekers).acquire_owned();
        // Never closed.
        timeout(MOST_PATIENCE, permit).await.ok()?.ok()
    }

    /// Takes a slot until the share is dropped; waits for it while others free theirs. Who is among the first few of its
    /// tenant, or whose tenant has fewer slots than others, waits before those of whom that is not so.
    ///
    /// # Errors
    /// The key that is over its share while too few slots are free.
    pub async fn enter(&self, lane: Lane, seeker: Seeker) -> Result<Share, Key> {
        let (full, patience, within, mut freed) = {
            let mut state = self.state();
            if lane == Lane::First {
                state.greet(seeker.tenant);
            }
            let patience = state.patience;
            let Some(full) = state.full(&seeker) else {
                return Ok(state.take(seeker, self.clone()));
            };
            if state.ramp.wants_watcher() {
                tokio::spawn(self.clone().watch());
            }
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
            if let Ok(Ok(share)) = timeout(patience, &mut freed).await {
                return Ok(share);
            }
            if !self.state().is_hopeful(&full, within) || since.elapsed() > MOST_PATIENCE {
                break;
            }
        }
        // One that came in the same moment is taken; none can come from here on.
        freed.close();
        freed.try_recv().map_err(|_| full)
    }

    /// Lets in who waits, as slots open.
    async fn watch(self) {
        loop {
            tokio::time::sleep(GLANCE).await;
            let (next, goes_on) = {
                let mut state = self.state();
                let goes_on = state.ramp.is_opening();
                let next = state.next_waiting(&self);
                if !goes_on {
                    state.ramp.unwatched();
                }
                (next, goes_on)
            };
            hand_out(next);
            if !goes_on {
                return;
            }
        }
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

    /// A tenant with next to nothing has lately come beside others.
    #[must_use]
    pub fn has_newcomers(&self) -> bool {
        self.state().has_newcomers()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pace.pass();
        state
    }
}

/// Whoever has stopped waiting gives its slot back here, which lets in the next one.
fn hand_out(next: Vec<(Share, oneshot::Sender<Share>)>) {
    for (share, free) in next {
        let _ = free.send(share);
    }
}

/// A slot in use.
#[derive(Debug)]
pub struct Share {
    seeker: Seeker,
    shares: Shares,
    since: Instant,
    /// One more than there are, for a tenant that has next to none.
    is_extra: bool,
    /// Its holder waits for a slot once it is ready.
    waits: bool,
    /// Once its holder has begun.
    turn: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// Who has it.
    pub const fn seeker(&self) -> &Seeker {
        &self.seeker
    }

    /// Says that its holder is ready, and waits for a slot if it was let in ahead of one, but not for long.
    pub async fn begin(&mut self) {
        let turns = {
            let mut state = self.shares.state();
            state.pace.ready(self.since.elapsed());
            Arc::clone(&state.turns)
        };
        self.turn = Arc::clone(&turns).try_acquire_owned().ok();
        if self.turn.is_none() && self.waits {
            self.turn = timeout(SOON, turns.acquire_owned()).await.ok().and_then(Result::ok);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.turn = None;
        let mut state = self.shares.state();
        state.extras -= usize::from(self.is_extra);
        state.give(&self.seeker, self.since.elapsed());
        let next = state.next_waiting(&self.shares);
        let row = state.next_parked(&self.seeker.keys, !next.is_empty());
        drop(state);
        if let Some(row) = row {
            let _ = self.shares.0.leaving.send(row);
        }
        hand_out(next);
    }
}

#[cfg(test)]
mod tests;
