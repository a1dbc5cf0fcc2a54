//! The frequency of faults: calm runs find other mistakes than rough ones.

use crate::dice::Dice;

/// The number of times things go wrong, as weights among the other decisions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mood {
    /// Networks: 0 to 14.
    pub faults: u32,
    /// Commits that lose their database, in a thousand.
    pub cuts: u32,
    /// Jobs that are lost, doubled or early, in a thousand each.
    pub jobs: u32,
    /// Work that stands still at a place for long, in a thousand.
    pub lingers: u32,
    /// Calls that take long, in a thousand.
    pub slow: u32,
    /// Killed workers.
    pub kills: u32,
    /// Stopped workers.
    pub stops: u32,
    /// Callers that change their mind.
    pub changes: u32,
    /// The largest leap of the clock, in ms.
    pub leap: i64,
    /// Clocks of workers may be off by so much, in ms.
    pub skew: i64,
    /// The place of an account whose network is away for good.
    pub outage: Option<usize>,
    /// A post at which workers die, and where.
    pub poison: Option<(i64, &'static str)>,
}

impl Mood {
    pub fn throw(dice: &mut Dice, skew: i64) -> Self {
        let pick = |dice: &mut Dice, of: [u32; 4]| of[dice.place(4)];
        let poison = dice.happens(150).then(|| {
            let place = ["arming", "prepare_called", "commit_called"][dice.place(3)];
            (dice.between(1, 6), place)
        });
        Self {
            faults: pick(dice, [0, 4, 8, 14]),
            cuts: pick(dice, [0, 0, 15, 50]),
            jobs: pick(dice, [0, 50, 100, 300]),
            lingers: pick(dice, [0, 40, 100, 200]),
            slow: pick(dice, [0, 100, 250, 500]),
            kills: pick(dice, [0, 1, 3, 8]),
            stops: pick(dice, [0, 2, 4, 8]),
            changes: pick(dice, [1, 4, 8, 16]),
            leap: [2_000, 12_000, 45_000, 90_000][dice.place(4)],
            skew: [0, skew][dice.place(2)],
            outage: dice.happens(80).then(|| dice.place(8)),
            poison,
        }
    }

    /// Nothing goes wrong any more, but for what cannot be helped.
    pub fn calm(self) -> Self {
        let Self { skew, leap, slow, outage, poison, .. } = self;
        Self { skew, leap, slow, outage, poison, ..Self::default() }
    }
}
