//! Sliding windows in memory, with the same rules as `sliding_window.lua`.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Decision, Rate, Request, Subject, window::millis};

/// The number of entries from which the table removes expired ones.
const MIN_SWEEP_SIZE: usize = 1_024;

/// The sliding windows of this process. Expired entries are removed.
#[derive(Default)]
pub(crate) struct SlidingWindows(Mutex<State>);

#[derive(Default)]
struct State {
    windows: HashMap<String, SlidingWindow>,
    blocked: HashMap<String, i64>,
    unique: u64,
    sweep_at: usize,
}

/// The name of a call that was allowed; `None` for a call that waits.
type CallName = Option<Box<str>>;

/// The calls that count against one subject: those already made, then those that wait, each at its time.
#[derive(Default)]
struct SlidingWindow {
    calls: BTreeMap<(i64, u64), CallName>,
    waiting: HashMap<String, (i64, u64)>,
    span: i64,
}

impl SlidingWindows {
    /// Decides on the requests in the given order. Each limit is divided by `peers` processes.
    pub(crate) fn acquire<R: Borrow<Request>>(
        &self,
        now: i64,
        requests: &[R],
        peers: u32,
    ) -> Vec<Decision> {
        let mut state = self.lock();
        state.sweep(now);
        requests.iter().map(|request| state.decide(now, request.borrow(), peers)).collect()
    }

    pub(crate) fn release(&self, request: &Request) {
        let mut state = self.lock();
        for key in request.calls_keys() {
            if let Some(window) = state.windows.get_mut(&key) {
                window.release(&request.call);
            }
        }
    }

    pub(crate) fn block(&self, now: i64, name: &str, time: Duration) {
        let mut state = self.lock();
        let until = state.blocked.entry(Subject::blocked_key(name)).or_default();
        *until = (*until).max(now + millis(time));
    }

    /// Removes all windows and blocks.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        if !state.windows.is_empty() || !state.blocked.is_empty() {
            *state = State::default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn decide(&mut self, now: i64, request: &Request, peers: u32) -> Decision {
        let (mut slot, mut binding) = (now, None);
        for subject in &request.subjects {
            let earliest = self.earliest_time(now, request, subject, peers);
            if earliest > slot {
                (slot, binding) = (earliest, Some(subject));
            }
        }
        let counted = match binding {
            None => &request.subjects[..],
            Some(subject) => std::slice::from_ref(subject),
        };
        for subject in counted.iter().filter(|subject| !subject.rates.is_empty()) {
            self.unique += 1;
            let call = (slot, self.unique);
            let window = self.windows.entry(Subject::calls_key(&subject.name)).or_default();
            window.span = subject.span();
            window.calls.insert(call, binding.is_none().then(|| request.call.as_str().into()));
            if binding.is_some() {
                window.waiting.insert(request.id.clone(), call);
            }
        }
        Decision::after(slot - now)
    }

    /// Returns the earliest time at which a subject allows the call.
    fn earliest_time(&mut self, now: i64, request: &Request, subject: &Subject, peers: u32) -> i64 {
        let blocked = self.blocked.get(&Subject::blocked_key(&subject.name)).copied();
        let blocked = blocked.filter(|until| *until > now);
        let earliest = blocked.unwrap_or(now);
        let Some(window) = self.windows.get_mut(&Subject::calls_key(&subject.name)) else {
            return earliest;
        };
        if subject.rates.is_empty() {
            return earliest;
        }
        window.calls = window.calls.split_off(&(now - subject.span() + 1, 0));
        let place = window.remove_earlier(now, request).filter(|_| blocked.is_none());
        let free = |rate: &Rate| window.next_free_time(now, place, *rate, peers);
        subject.rates.iter().map(free).fold(earliest, i64::max)
    }

    /// Removes expired entries, whenever the table has doubled in size since the last time.
    fn sweep(&mut self, now: i64) {
        if self.windows.len() + self.blocked.len() >= self.sweep_at.max(MIN_SWEEP_SIZE) {
            self.windows.retain(|_, window| {
                window.calls.last_key_value().is_some_and(|((at, _), _)| at + window.span > now)
            });
            self.blocked.retain(|_, until| *until > now);
            self.sweep_at = 2 * (self.windows.len() + self.blocked.len());
        }
    }
}

impl SlidingWindow {
    /// Returns the time at which one more call fits a limit: after all calls that wait, or, if the call has a reserved
    /// `place`, after the calls before that place.
    fn next_free_time(&self, now: i64, place: Option<i64>, rate: Rate, peers: u32) -> i64 {
        let limit = local_limit(rate, peers);
        let before = match place {
            Some(place) if place > now => return place,
            Some(_) => self.calls.range(..=(now, u64::MAX)).nth_back(limit - 1),
            None => self.calls.iter().nth_back(limit - 1),
        };
        before.map_or(now, |((at, _), _)| at + millis(rate.span))
    }

    /// Returns the place of a call in the window, or that of its earlier attempt, which is removed.
    fn remove_earlier(&mut self, now: i64, request: &Request) -> Option<i64> {
        if let Some(place) = self.waiting.remove(&request.id) {
            self.calls.remove(&place);
            return Some(place.0);
        }
        request.is_again.then(|| {
            self.release(&request.call);
            now
        })
    }

    /// Removes a call. Its place is not known, but it is one of the last.
    fn release(&mut self, call: &str) {
        let is_it = |named: &CallName| named.as_deref() == Some(call);
        let place =
            self.calls.iter().rev().find(|(_, named)| is_it(named)).map(|(place, _)| *place);
        if let Some(place) = place {
            self.calls.remove(&place);
        }
    }
}

fn local_limit(rate: Rate, peers: u32) -> usize {
    usize::try_from(rate.limit / peers.max(1)).unwrap_or(usize::MAX).max(1)
}
