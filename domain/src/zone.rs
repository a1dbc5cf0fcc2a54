//! Local times of a time zone.

use chrono::{Days, NaiveDate, NaiveDateTime, TimeZone};
use chrono_tz::Tz;
use fanfare_entities::Millis;

use crate::clock::date;

/// Returns what a clock in a zone shows at a time; in UTC if there is no such zone.
#[must_use]
pub fn local(time: Millis, zone: &str) -> NaiveDateTime {
    date(time).with_timezone(&parse_zone(zone)).naive_local()
}

/// Returns the time at which a day begins in a zone.
#[must_use]
pub fn midnight(day: NaiveDate, zone: &str) -> Millis {
    let start = day.and_time(chrono::NaiveTime::MIN);
    // The day begins an hour later if the clocks are put forward at midnight.
    let begins = (0..=1).find_map(|hours| {
        let start = start + chrono::TimeDelta::hours(hours);
        parse_zone(zone).from_local_datetime(&start).earliest()
    });
    begins.map_or_else(|| start.and_utc().timestamp_millis(), |time| time.timestamp_millis())
}

/// Returns the day after a day.
#[must_use]
pub fn next_day(day: NaiveDate) -> NaiveDate {
    day.checked_add_days(Days::new(1)).unwrap_or(day)
}

fn parse_zone(zone: &str) -> Tz {
    zone.parse().unwrap_or(Tz::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_as_long_as_its_zone_makes_it() {
        let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap();
        let hours = |from| {
            let end = midnight(next_day(from), "Europe/Berlin");
            (end - midnight(from, "Europe/Berlin")) / 3_600_000
        };
        assert_eq!([hours(day(3, 29)), hours(day(7, 1)), hours(day(10, 25))], [23, 24, 25]);
        // In Beirut the clocks are put forward at midnight.
        assert_eq!(local(midnight(day(3, 29), "Asia/Beirut"), "Asia/Beirut").date(), day(3, 29));
        assert_eq!(midnight(day(1, 1), "Nowhere"), midnight(day(1, 1), "UTC"));
    }
}
