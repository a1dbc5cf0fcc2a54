//! The dispatcher: gives the slots of a worker to the rows it has claimed. It alone decides which row is served next.
//!
//! A slot serves one call. The tenants get slots in turn, each for its first request that satisfies two rules:
//!
//! - its network holds less than a quarter of the slots, or a slot is free that nobody else waits for;
//! - its [`Line`] lets it pass: publishing calls of one account are made one after the other, in their order; a receiver of
//!   webhooks gets four deliveries at once.
//!
//! A network always finds its quarter, even while others hold all slots, so a network that hangs does not stop the
//! others. A row that finds no slot within [`SLOT_TIMEOUT`] goes back to the queue, so that a worker only holds rows
//! that it can work on.

mod state;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fanfare_entities::{AccountId, Millis, WebhookId, WorkspaceId};
use rand::RngExt;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};

use state::{State, Ticket};

/// The time for which a request waits for a slot before it is deferred.
pub const SLOT_TIMEOUT: Duration = Duration::from_secs(1);

/// A row that found no slot is due again after this time, in ms, plus a random part of up to as much again, so that
/// rows that were deferred together do not come back together.
const DEFER_DELAY: Millis = 1_000;

/// The most deliveries to one receiver at once.
pub(crate) const PER_RECEIVER: usize = 4;

/// For every this many slots one more request than there are slots may get ready: recording a step takes a while, in
/// which its slot would stand idle.
const SLOTS_PER_READY_REQUEST: usize = 4;

/// The time for which a request that got ready ahead waits for a free slot before its call is made anyway.
const READY_TIMEOUT: Duration = Duration::from_millis(100);

/// The position of a post among those of its account: its time, then its id.
pub type Order = (Millis, i64);

/// An ordering key: requests with the same key wait behind one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Line {
    /// Publishing calls of an account: one at a time, in their order.
    Account(AccountId),
    /// Deliveries to a receiver: [`PER_RECEIVER`] at a time.
    Receiver(WebhookId),
}

/// A request for a slot.
#[derive(Debug, Clone)]
pub struct Request {
    /// The tenant.
    pub tenant: WorkspaceId,
    /// The network that it goes to; none for webhooks.
    pub platform: Option<String>,
    /// The line it waits in, and its position there.
    pub line: Option<(Line, Order)>,
}

/// The slots of one kind of work in this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Dispatcher(Arc<Mutex<State>>);

impl Dispatcher {
    /// Creates a dispatcher with this many slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self(Arc::new(Mutex::new(State::new(slots))))
    }

    /// Sets the number of slots.
    pub fn set_slots(&self, slots: usize) {
        self.state().set_slots(slots);
    }

    /// Puts a post into the line of its account, until the entry is dropped.
    #[must_use]
    pub fn join(&self, account: AccountId, order: Order) -> LineEntry {
        let line = Line::Account(account);
        self.state().join(line, order);
        LineEntry { dispatcher: self.clone(), line, order }
    }

    /// Returns true while a post is in the line of its account.
    #[must_use]
    pub fn is_in_line(&self, post: i64) -> bool {
        self.state().is_in_line(post)
    }

    /// Returns true while requests wait that their lines let pass.
    #[must_use]
    pub fn has_waiting_requests(&self) -> bool {
        self.state().has_waiting_requests()
    }

    /// Requests a slot.
    #[must_use]
    pub fn request(&self, request: Request) -> PendingRequest {
        let (granted, slot) = oneshot::channel();
        let ticket = self.change(|state| state.enqueue(request, granted));
        PendingRequest { dispatcher: self.clone(), ticket: Some(ticket), slot }
    }

    /// Changes the state, then hands out the slots that can be given.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let changed = change(&mut state);
        let granted: Vec<_> = std::iter::from_fn(|| state.grant()).collect();
        drop(state);
        for waiter in granted {
            let slot = Slot {
                dispatcher: self.clone(),
                platform: waiter.request.platform.clone(),
                line: waiter.request.line.map(|(line, _)| line),
                is_ahead: waiter.is_ahead,
                turn: None,
            };
            // A waiter that has gone gives its slot back here.
            let _ = waiter.granted.send(slot);
        }
        changed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its slot; dropping it withdraws the request.
#[derive(Debug)]
pub struct PendingRequest {
    dispatcher: Dispatcher,
    /// `None` once it is granted.
    ticket: Option<Ticket>,
    slot: oneshot::Receiver<Slot>,
}

impl PendingRequest {
    /// Returns the slot if it is already granted.
    pub fn granted(&mut self) -> Option<Slot> {
        let slot = self.slot.try_recv().ok()?;
        self.ticket = None;
        Some(slot)
    }

    /// Waits for the slot until `patience` ends. Returns `None` if there was no slot by then.
    pub async fn wait(mut self, patience: impl Future<Output = ()>) -> Option<Slot> {
        tokio::select! {
            biased;
            slot = &mut self.slot => {
                self.ticket = None;
                slot.ok()
            }
            () = patience => self.granted(),
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.dispatcher.change(|state| state.withdraw(ticket));
        }
    }
}

/// Returns the time at which work that found no slot is due again.
pub fn deferred_until(now: Millis) -> Millis {
    now + DEFER_DELAY + rand::rng().random_range(0..DEFER_DELAY)
}

/// The entry of a post in the line of its account, until it is dropped.
#[derive(Debug)]
pub struct LineEntry {
    dispatcher: Dispatcher,
    line: Line,
    order: Order,
}

impl LineEntry {
    /// Returns the line, and the position in it.
    pub const fn position(&self) -> (Line, Order) {
        (self.line, self.order)
    }
}

impl Drop for LineEntry {
    fn drop(&mut self) {
        self.dispatcher.change(|state| state.leave(self.line, self.order));
    }
}

/// A slot in use, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    dispatcher: Dispatcher,
    platform: Option<String>,
    line: Option<Line>,
    is_ahead: bool,
    turn: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// Begins the call that holds this slot. If more requests are ready than there are slots, it waits a moment for a
    /// free one.
    pub async fn begin(&mut self) {
        let turns: Arc<Semaphore> = self.dispatcher.state().permits();
        self.turn = Arc::clone(&turns).try_acquire_owned().ok();
        if self.turn.is_none() && self.is_ahead {
            self.turn =
                timeout(READY_TIMEOUT, turns.acquire_owned()).await.ok().and_then(Result::ok);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.turn = None;
        let (platform, line) = (self.platform.take(), self.line);
        self.dispatcher.change(|state| state.release(platform.as_deref(), line));
    }
}
