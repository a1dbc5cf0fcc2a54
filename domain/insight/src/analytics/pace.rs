//! The times of readings: by the age of a post, and once a day for an account.

use fanfare_entities::Millis;

const MINUTE: Millis = 60_000;
pub(crate) const HOUR: Millis = 60 * MINUTE;
pub(crate) const DAY: Millis = 24 * HOUR;

/// The ages in hours at which posts are read; afterwards they are read daily up to 14 days, and weekly up to 90 days.
const POST_AGES: [Millis; 8] = [1, 3, 6, 12, 24, 36, 48, 72];

/// The ages in hours at which stories are read; after the last one they are gone.
const STORY_AGES: [Millis; 7] = [1, 3, 6, 12, 20, 23, 24];

/// The age after which a post's numbers are not read any more.
pub(crate) const POST_END: Millis = 90 * DAY;

/// The age at which a story expires.
pub(crate) const STORY_END: Millis = 24 * HOUR;

/// Daily readings begin within this many minutes after the end of the network's day.
const SPREAD: u64 = 20 * 60;

/// The time scale of an account: on simulated networks, ages and intervals can be divided by a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace(f64);

impl Pace {
    /// Creates a time scale that divides ages and intervals by `factor`.
    #[must_use]
    pub fn new(factor: f64) -> Self {
        Self(if factor.is_finite() && factor > 0.0 { factor } else { 1.0 })
    }

    /// Returns the scaled length of an interval.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "milliseconds of years are exact"
    )]
    pub fn shortened(self, interval: Millis) -> Millis {
        ((interval as f64) / self.0).round() as Millis
    }

    /// Returns the scaled age of something that happened at `since`.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "milliseconds of years are exact"
    )]
    pub fn age(self, since: Millis, now: Millis) -> Millis {
        (((now - since) as f64) * self.0).round() as Millis
    }

    /// Returns true for real time.
    #[must_use]
    pub fn is_real_time(self) -> bool {
        (self.0 - 1.0).abs() < f64::EPSILON
    }

    /// Returns when a post is read next after a reading at `now`; `None`: never again.
    #[must_use]
    pub fn next_reading(self, published_at: Millis, now: Millis, is_story: bool) -> Option<Millis> {
        let age = self.age(published_at, now);
        let next = if is_story { next_of_story(age) } else { next_of_post(age) }?;
        Some(published_at + self.shortened(next))
    }

    /// Returns when the next daily reading begins: after `ends`, the end of the network's day, at a minute that depends
    /// on the account's id.
    #[must_use]
    pub fn next_daily(self, account: i64, ends: Millis, now: Millis) -> Millis {
        if self.is_real_time() {
            ends + minute_of(account) * MINUTE
        } else {
            now + self.shortened(DAY)
        }
    }
}

/// Returns the next age at which a post is read.
fn next_of_post(age: Millis) -> Option<Millis> {
    let daily = (4..=14).map(|days| days * DAY);
    let weekly = (3..=12).map(|weeks| weeks * 7 * DAY);
    let first = POST_AGES.iter().map(|hours| hours * HOUR);
    first.chain(daily).chain(weekly).chain([POST_END]).find(|next| *next > age)
}

fn next_of_story(age: Millis) -> Option<Millis> {
    STORY_AGES.iter().map(|hours| hours * HOUR).find(|next| *next > age)
}

/// Returns a minute from 0 to 1,199 that is always the same for an account.
fn minute_of(account: i64) -> Millis {
    // FNV-1a: spreads neighbouring ids.
    let hash = account.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Millis::try_from(hash % SPREAD).unwrap_or_default()
}

/// An age at which a post is compared with earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name.
    pub name: &'static str,
    /// The minimum age, in ms.
    pub from: Millis,
    /// The maximum age, in ms.
    pub to: Millis,
    /// The weight of a comparison at this age towards its certainty, in percent.
    pub weight: i64,
}

/// The checkpoints, earliest first.
pub const CHECKPOINTS: [Checkpoint; 5] = [
    Checkpoint { name: "1h", from: HOUR, to: 90 * MINUTE, weight: 40 },
    Checkpoint { name: "6h", from: 6 * HOUR, to: 7 * HOUR + 30 * MINUTE, weight: 60 },
    Checkpoint { name: "24h", from: DAY, to: 28 * HOUR, weight: 80 },
    Checkpoint { name: "72h", from: 3 * DAY, to: 84 * HOUR, weight: 90 },
    Checkpoint { name: "7d", from: 7 * DAY, to: 8 * DAY + 12 * HOUR, weight: 100 },
];

impl Checkpoint {
    /// Returns the checkpoint for a reading at this age.
    #[must_use]
    pub fn at(age: Millis) -> Option<&'static Self> {
        CHECKPOINTS.iter().find(|point| (point.from..=point.to).contains(&age))
    }

    /// Returns the checkpoint with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        CHECKPOINTS.iter().find(|point| point.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(is_story: bool, pace: Pace) -> Vec<Millis> {
        let (published, mut now, mut ages) = (1_000_000, 1_000_000, Vec::new());
        while let Some(next) = pace.next_reading(published, now, is_story) {
            assert!(next > now);
            now = next;
            ages.push(pace.age(published, now));
        }
        ages
    }

    #[test]
    fn a_post_is_read_less_and_less_often_and_then_no_more() {
        let hours: Vec<_> = ages(false, Pace::new(1.0)).iter().map(|age| age / HOUR).collect();
        assert_eq!(hours[..9], [1, 3, 6, 12, 24, 36, 48, 72, 96]);
        assert_eq!(hours[18..21], [14 * 24, 21 * 24, 28 * 24]);
        assert_eq!(hours.last(), Some(&(90 * 24)));
        assert_eq!(ages(true, Pace::new(1.0)).last(), Some(&STORY_END));
        assert_eq!(ages(true, Pace::new(1.0)).len(), 7);
    }

    #[test]
    fn a_factor_divides_ages_and_intervals() {
        let pace = Pace::new(3_600.0);
        assert_eq!(pace.next_reading(0, 0, false), Some(1_000));
        assert_eq!(pace.age(0, 1_000), HOUR);
        assert_eq!(ages(false, pace), ages(false, Pace::new(1.0)));
        assert_eq!(pace.next_daily(7, 99, 50), 50 + 24_000);
    }

    #[test]
    fn daily_readings_are_spread_over_twenty_hours() {
        let begins: Vec<_> =
            (0..2_000).map(|id| Pace::new(1.0).next_daily(id, 0, 0) / MINUTE).collect();
        assert!(begins.iter().all(|minute| (0..1_200).contains(minute)));
        for hour in 0..20 {
            let count = begins.iter().filter(|minute| *minute / 60 == hour).count();
            assert!((50..150).contains(&count), "{hour}: {count}");
        }
    }

    #[test]
    fn a_reading_counts_for_a_checkpoint_in_its_time_alone() {
        let name = |minutes: Millis| Checkpoint::at(minutes * MINUTE).map(|point| point.name);
        assert_eq!([59, 60, 90, 91].map(name), [None, Some("1h"), Some("1h"), None]);
        assert_eq!([359, 360, 450, 451].map(name), [None, Some("6h"), Some("6h"), None]);
        assert_eq!([1_680, 1_681].map(name), [Some("24h"), None]);
        assert_eq!([4_320, 5_040, 5_041].map(name), [Some("72h"), Some("72h"), None]);
        assert_eq!([10_080, 12_240, 12_241].map(name), [Some("7d"), Some("7d"), None]);
    }
}
