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

/// Returns the names of all time zones.
pub fn names() -> impl Iterator<Item = &'static str> {
    chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name())
}

/// Returns the zone that somebody means by a name or a city, such as "europe/berlin", "berlin" or "New York"; the text
/// itself if there is none, or more than one.
#[must_use]
pub fn meant(text: &str) -> &str {
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-'], "_");
    let text = text.trim();
    let asked = plain(text);
    if let Some(name) = names().find(|name| plain(name) == asked) {
        return name;
    }
    let city = |name: &'static str| name.rsplit_once('/').map(|(_, city)| city);
    let mut found = names().filter(|name| city(name).is_some_and(|city| plain(city) == asked));
    match (found.next(), found.next()) {
        (Some(name), None) => name,
        _ => text,
    }
}

fn parse_zone(zone: &str) -> Tz {
    zone.parse().unwrap_or(Tz::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_means_its_zone() {
        for (text, zone) in [
            ("berlin", "Europe/Berlin"),
            (" New York ", "America/New_York"),
            ("america/new york", "America/New_York"),
            ("utc", "UTC"),
            ("Sao Paulo", "America/Sao_Paulo"),
            ("Atlantis", "Atlantis"),
            ("", ""),
        ] {
            assert_eq!(meant(text), zone, "{text}");
        }
    }

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
