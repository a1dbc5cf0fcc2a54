//! The dispatcher's state: slots in use, waiting requests, and which request is next.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use fanfare_entities::WorkspaceId;
use tokio::sync::{Semaphore, oneshot};

use super::{Line, Order, PER_RECEIVER, Request, SLOTS_PER_READY_REQUEST, Slot};

/// The number of a request while it waits.
pub(super) type Ticket = u64;

/// A request that waits for its slot.
#[derive(Debug)]
pub(super) struct Waiter {
    ticket: Ticket,
    pub request: Request,
    pub granted: oneshot::Sender<Slot>,
    /// It got its slot although all slots were in use: its call waits until one of them is free.
    pub is_ahead: bool,
}

/// The slots of one kind of work, and the requests that wait for one.
#[derive(Debug)]
pub(super) struct State {
    slots: usize,
    permits: Arc<Semaphore>,
    running: usize,
    /// The slots in use of each network that has any.
    platforms: HashMap<String, usize>,
    lines: HashMap<Line, LineState>,
    /// The posts in lines, and how often each is in one.
    members: HashMap<i64, usize>,
    /// Tenants with requests that their lines let pass, the next one first.
    tenants: VecDeque<WorkspaceId>,
    ready: HashMap<WorkspaceId, VecDeque<Waiter>>,
    tickets: Ticket,
}

/// The state of one line.
#[derive(Debug, Default)]
struct LineState {
    /// The posts in this line, with or without a request.
    members: BTreeSet<Order>,
    /// The waiting requests in order; requests of a receiver are in order of arrival.
    requests: BTreeMap<(Order, Ticket), Waiter>,
    /// The number of requests that passed and still hold their slots.
    passed: usize,
}

impl State {
    pub fn new(slots: usize) -> Self {
        Self {
            slots,
            permits: new_semaphore(slots),
            running: 0,
            platforms: HashMap::new(),
            lines: HashMap::new(),
            members: HashMap::new(),
            tenants: VecDeque::new(),
            ready: HashMap::new(),
            tickets: 0,
        }
    }

    pub fn set_slots(&mut self, slots: usize) {
        (self.slots, self.permits) = (slots, new_semaphore(slots));
    }

