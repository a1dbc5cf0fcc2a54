//! The formulas of profiles and insights: what works well for an account, and how a post does compared to earlier ones.
//! Pure.

mod comparison;

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike, Weekday};
use fanfare_entities::Millis;
use fanfare_platforms::analytics::name::{ENGAGEMENTS, IMPRESSIONS, REACH, VIEWS};

use super::{Metrics, pace::DAY};

pub(super) use comparison::{
    BASELINE_MAX, BaselinePost, Comparison, advice, compare, confidence, impact, tier,
};

/// The least number of posts for a profile.
pub(super) const SAMPLE_MIN: usize = 8;

/// The number of days that a profile covers.
pub(super) const WINDOW_DAYS: i64 = 90;

/// A ratio of at least [`NOTABLE_LIFT`], or at most [`NOTABLE_DROP`], is notable.
pub(super) const NOTABLE_LIFT: f64 = 1.15;
pub(super) const NOTABLE_DROP: f64 = 0.85;

/// The most groups that are shown.
const MAX_GROUPS: usize = 3;

/// The least number of posts in a group, and for a time of the week.
const GROUP_MIN: usize = 3;
const TIME_MIN: usize = 2;

/// The weight of an average lift in the lift of a time of the week.
const SHRINK: f64 = 4.0;

/// A post of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePost {
    /// The row of its numbers.
    pub id: i64,
    /// The age at the reading, in ms.
    pub age: Millis,
    /// The publication time, in the time zone of the account's posting schedule.
    pub local: NaiveDateTime,
    /// The format.
    pub format: String,
    /// The length of its text in characters.
    pub length: usize,
    /// The engagement rate in percent.
    pub rate: f64,
}

/// Returns the median; `None` if there are no values.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied()?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values.get(middle.checked_sub(1)?).copied()?;
    Some(f64::midpoint(lower, upper))
}

/// Rounds half up.
#[must_use]
pub fn rounded(value: f64, decimals: i32) -> f64 {
    let factor = 10_f64.powi(decimals);
    // A half may be stored as slightly less than its value.
    (value * factor + 0.5 + 1e-9).floor() / factor
}

/// Returns the sum of the measured engagements; `None` if none was measured.
#[must_use]
pub fn engagements(numbers: &Metrics, of: &[&str]) -> Option<i64> {
    let mut measured = of.iter().filter_map(|name| numbers.get(*name)).peekable();
    measured.peek()?;
    Some(measured.sum())
}

/// The numbers that engagements are divided by; the first that is known.
pub const RATE_BASES: [&str; 3] = [REACH, VIEWS, IMPRESSIONS];

/// Returns the number that engagements are divided by, with its name.
#[must_use]
pub fn rate_base(numbers: &Metrics) -> Option<(&'static str, i64)> {
    let found = RATE_BASES.into_iter();
    let mut found = found.filter_map(|name| Some((name, *numbers.get(name)?)));
    found.next().filter(|(_, base)| *base > 0)
}

/// Returns the engagement rate in percent, unrounded, with the name of the number it was divided by.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people are exact")]
pub fn rate(engagements: Option<i64>, numbers: &Metrics) -> Option<(f64, &'static str)> {
    let (name, base) = rate_base(numbers)?;
    Some((100.0 * engagements? as f64 / base as f64, name))
}

/// The development of engagement rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// `up`, `down`, `flat` or `unknown`.
    pub name: &'static str,
    /// The later half: its number of posts and its median.
    pub later: (usize, Option<f64>),
    /// The earlier half.
    pub earlier: (usize, Option<f64>),
}

/// Compares the last 45 days with the 45 before.
#[must_use]
pub fn trend(sample: &[SamplePost]) -> Trend {
    let half = WINDOW_DAYS * DAY / 2;
    let of = |is_later: bool| {
        let rates: Vec<f64> = sample
            .iter()
            .filter(|post| (post.age <= half) == is_later)
            .map(|post| post.rate)
            .collect();
        (rates.len(), median(rates))
    };
    let (later, earlier) = (of(true), of(false));
    let name = match (later, earlier) {
        ((n, Some(later)), (m, Some(earlier)))
            if n >= GROUP_MIN && m >= GROUP_MIN && earlier > 0.0 =>
        {
            match later / earlier {
                ratio if ratio >= NOTABLE_LIFT => "up",
                ratio if ratio <= NOTABLE_DROP => "down",
                _ => "flat",
            }
        }
        _ => "unknown",
    };
    Trend { name, later, earlier }
}

