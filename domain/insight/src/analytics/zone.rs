//! Days in the time zone of a network.

use chrono::{DateTime, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use fanfare_core::clock::date;
use fanfare_entities::Millis;
use fanfare_platforms::analytics::Day;

/// The zone in which days begin first.
pub(crate) const FIRST: Tz = Tz::Pacific__Kiritimati;

/// Returns the time zone with this name, or else UTC.
pub(crate) fn zone(name: &str) -> Tz {
    name.parse().unwrap_or(Tz::UTC)
}

/// Returns the date at a time.
pub(crate) fn date_at(zone: Tz, at: Millis) -> NaiveDate {
    date(at).with_timezone(&zone).date_naive()
}

/// Returns the first moment of a day. If the clock is changed at midnight, that is the first moment that exists.
pub(crate) fn start(zone: Tz, day: NaiveDate) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    match zone.from_local_datetime(&midnight) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at.to_utc(),
        LocalResult::None => {
            let later = midnight + chrono::TimeDelta::hours(1);
            zone.from_local_datetime(&later)
                .earliest()
                .map_or_else(|| Utc.from_utc_datetime(&midnight), |at| at.to_utc())
        }
    }
}

/// Returns a day with its start and end.
pub(crate) fn day(zone: Tz, date: NaiveDate) -> Day {
    Day { date, since: start(zone, date), until: start(zone, next(date)) }
}

/// Returns the moment at which a clock in the zone shows this time.
pub(crate) fn at(zone: Tz, local: NaiveDateTime) -> DateTime<Utc> {
    let found = zone.from_local_datetime(&local).earliest();
    found.map_or_else(|| start(zone, local.date()), |at| at.to_utc())
}

/// Returns the next day.
pub(crate) fn next(day: NaiveDate) -> NaiveDate {
    day.checked_add_days(Days::new(1)).unwrap_or(day)
}

/// Returns the day that is this many days before `day`.
pub(crate) fn before(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(day)
}

/// Parses a date.
pub(crate) fn parse(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|day| day.to_string() == text)
}

/// Returns the days of a range, inclusive.
pub(crate) fn days(from: NaiveDate, to: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    from.iter_days().take_while(move |day| *day <= to)
}
