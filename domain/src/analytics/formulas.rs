//! The formulas of the performance loop: what an account does well, and how a post does beside those before it. Pure.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike, Weekday};
use fanfare_entities::Millis;
use fanfare_platforms::analytics::name::{ENGAGEMENTS, IMPRESSIONS, REACH, VIEWS};

use super::{Checkpoint, Known, pace::DAY};

/// The fewest posts of a profile.
pub(super) const SAMPLE_MIN: usize = 8;

/// The window of a profile in days.
pub(super) const WINDOW_DAYS: i64 = 90;

/// From here on, or to its inverse-like pendant down, a lift is worth a sentence.
pub(super) const UP: f64 = 1.15;
pub(super) const DOWN: f64 = 0.85;

/// How many groups are shown.
const BEST: usize = 3;

/// The fewest posts of a group, and of a time of the week.
const GROUP_MIN: usize = 3;
const TIME_MIN: usize = 2;

/// The weight of "as usual" in the lift of a time.
const SHRINK: f64 = 4.0;

/// The most that a ratio counts in a score.
const RATIO_MAX: f64 = 5.0;

/// The fewest posts of a baseline, and the number from which more say no more.
pub(super) const BASELINE_MIN: usize = 5;
pub(super) const BASELINE_MAX: usize = 20;

/// What reach is measured by, the best first.
const BASES: [&str; 3] = [VIEWS, REACH, IMPRESSIONS];

/// A post of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePost {
    /// The row of its numbers.
    pub id: i64,
    /// Its age in ms.
    pub age: Millis,
    /// When it became public, in the zone of the account's slots.
    pub local: NaiveDateTime,
    /// Its form.
    pub format: String,
    /// The length of its text in characters.
    pub length: usize,
    /// Its engagement rate in percent.
    pub rate: f64,
}

/// Returns the median; `None` of nothing.
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
    // What is meant to be a half may be stored a little below it.
    (value * factor + 0.5 + 1e-9).floor() / factor
}

/// Returns the sum of the engagements of those that were measured; `None`: none was.
#[must_use]
pub fn engagements(numbers: &Known, of: &[&str]) -> Option<i64> {
    let mut measured = of.iter().filter_map(|name| numbers.get(*name)).peekable();
    measured.peek()?;
    Some(measured.sum())
}

/// Returns what engagements are divided by, with its name.
#[must_use]
pub fn base(numbers: &Known) -> Option<(&'static str, i64)> {
    let found = [REACH, VIEWS, IMPRESSIONS].into_iter();
    let mut found = found.filter_map(|name| Some((name, *numbers.get(name)?)));
    found.next().filter(|(_, base)| *base > 0)
}

/// Returns the engagement rate in percent, unrounded, with its base.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people are exact")]
pub fn rate(engagements: Option<i64>, numbers: &Known) -> Option<(f64, &'static str)> {
    let (name, base) = base(numbers)?;
    Some((100.0 * engagements? as f64 / base as f64, name))
}

/// How rates develop.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// `up`, `down`, `flat` or `unknown`.
    pub name: &'static str,
    /// The later half: its posts and its median.
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
                ratio if ratio >= UP => "up",
                ratio if ratio <= DOWN => "down",
                _ => "flat",
            }
        }
        _ => "unknown",
    };
    Trend { name, later, earlier }
}

/// A group of posts of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<K> {
    /// What they share.
    pub key: K,
    /// How many they are.
    pub posts: usize,
    /// The median of their rates in percent.
    pub rate: f64,
    /// That median by the sample's.
    pub lift: f64,
}

/// Returns the groups with at least `min` posts, the one with the highest lift first.
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

/// Returns the three best forms.
#[must_use]
pub fn top_formats(sample: &[SamplePost]) -> Vec<Group<String>> {
    let mut groups = groups(sample, GROUP_MIN, |post| post.format.clone());
    groups.truncate(BEST);
    groups
}

