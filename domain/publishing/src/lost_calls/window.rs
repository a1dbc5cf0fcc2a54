//! The time in which a lost call can have been carried out, by our clock and by the network's.

use fanfare_entities::Millis;

/// The time after its deadline for which a network may still be carrying a call out, in ms.
pub const SETTLE_TIME: Millis = 10_000;

/// The time for which a network may go on with a call whose connection was lost, in ms.
const FINISH_TIME: Millis = 25_000;

/// The difference within which two clocks count as equal, in ms: to either side for readings of whole seconds, and more
/// where the network's is ahead, since that only widens the window.
const IN_STEP: std::ops::RangeInclusive<Millis> = -2_000..=20_000;

/// How exact times are, in ms: clocks that are kept by NTP, and times of whole seconds.
const EXACTNESS: Millis = 2_000;

/// The time around the window in which an object may be the result, if a clock was read badly, in ms.
const DOUBTFUL: Millis = 30_000;

/// The same, if the network does not show its clock.
const DOUBTFUL_WITHOUT_CLOCK: Millis = 300_000;

/// The time of a call, by our clock.
#[derive(Debug, Clone, Copy)]
pub struct CallWindow {
    /// When it began.
    pub from: Millis,
    /// When its answer was lost. `None` if its worker died.
    pub lost_at: Option<Millis>,
    /// Its deadline.
    pub until: Millis,
}

/// Where an object lies that may be the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The call may have made it.
    Inside,
    /// Made so shortly before or after that nobody can tell.
    Near,
    /// The call cannot have made it.
    Outside,
}

/// The time of a call, by the network's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: Millis,
    end: Millis,
    doubtful: (Millis, Millis),
}

impl CallWindow {
    /// Returns the window by the network's clock, which is ahead of ours by `shift`; `None` if it is not known.
    pub(super) fn on_network(&self, shift: Option<Millis>) -> Span {
        let around = if shift.is_some() { DOUBTFUL } else { DOUBTFUL_WITHOUT_CLOCK };
        let shift = shift.filter(|shift| !IN_STEP.contains(shift)).unwrap_or(0);
        let last = self.until + SETTLE_TIME;
        let end = self.lost_at.map_or(last, |lost| (lost + FINISH_TIME).min(last));
        let start = self.from + shift - EXACTNESS;
        Span {
            start,
            end: end + shift + EXACTNESS,
            doubtful: (start - around, last + shift + around),
        }
    }
}

impl Span {
    /// Returns where an object lies that was created at this time.
    pub(super) fn place(&self, created_at: Millis) -> Place {
        if (self.start..=self.end).contains(&created_at) {
            Place::Inside
        } else if (self.doubtful.0..=self.doubtful.1).contains(&created_at) {
            Place::Near
        } else {
            Place::Outside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CallWindow, Place};

    const CALL: CallWindow =
        CallWindow { from: 1_000_000, lost_at: Some(1_000_500), until: 1_030_000 };

    #[test]
    fn what_was_made_during_the_call_may_be_its_result() {
        for (seconds, place) in [
            (-400, Place::Outside),
            (-31, Place::Near),
            (-3, Place::Near),
            (-1, Place::Inside),
            (0, Place::Inside),
            (10, Place::Inside),
            (20, Place::Inside),
            (35, Place::Near),
            (45, Place::Near),
            (80, Place::Outside),
        ] {
            let span = CALL.on_network(Some(0));
            assert_eq!(span.place(1_000_000 + seconds * 1_000), place, "{seconds}");
        }
    }

    #[test]
    fn the_clock_of_the_network_decides() {
        for minutes in [-4, 4, 600] {
            let shift = minutes * 60_000;
            let span = CALL.on_network(Some(shift));
            assert_eq!(span.place(1_000_400 + shift), Place::Inside, "{minutes}");
            assert_eq!(span.place(1_000_400), Place::Outside, "{minutes}");
        }
        // Without its clock everything near is a doubt.
        assert_eq!(CALL.on_network(None).place(1_000_400 - 240_000), Place::Near);
    }

    #[test]
    fn a_call_of_a_dead_worker_may_have_gone_on_to_its_deadline() {
        let dead = CallWindow { lost_at: None, ..CALL };
        assert_eq!(dead.on_network(Some(0)).place(1_030_000), Place::Inside);
    }
}
