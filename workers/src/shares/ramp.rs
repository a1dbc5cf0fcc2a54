//! A slow start: what begins at once ends at once, again and again, and whoever comes in between waits for all of it.

use std::time::Duration;

use tokio::time::Instant;

/// Over so long all slots open: as long as most networks take, so that a burst's calls are spread over one of them.
const OVER: Duration = Duration::from_millis(200);

/// How far the slots of one kind are open.
#[derive(Debug, Default)]
pub(super) struct Ramp {
    /// It is for these slots.
    is_on: bool,
    /// When a quarter of them was taken, after a time when next to none was.
    begun: Option<Instant>,
    /// Since when less than an eighth is taken.
    low: Option<Instant>,
    /// A task looks who may enter as time passes.
    is_watched: bool,
}

impl Ramp {
    pub fn on() -> Self {
        Self { is_on: true, ..Self::default() }
    }

    /// So many are taken now.
    pub fn running(&mut self, running: usize, slots: usize) {
        if running < slots / 8 {
            self.low.get_or_insert_with(Instant::now);
        } else if self.low.take().is_some_and(|since| since.elapsed() > OVER) {
            self.begun = None;
        }
        if running >= slots / 4 && self.begun.is_none() {
            self.begun = Some(Instant::now());
        }
    }

    /// So many may be taken.
    pub fn open(&self, slots: usize) -> usize {
        match self.begun {
            _ if !self.is_on => slots,
            None => slots / 4,
            Some(begun) if begun.elapsed() < OVER => {
                let (part, whole) = (begun.elapsed().as_micros(), OVER.as_micros());
                slots / 4 + slots * 3 / 4 * part as usize / whole as usize
            }
            Some(_) => slots,
        }
    }

    /// Slots open by themselves right now.
    pub fn is_opening(&self) -> bool {
        self.is_on && self.begun.is_some_and(|begun| begun.elapsed() < OVER)
    }

    /// True for whoever has to look from now on who may enter, until [`Self::is_opening`] ends.
    pub fn wants_watcher(&mut self) -> bool {
        self.is_opening() && !std::mem::replace(&mut self.is_watched, true)
    }

    /// Somebody looks who may enter, and has not looked for the last time.
    pub const fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Nobody looks any more.
    pub fn unwatched(&mut self) {
        self.is_watched = false;
    }
}