/// A group of posts with a common property.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<K> {
    /// The common property.
    pub key: K,
    /// The number of posts.
    pub posts: usize,
    /// The median of their engagement rates in percent.
    pub rate: f64,
    /// That median divided by the median of the whole sample.
    pub lift: f64,
}

/// Returns the groups with at least `min` posts, highest lift first.
pub fn groups<K: Ord + Clone>(
    sample: &[SamplePost],
    min: usize,
    key: impl Fn(&SamplePost) -> K,
) -> Vec<Group<K>> {
    let whole = median(sample.iter().map(|post| post.rate)).filter(|median| *median > 0.0);
    let Some(whole) = whole else { return Vec::new() };
    let mut rates = BTreeMap::<K, Vec<f64>>::new();
    for post in sample {
        rates.entry(key(post)).or_default().push(post.rate);
    }
    let mut groups: Vec<_> = rates
        .into_iter()
        .filter(|(_, rates)| rates.len() >= min)
        .filter_map(|(key, rates)| {
            let posts = rates.len();
            let rate = median(rates)?;
            Some(Group { key, posts, rate, lift: rate / whole })
        })
        .collect();
    sort(&mut groups);
    groups
}

fn sort<K>(groups: &mut [Group<K>]) {
    groups.sort_by(|one, other| other.lift.total_cmp(&one.lift).then(other.posts.cmp(&one.posts)));
}

/// Returns the three best formats.
#[must_use]
pub fn top_formats(sample: &[SamplePost]) -> Vec<Group<String>> {
    let mut groups = groups(sample, GROUP_MIN, |post| post.format.clone());
    groups.truncate(MAX_GROUPS);
    groups
}

/// The caption length bands: name, minimum, maximum.
pub const LENGTH_BANDS: [(&str, usize, Option<usize>); 4] = [
    ("short", 0, Some(80)),
    ("medium", 81, Some(220)),
    ("long", 221, Some(600)),
    ("very_long", 601, None),
];

/// Returns the caption length bands by their index in [`LENGTH_BANDS`], best first.
#[must_use]
pub fn caption_lengths(sample: &[SamplePost]) -> Vec<Group<usize>> {
    groups(sample, GROUP_MIN, |post| {
        let fits =
            |(_, _, max): &(&str, usize, Option<usize>)| max.is_none_or(|max| post.length <= max);
        LENGTH_BANDS.iter().position(fits).unwrap_or_default()
    })
}

/// A time of the week: days since Monday, and the first of three hours.
pub type WeekTime = (u32, u32);

/// Returns the three best times of the week. The lift of few posts is moved towards 1.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a sample is small")]
pub fn timing(sample: &[SamplePost]) -> Vec<Group<WeekTime>> {
    let mut groups = groups(sample, TIME_MIN, |post| {
        (post.local.weekday().num_days_from_monday(), post.local.hour() / 3 * 3)
    });
    for group in &mut groups {
        let posts = group.posts as f64;
        group.lift = (posts * group.lift + SHRINK) / (posts + SHRINK);
    }
    sort(&mut groups);
    groups.truncate(MAX_GROUPS);
    groups
}

/// Returns the name of a weekday.
#[must_use]
pub fn weekday(days_from_monday: u32) -> &'static str {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    usize::try_from(days_from_monday)
        .ok()
        .and_then(|day| NAMES.get(day))
        .copied()
        .unwrap_or_default()
}

/// Returns the ISO week of a date, such as `2026-W48`.
#[must_use]
pub fn week(day: NaiveDate) -> String {
    let week = day.iso_week();
    format!("{}-W{:02}", week.year(), week.week())
}

/// Returns the Monday after a date.
#[must_use]
pub fn monday_after(day: NaiveDate) -> NaiveDate {
    let mut next = day;
    loop {
        next = super::zone::next(next);
        if next.weekday() == Weekday::Mon {
            return next;
        }
    }
}

/// Formats a number for people, without decimals if it is whole.
#[must_use]
pub fn format_number(value: f64) -> String {
    let text = format!("{:.2}", rounded(value, 2));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The key of a post's engagements in the numbers of a comparison.
pub(super) const ENGAGED: &str = ENGAGEMENTS;

#[cfg(test)]
mod tests;