    pub fn permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.permits)
    }

    pub fn join(&mut self, line: Line, order: Order) {
        self.lines.entry(line).or_default().members.insert(order);
        *self.members.entry(order.1).or_default() += 1;
    }

    pub fn leave(&mut self, line: Line, order: Order) {
        if let Some(waiting) = self.lines.get_mut(&line) {
            waiting.members.remove(&order);
        }
        if let Some(times) = self.members.get_mut(&order.1) {
            *times -= 1;
            if *times == 0 {
                self.members.remove(&order.1);
            }
        }
        self.let_pass(line);
    }

    pub fn is_in_line(&self, post: i64) -> bool {
        self.members.contains_key(&post)
    }

    /// Returns true while requests wait that their lines let pass.
    pub fn has_waiting_requests(&self) -> bool {
        !self.ready.is_empty()
    }

    pub fn enqueue(&mut self, request: Request, granted: oneshot::Sender<Slot>) -> Ticket {
        self.tickets += 1;
        let (ticket, line) = (self.tickets, request.line);
        let waiter = Waiter { ticket, request, granted, is_ahead: false };
        match line {
            None => self.make_ready(waiter),
            Some((line, order)) => {
                self.lines.entry(line).or_default().requests.insert((order, ticket), waiter);
                self.let_pass(line);
            }
        }
        ticket
    }

    /// Forgets a request that no longer waits.
    pub fn withdraw(&mut self, ticket: Ticket) {
        let mut passed = None;
        for queue in self.ready.values_mut() {
            if let Some(place) = queue.iter().position(|waiter| waiter.ticket == ticket) {
                passed = queue.remove(place);
                break;
            }
        }
        if let Some(waiter) = passed {
            if let Some((line, _)) = waiter.request.line {
                self.give_back(line);
            }
            return;
        }
        for waiting in self.lines.values_mut() {
            waiting.requests.retain(|(_, of), _| *of != ticket);
        }
        self.lines.retain(|_, waiting| !waiting.is_empty());
    }

    /// Gives a slot to the next request that may have one.
    pub fn grant(&mut self) -> Option<Waiter> {
        let (turn, place) = self.tenants.iter().enumerate().find_map(|(turn, tenant)| {
            let queue = self.ready.get(tenant)?;
            let place = queue.iter().position(|waiter| self.admits(&waiter.request))?;
            Some((turn, place))
        })?;
        let tenant = self.tenants.remove(turn)?;
        let queue = self.ready.get_mut(&tenant)?;
        let mut waiter = queue.remove(place)?;
        if queue.is_empty() {
            self.ready.remove(&tenant);
        } else {
            self.tenants.push_back(tenant);
        }
        waiter.is_ahead = self.running >= self.slots && !self.is_below_share(&waiter.request);
        self.running += 1;
        if let Some(platform) = &waiter.request.platform {
            *self.platforms.entry(platform.clone()).or_default() += 1;
        }
        Some(waiter)
    }

    /// Takes a slot back.
    pub fn release(&mut self, platform: Option<&str>, line: Option<Line>) {
        self.running -= 1;
        if let Some(platform) = platform
            && let Some(held) = self.platforms.get_mut(platform)
        {
            *held -= 1;
            if *held == 0 {
                self.platforms.remove(platform);
            }
        }
        if let Some(line) = line {
            self.give_back(line);
        }
    }

    /// Returns true if nothing holds a slot or waits for one.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.running == 0
            && self.lines.is_empty()
            && self.members.is_empty()
            && self.platforms.is_empty()
            && self.ready.values().all(VecDeque::is_empty)
    }

    fn admits(&self, request: &Request) -> bool {
        self.running < self.slots + self.slots / SLOTS_PER_READY_REQUEST
            || self.is_below_share(request)
    }

    /// Returns true if the request's network holds less than a quarter of the slots.
    fn is_below_share(&self, request: &Request) -> bool {
        let share = (self.slots / 4).max(1);
        request
            .platform
            .as_ref()
            .is_some_and(|platform| self.platforms.get(platform).is_none_or(|held| *held < share))
    }

    fn give_back(&mut self, line: Line) {
        if let Some(waiting) = self.lines.get_mut(&line) {
            waiting.passed -= 1;
        }
        self.let_pass(line);
    }

    /// Moves the requests that their line lets pass to those that only wait for a slot.
    fn let_pass(&mut self, line: Line) {
        let Some(waiting) = self.lines.get_mut(&line) else { return };
        let mut passing = Vec::new();
        while let Some(waiter) = waiting.next(line) {
            passing.push(waiter);
        }
        if waiting.is_empty() {
            self.lines.remove(&line);
        }
        for waiter in passing {
            self.make_ready(waiter);
        }
    }

    fn make_ready(&mut self, waiter: Waiter) {
        let tenant = waiter.request.tenant;
        let queue = self.ready.entry(tenant).or_default();
        if queue.is_empty() && !self.tenants.contains(&tenant) {
            self.tenants.push_back(tenant);
        }
        queue.push_back(waiter);
    }
}

impl LineState {
    fn is_empty(&self) -> bool {
        self.members.is_empty() && self.requests.is_empty() && self.passed == 0
    }

    /// Removes and returns the next request that may pass.
    fn next(&mut self, line: Line) -> Option<Waiter> {
        let most = match line {
            Line::Account(_) => 1,
            Line::Receiver(_) => PER_RECEIVER,
        };
        let first = self.requests.first_entry()?;
        let (order, _) = *first.key();
        let is_first = self.members.first().is_none_or(|member| *member >= order);
        if self.passed >= most || !is_first {
            return None;
        }
        self.passed += 1;
        Some(first.remove())
    }
}

fn new_semaphore(slots: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS)))
}
