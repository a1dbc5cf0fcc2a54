//! The days that a query asks for.

use chrono::{Days, NaiveDate};
use fanfare_core::error::{Code, Error, Result, violation};
use fanfare_platforms::{Violation, Violations};

use super::AccountsQuery;
use crate::analytics::zone;

/// The number of days that are shown by default.
const DEFAULT_DAYS: u64 = 30;

/// The most days of a query.
const MAX_DAYS: i64 = 366;

/// A range of days, in the time zone of an account's network.
#[derive(Debug, Clone, Copy)]
pub(super) struct DayRange {
    pub from: NaiveDate,
    pub to: NaiveDate,
    /// The last day that was asked for, if it has not begun in the network's zone.
    pub cut: Option<NaiveDate>,
}

impl DayRange {
    /// Returns the days of a query; a missing end follows from the other one, or from today. `latest` is the day where
    /// days begin first: a day that is today somewhere, but not yet in the network's zone, is cut off.
    ///
    /// # Errors
    /// Invalid days.
    pub fn of(query: &AccountsQuery, today: NaiveDate, latest: NaiveDate) -> Result<Self> {
        let mut broken = Violations::default();
        let mut read = |field: &'static str, text: Option<&String>| {
            let text = text?;
            let day = zone::parse(text);
            if day.is_none() {
                broken.push(wrong(
                    field,
                    format!("{text:?} is no day."),
                    "Send a day like 2026-11-24.",
                ));
            }
            day
        };
        let (from, to) = (read("from", query.from.as_ref()), read("to", query.to.as_ref()));
        Error::check(broken)?;
        let last = Days::new(DEFAULT_DAYS - 1);
        let cut = to.filter(|to| *to > today && *to <= latest);
        let (from, to) = match cut {
            Some(_) => {
                (from.map(|from| if from <= latest { from.min(today) } else { from }), Some(today))
            }
            None => (from, to),
        };
        let to = to.unwrap_or_else(|| {
            let after = from.and_then(|from| from.checked_add_days(last));
            after.map_or(today, |after| after.min(today))
        });
        let from = from.unwrap_or_else(|| to.checked_sub_days(last).unwrap_or(to));
        let mut broken = Violations::default();
        if from > to {
            broken.push(wrong(
                "from",
                format!("{from} is after {to}."),
                "Send a day that is not after `to`.",
            ));
        }
        if to > today {
            broken.push(wrong(
                "to",
                format!("{to} is after today."),
                "Send today or an earlier day.",
            ));
        }
        if (to - from).num_days() >= MAX_DAYS {
            let message = format!("{from} to {to} are more than {MAX_DAYS} days.");
            let long = wrong("from", message, "Ask for 366 days at most.");
            broken.push(long.with_limit(MAX_DAYS, (to - from).num_days() + 1).in_unit("days"));
        }
        Error::check(broken).map(|()| Self { from, to, cut })
    }

    /// Returns the range of the same length before this one.
    pub fn before(self) -> Self {
        let days = u64::try_from((self.to - self.from).num_days()).unwrap_or_default() + 1;
        Self { from: zone::before(self.from, days), to: zone::before(self.from, 1), cut: None }
    }
}

fn wrong(field: &str, message: String, remedy: &str) -> Violation {
    violation(Code::InvalidField, field, message, remedy)
}
