//! Compares a post with earlier ones: how it does, how certain that is, and what to do next. Pure.

use fanfare_platforms::analytics::name::{IMPRESSIONS, REACH, VIEWS};

use super::{engagements, format_number, median, rounded};
use crate::analytics::{CHECKPOINTS, Checkpoint, Metrics, pace::DAY};

/// The highest ratio that counts in a score.
const RATIO_MAX: f64 = 5.0;

/// The least number of posts for a baseline, and the number beyond which more posts add no certainty.
const BASELINE_MIN: usize = 5;
pub(in crate::analytics) const BASELINE_MAX: usize = 20;

/// The numbers that measure how many people saw a post, best first.
const BASES: [&str; 3] = [VIEWS, REACH, IMPRESSIONS];

/// A post of a baseline: its row, its format, and its numbers at the checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselinePost {
    /// The post or, if it was made outside this service, the row of its numbers.
    pub id: i64,
    /// The format.
    pub format: String,
    /// The numbers.
    pub numbers: Metrics,
}

/// The comparison of a post with earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The number of people who saw it: the name of the number, the post's value and the baseline's median.
    pub audience: Option<(&'static str, i64, f64)>,
    /// The engagements of the post, and the baseline's median.
    pub engagement: Option<(i64, f64)>,
    /// The number of posts in the baseline.
    pub posts: usize,
    /// The format of the baseline; `None`: all formats.
    pub format: Option<String>,
    /// The ratio of the audience to the baseline's.
    pub audience_ratio: Option<f64>,
    /// The ratio of the engagements to the baseline's.
    pub engagement_ratio: Option<f64>,
    /// Both ratios combined.
    pub score: f64,
    /// The baseline's post with the most engagements.
    pub best: Option<i64>,
}

/// Compares a post with earlier ones, latest first. Returns `None` if they are too few, or have no number in common.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people are exact")]
pub fn compare(
    numbers: &Metrics,
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
    // Among posts with equally many engagements, the latest counts.
    let best = best.rev().max_by_key(|(engagements, _)| *engagements).map(|(_, id)| id);
    let format = is_alike.then(|| format.to_owned());
    Some(Comparison {
        audience: seen,
        engagement: engaged,
        posts: baseline.len(),
        format,
        audience_ratio: rv,
        engagement_ratio: re,
        score,
        best,
    })
}

fn ratio(own: f64, median: f64) -> f64 {
    (own / if median == 0.0 { 1.0 } else { median }).min(RATIO_MAX)
}

/// Returns the name of the performance tier.
#[must_use]
pub fn tier(score: f64) -> &'static str {
    match score {
        score if score >= 1.5 => "great",
        score if score >= 1.0 => "good",
        score if score >= 0.6 => "mixed",
        _ => "poor",
    }
}

/// Returns the certainty of a comparison, from 0 to 1, with two decimals.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "both are small")]
pub fn confidence(posts: usize, point: &Checkpoint) -> f64 {
    let share = (posts as f64 / BASELINE_MAX as f64).min(1.0);
    rounded(share.sqrt() * point.weight as f64 / 100.0, 2)
}

/// Returns the importance of a comparison, from −100 to 100, with one decimal.
#[must_use]
pub fn impact(score: f64, confidence: f64) -> f64 {
    rounded(100.0 * score.max(0.25).log2().clamp(-2.0, 2.0) / 2.0 * confidence, 1)
}

/// Advice about a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// A title of a few words.
    pub title: &'static str,
    /// The diagnosis.
    pub diagnosis: String,
    /// The next step.
    pub next_action: String,
}

/// Returns the advice of the first matching rule. `timing` is the account's best time of the week, in words.
#[must_use]
pub fn advice(
    compared: &Comparison,
    point: &Checkpoint,
    format: &str,
    timing: Option<&str>,
) -> Advice {
    let tier = tier(compared.score);
    let is_early = point.from < DAY;
    let balance = compared
        .audience_ratio
        .zip(compared.engagement_ratio)
        .filter(|(rv, _)| *rv > 0.0)
        .map(|(rv, re)| re / rv);
    let at = timing.map(|timing| format!(" {timing}")).unwrap_or_default();
    let (title, next_action) = if tier == "great" && is_early {
        ("Off to a fast start", "Answer comments now, while people are looking.".to_owned())
    } else if compared.audience_ratio.is_some_and(|rv| rv >= 1.2)
        && balance.is_some_and(|it| it < 0.8)
    {
        ("Seen, but not answered", "Keep the opening, and ask for one thing at the end.".to_owned())
    } else if compared.audience_ratio.is_some_and(|rv| rv < 0.8)
        && balance.is_some_and(|it| it >= 1.2)
    {
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
        let place = CHECKPOINTS.iter().position(|one| one == point).unwrap_or_default();
        let next = CHECKPOINTS.get(place + 1);
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
        compared
            .audience
            .map(|(name, own, median)| format!("{own} {name} against {}", format_number(median))),
        compared
            .engagement
            .map(|(own, median)| format!("{own} engagements against {}", format_number(median))),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("After {}: {}, the median of {whom}.", point.name, parts.join(" and "))
}
