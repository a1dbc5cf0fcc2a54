//! Outcomes of calls to networks.

use std::time::Duration;

use fanfare_platforms::{Error, ErrorKind, Phase};

use crate::{
    dice::Dice,
    network::{Answer, CallKind, Inner, nothing_heard},
};

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Carried out and answered.
    Answered,
    /// Carried out, but the reply is lost.
    AnswerLost,
    /// Lost before anything was done.
    Lost,
    /// The connection is lost, and the call is carried out later, or not.
    Late,
    /// It was never sent.
    NotSent,
    /// Status 500 after it was carried out.
    BrokeAfter,
    /// Status 500 before it was carried out.
    BrokeBefore,
    /// Status 429.
    Limited,
    /// Status 400.
    Refused,
}

const FATES: [Fate; 9] = [
    Fate::Answered,
    Fate::AnswerLost,
    Fate::Lost,
    Fate::Late,
    Fate::NotSent,
    Fate::BrokeAfter,
    Fate::BrokeBefore,
    Fate::Limited,
    Fate::Refused,
];

impl Fate {
    /// Chooses one at random; `faults` is the weight of faults.
    pub fn random(dice: &mut Dice, faults: u32, ask: &CallKind) -> Self {
        let m = faults;
        let weights = match ask.phase() {
            Phase::Commit => [60, 2 * m, m, 3 * m, m, m, m, m, m / 4],
            _ => [60, m, m, 0, m, 0, m, m / 2, 0],
        };
        FATES[dice.weighed(&weights).unwrap_or(0)]
    }

    /// Applies it to the call at this index; returns the reply for the worker, and whether the call is still undecided.
    pub fn apply(self, network: &mut Inner, place: usize, dice: &mut Dice) -> (Answer, bool) {
        match self {
            Self::Answered => (network.carry_out(place), false),
            Self::AnswerLost => {
                let _ = network.carry_out(place);
                (nothing_heard(), false)
            }
            Self::BrokeAfter => {
                let _ = network.carry_out(place);
                (Err(Error::new(ErrorKind::Server, "500")), false)
            }
            Self::Lost => (nothing_heard(), false),
            Self::Late => (nothing_heard(), true),
            Self::NotSent => (Err(Error::transient("no connection")), false),
            Self::BrokeBefore => (Err(Error::new(ErrorKind::Server, "500")), false),
            Self::Limited => {
                let after = dice.happens(500).then(|| Duration::from_secs(20));
                (Err(Error::new(ErrorKind::RateLimited, "429").with_retry_after(after)), false)
            }
            Self::Refused => (Err(Error::rejected("400")), false),
        }
    }
}