/// The lengths of captions: name, shortest, longest.
pub const BANDS: [(&str, usize, Option<usize>); 4] = [
    ("short", 0, Some(80)),
    ("medium", 81, Some(220)),
    ("long", 221, Some(600)),
    ("very_long", 601, None),
];

/// Returns the lengths of captions, the best first, by their place in [`BANDS`].
#[must_use]
pub fn caption_lengths(sample: &[SamplePost]) -> Vec<Group<usize>> {
    groups(sample, GROUP_MIN, |post| {
        let fits =
            |(_, _, max): &(&str, usize, Option<usize>)| max.is_none_or(|max| post.length <= max);
        BANDS.iter().position(fits).unwrap_or_default()
    })
}

/// A time of the week: days since Monday, and the first of three hours.
pub type WeekTime = (u32, u32);

/// Returns the three best times of the week; lifts of few posts are drawn to 1.
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
    groups.truncate(BEST);
    groups
}

/// The name of a weekday.
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

/// The ISO week of a date, such as `2026-W48`.
#[must_use]
pub fn week(day: NaiveDate) -> String {
    let week = day.iso_week();
    format!("{}-W{:02}", week.year(), week.week())
}

/// The Monday after a date.
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

/// A post of a baseline: its row, its form, and its numbers at the checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselinePost {
    /// The post or, where it was made elsewhere, the row of its numbers.
    pub id: i64,
    /// Its form.
    pub format: String,
    /// Its numbers.
    pub numbers: Known,
}

/// How a post does beside those before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What it is seen by: the number's name, its own and the baseline's.
    pub seen: Option<(&'static str, i64, f64)>,
    /// Its engagements and the baseline's.
    pub engaged: Option<(i64, f64)>,
    /// The posts of the baseline.
    pub posts: usize,
    /// Their form; `None`: all forms were taken.
    pub format: Option<String>,
    /// The ratio of what it is seen by.
    pub rv: Option<f64>,
    /// The ratio of its engagements.
    pub re: Option<f64>,
    /// Both together.
    pub score: f64,
    /// The post of the baseline with the most engagements.
    pub best: Option<i64>,
}

/// Compares a post with those before it, the latest first; `None`: too few of them, or nothing to compare.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people are exact")]
pub fn compare(
    numbers: &Known,
    format: &str,
    before: &[BaselinePost],
    engaging: &[&str],
) -> Option<Comparison> {
    let last: Vec<_> = before.iter().take(BASELINE_MAX).collect();
    let alike: Vec<_> = last.iter().copied().filter(|post| post.format == format).collect();
    let is_alike = alike.len() >= BASELINE_MIN;
    let baseline = if is_alike { alike } else { last };
    if baseline.len() < BASELINE_MIN {
        return None;
    }
    let median_of = |name: &str| {
        median(baseline.iter().filter_map(|post| post.numbers.get(name)).map(|n| *n as f64))
    };
    let seen =
        BASES.into_iter().find_map(|name| Some((name, *numbers.get(name)?, median_of(name)?)));
    let of_post = |post: &BaselinePost| engagements(&post.numbers, engaging);
    let engaged = engagements(numbers, engaging).and_then(|own| {
        let theirs = baseline.iter().filter_map(|post| of_post(post)).map(|n| n as f64);
        Some((own, median(theirs)?))
    });
    let rv = seen.map(|(_, own, median)| ratio(own as f64, median));
    let re = engaged.map(|(own, median)| ratio(own as f64, median));
    let score = match (rv, re) {
        (Some(rv), Some(re)) => f64::midpoint(rv, re),
        (one, other) => one.or(other)?,
    };
    let best = baseline.iter().filter_map(|post| Some((of_post(post)?, post.id)));
    // Of those with equally many the latest.
    let best = best.rev().max_by_key(|(engagements, _)| *engagements).map(|(_, id)| id);
    let format = is_alike.then(|| format.to_owned());
    Some(Comparison { seen, engaged, posts: baseline.len(), format, rv, re, score, best })
}

