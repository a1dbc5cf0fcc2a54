//! Permits in memory: the same rules as `permit.lua`.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Permit, Rate, Request, Subject, window::millis};

/// Fewest entries at which the table looks for some that have expired.
const SWEEP: usize = 1_024;

/// The lines of this process. What has expired is dropped.
#[derive(Default)]
pub(crate) struct Lines(Mutex<State>);

#[derive(Default)]
struct State {
    lines: HashMap<String, Line>,
    closed: HashMap<String, i64>,
    unique: u64,
    sweep_at: usize,
}

/// The name of a call that was let through; none of one that waits.
type Call = Option<Box<str>>;

/// The calls counted against one subject: those made, and behind them those that wait, each at its time.
#[derive(Default)]
struct Line {
    calls: BTreeMap<(i64, u64), Call>,
    waiting: HashMap<String, (i64, u64)>,
    span: i64,
}

impl Lines {
    /// Decides in the given order; each limit is divided by `peers` processes.
    pub(crate) fn ask<R: Borrow<Request>>(
        &self,
        now: i64,
        requests: &[R],
        peers: u32,
    ) -> Vec<Permit> {
        let mut state = self.lock();
        state.sweep(now);
        requests.iter().map(|request| state.one(now, request.borrow(), peers)).collect()
    }

    pub(crate) fn unmake(&self, request: &Request) {
        let mut state = self.lock();
        for key in request.calls_keys() {
            if let Some(line) = state.lines.get_mut(&key) {
                line.unmake(&request.call);
            }
        }
    }

    pub(crate) fn close(&self, now: i64, name: &str, time: Duration) {
        let mut state = self.lock();
        let until = state.closed.entry(Subject::closed_key(name)).or_default();
        *until = (*until).max(now + millis(time));
    }

    /// Forgets everything.
    pub(crate) fn forget(&self) {
        let mut state = self.lock();
        if !state.lines.is_empty() || !state.closed.is_empty() {
            *state = State::default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn one(&mut self, now: i64, request: &Request, peers: u32) -> Permit {
        let (mut slot, mut binding) = (now, None);
        for subject in &request.subjects {
            let earliest = self.earliest(now, request, subject, peers);
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
            let line = self.lines.entry(Subject::calls_key(&subject.name)).or_default();
            line.span = subject.span();
            line.calls.insert(call, binding.is_none().then(|| request.call.as_str().into()));
            if binding.is_some() {
                line.waiting.insert(request.id.clone(), call);
            }
        }
        Permit::after(slot - now)
    }

    /// When a subject lets the call through.
    fn earliest(&mut self, now: i64, request: &Request, subject: &Subject, peers: u32) -> i64 {
        let closed = self.closed.get(&Subject::closed_key(&subject.name)).copied();
        let closed = closed.filter(|until| *until > now);
        let earliest = closed.unwrap_or(now);
        let Some(line) = self.lines.get_mut(&Subject::calls_key(&subject.name)) else {
            return earliest;
        };
        if subject.rates.is_empty() {
            return earliest;
        }
        line.calls = line.calls.split_off(&(now - subject.span() + 1, 0));
        let place = line.give_up(now, request).filter(|_| closed.is_none());
        let free = |rate: &Rate| line.free_from(now, place, *rate, peers);
        subject.rates.iter().map(free).fold(earliest, i64::max)
    }

    /// Drops what has expired, each time the table has doubled since it last did.
    fn sweep(&mut self, now: i64) {
        if self.lines.len() + self.closed.len() >= self.sweep_at.max(SWEEP) {
            self.lines.retain(|_, line| {
                line.calls.last_key_value().is_some_and(|((at, _), _)| at + line.span > now)
            });
            self.closed.retain(|_, until| *until > now);
            self.sweep_at = 2 * (self.lines.len() + self.closed.len());
        }
    }
}

impl Line {
    /// When one more call fits a limit: behind all that wait, or, for one whose `place` has come, behind those already
    /// made.
    fn free_from(&self, now: i64, place: Option<i64>, rate: Rate, peers: u32) -> i64 {
        let limit = share(rate, peers);
        let before = match place {
            Some(place) if place > now => return place,
            Some(_) => self.calls.range(..=(now, u64::MAX)).nth_back(limit - 1),
            None => self.calls.iter().nth_back(limit - 1),
        };
        before.map_or(now, |((at, _), _)| at + millis(rate.span))
    }

    /// The place of a call in the line, or that of its first try, which is given up.
    fn give_up(&mut self, now: i64, request: &Request) -> Option<i64> {
        if let Some(place) = self.waiting.remove(&request.id) {
            self.calls.remove(&place);
            return Some(place.0);
        }
        request.is_again.then(|| {
            self.unmake(&request.call);
            now
        })
    }

    /// Its place is not known; it is one of the last.
    fn unmake(&mut self, call: &str) {
        let is_it = |named: &Call| named.as_deref() == Some(call);
        let place =
            self.calls.iter().rev().find(|(_, named)| is_it(named)).map(|(place, _)| *place);
        if let Some(place) = place {
            self.calls.remove(&place);
        }
    }
}

fn share(rate: Rate, peers: u32) -> usize {
    usize::try_from(rate.limit / peers.max(1)).unwrap_or(usize::MAX).max(1)
}
