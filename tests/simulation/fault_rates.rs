//! The frequency of faults, which differs between seeds: runs with few faults find other errors than runs with many.

use crate::dice::Dice;

/// The frequency of faults, as weights among the other decisions.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultRates {
    /// Faults of networks, 0 to 14.
    pub faults: u32,
    /// Commits that lose their database connection, per thousand.
    pub cuts: u32,
    /// Jobs that are lost, duplicated or early, per thousand each.
    pub jobs: u32,
    /// Work that stops at a failpoint for long, per thousand.
    pub lingers: u32,
    /// Slow calls, per thousand.
    pub slow: u32,
    /// Killed workers.
    pub kills: u32,
    /// Stopped workers.
    pub stops: u32,
    /// Changes by callers.
    pub changes: u32,
    /// The largest step of the clock, in ms.
    pub leap: i64,
    /// The largest error of workers' clocks, in ms.
    pub skew: i64,
    /// The index of an account whose network is permanently unreachable.
    pub outage: Option<usize>,
    /// A post that crashes its workers, and the failpoint at which it does.
    pub poison: Option<(i64, &'static str)>,
}

impl FaultRates {
    pub fn random(dice: &mut Dice, skew: i64, fatal: [&'static str; 3]) -> Self {
        let pick = |dice: &mut Dice, of: [u32; 4]| of[dice.place(4)];
        let poison = dice.happens(150).then(|| {
            let place = fatal[dice.place(3)];
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

    /// Returns rates without faults, except for the permanent ones.
    pub fn calm(self) -> Self {
        let Self { skew, leap, slow, outage, poison, .. } = self;
        Self { skew, leap, slow, outage, poison, ..Self::default() }
    }
}