fn ratio(own: f64, median: f64) -> f64 {
    (own / if median == 0.0 { 1.0 } else { median }).min(RATIO_MAX)
}

/// The name of a tier.
#[must_use]
pub fn tier(score: f64) -> &'static str {
    match score {
        score if score >= 1.5 => "great",
        score if score >= 1.0 => "good",
        score if score >= 0.6 => "mixed",
        _ => "poor",
    }
}

/// Returns how sure a comparison is, from 0 to 1, in two decimals.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "both are small")]
pub fn confidence(posts: usize, point: &Checkpoint) -> f64 {
    let share = (posts as f64 / BASELINE_MAX as f64).min(1.0);
    rounded(share.sqrt() * point.weight as f64 / 100.0, 2)
}

/// Returns how much a comparison matters, from −100 to 100, in one decimal.
#[must_use]
pub fn impact(score: f64, confidence: f64) -> f64 {
    rounded(100.0 * score.max(0.25).log2().clamp(-2.0, 2.0) / 2.0 * confidence, 1)
}

/// What is said about a post: title, diagnosis, next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// In a few words.
    pub title: &'static str,
    /// What is the case.
    pub diagnosis: String,
    /// What to do.
    pub next_action: String,
}

/// Returns the advice of the first rule that holds. `timing` is the account's best time of the week, in words.
#[must_use]
pub fn advice(
    compared: &Comparison,
    point: &Checkpoint,
    format: &str,
    timing: Option<&str>,
) -> Advice {
    let tier = tier(compared.score);
    let is_early = point.from < DAY;
    let balance = compared.rv.zip(compared.re).filter(|(rv, _)| *rv > 0.0).map(|(rv, re)| re / rv);
    let at = timing.map(|timing| format!(" {timing}")).unwrap_or_default();
    let (title, next_action) = if tier == "great" && is_early {
        ("Off to a fast start", "Answer comments now, while people are looking.".to_owned())
    } else if compared.rv.is_some_and(|rv| rv >= 1.2) && balance.is_some_and(|it| it < 0.8) {
        ("Seen, but not answered", "Keep the opening, and ask for one thing at the end.".to_owned())
    } else if compared.rv.is_some_and(|rv| rv < 0.8) && balance.is_some_and(|it| it >= 1.2) {
        ("Liked by few", format!("Post it again{at}."))
    } else if tier == "great" || tier == "good" {
        ("It works", format!("Follow up with another {format} post{at}."))
    } else if tier == "poor" && !is_early {
        let with = compared.best.map(|id| format!(" with post {id}, the best of those before it"));
        (
            "Below your usual",
            format!("Compare it{}.", with.unwrap_or_else(|| " with earlier posts".to_owned())),
        )
    } else {
        let place = super::CHECKPOINTS.iter().position(|one| one == point).unwrap_or_default();
        let next = super::CHECKPOINTS.get(place + 1);
        let when = next.map(|next| format!(" at {}", next.name)).unwrap_or_default();
        ("As usual", format!("Look again{when}."))
    };
    Advice { title, diagnosis: diagnosis(compared, point), next_action }
}

fn diagnosis(compared: &Comparison, point: &Checkpoint) -> String {
    let whom = match &compared.format {
        Some(format) => format!("the last {} {format} posts", compared.posts),
        None => format!("the last {} posts", compared.posts),
    };
    let parts: Vec<String> = [
        compared.seen.map(|(name, own, median)| format!("{own} {name} against {}", shown(median))),
        compared
            .engaged
            .map(|(own, median)| format!("{own} engagements against {}", shown(median))),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("After {}: {}, the median of {whom}.", point.name, parts.join(" and "))
}

/// A number for people: whole where it is whole.
#[must_use]
pub fn shown(value: f64) -> String {
    let text = format!("{:.2}", rounded(value, 2));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The number by which a post's engagements are kept among a comparison's.
pub(super) const ENGAGED: &str = ENGAGEMENTS;

#[cfg(test)]
mod tests;
