use chrono::{NaiveDate, TimeDelta};
use proptest::prelude::*;

use super::*;
use crate::analytics::{CHECKPOINTS, Checkpoint};

fn known(pairs: &[(&str, i64)]) -> Metrics {
    pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
}

/// The same formulas once more, as plainly as they can be said.
mod plain {
    pub fn median(values: &[f64]) -> f64 {
        let below = |value: f64| values.iter().filter(|other| **other < value).count();
        let above = |value: f64| values.iter().filter(|other| **other > value).count();
        let half = values.len() / 2;
        // In the middle stands what at most half of all are below, and at most half above.
        let middle: Vec<f64> = values
            .iter()
            .copied()
            .filter(|value| below(*value) <= half && above(*value) <= half)
            .collect();
        let lowest = middle.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = middle.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest + highest) / 2.0
    }

    pub fn tier(score: f64) -> &'static str {
        if score < 0.6 {
            "poor"
        } else if score < 1.0 {
            "mixed"
        } else if score < 1.5 {
            "good"
        } else {
            "great"
        }
    }

    pub fn impact(score: f64, confidence: f64) -> f64 {
        let score = if score < 0.25 { 0.25 } else { score };
        let octaves = (score.ln() / 2_f64.ln()).clamp(-2.0, 2.0);
        100.0 * octaves / 2.0 * confidence
    }
}

fn sample() -> impl Strategy<Value = Vec<SamplePost>> {
    let formats = prop::sample::select(vec!["image", "video", "text"]);
    let post = (0..90_i64, 0..24_i64, formats, 0..700_usize, 0..2_000_i64);
    prop::collection::vec(post, 0..40).prop_map(|posts| {
        let start = NaiveDate::from_ymd_opt(2026, 11, 24).unwrap().and_hms_opt(0, 0, 0).unwrap();
        let posts = posts.into_iter().enumerate();
        posts
            .map(|(id, (days, hours, format, length, rate))| SamplePost {
                id: i64::try_from(id).unwrap(),
                age: days * DAY,
                local: start - TimeDelta::days(days) + TimeDelta::hours(hours),
                format: format.to_owned(),
                length,
                rate: rate as f64 / 100.0,
            })
            .collect()
    })
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

proptest! {
    #[test]
    fn a_median_is_in_the_middle(values in prop::collection::vec(0..50_i64, 1..30)) {
        let values: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
        prop_assert!(close(median(values.clone()).unwrap(), plain::median(&values)));
    }

    #[test]
    fn groups_hold_what_they_say(sample in sample()) {
        let whole: Vec<f64> = sample.iter().map(|post| post.rate).collect();
        for group in top_formats(&sample) {
            let rates: Vec<f64> = sample.iter().filter(|post| post.format == group.key).map(|post| post.rate).collect();
            prop_assert_eq!(group.posts, rates.len());
            prop_assert!(group.posts >= 3);
            prop_assert!(close(group.rate, plain::median(&rates)));
            prop_assert!(close(group.lift, plain::median(&rates) / plain::median(&whole)));
        }
        for group in caption_lengths(&sample) {
            let (_, min, max) = LENGTH_BANDS[group.key];
            let rates: Vec<f64> = sample
                .iter()
                .filter(|post| post.length >= min && post.length <= max.unwrap_or(usize::MAX))
                .map(|post| post.rate)
                .collect();
            prop_assert_eq!(group.posts, rates.len());
            prop_assert!(close(group.rate, plain::median(&rates)));
        }
        let times = timing(&sample);
        prop_assert!(times.len() <= 3);
        for pair in times.windows(2) {
            prop_assert!(pair[0].lift > pair[1].lift || (pair[0].lift == pair[1].lift && pair[0].posts >= pair[1].posts));
        }
        for group in times {
            let (day, hour) = group.key;
            let rates: Vec<f64> = sample
                .iter()
                .filter(|post| post.local.weekday().num_days_from_monday() == day)
                .filter(|post| post.local.hour() >= hour && post.local.hour() < hour + 3)
                .map(|post| post.rate)
                .collect();
            let n = rates.len() as f64;
            prop_assert!(n >= 2.0 && hour % 3 == 0);
            let lift = plain::median(&rates) / plain::median(&whole);
            prop_assert!(close(group.lift, (n * lift + 4.0) / (n + 4.0)));
        }
    }

    #[test]
    fn a_trend_compares_two_halves(sample in sample()) {
        let of = |from: i64, to: i64| -> Vec<f64> {
            sample.iter().filter(|post| post.age > from * DAY && post.age <= to * DAY).map(|post| post.rate).collect()
        };
        let (later, earlier) = (of(-1, 45), of(45, 90));
        let expected = if later.len() < 3 || earlier.len() < 3 || plain::median(&earlier) == 0.0 {
            "unknown"
        } else {
            let ratio = plain::median(&later) / plain::median(&earlier);
            if ratio >= 1.15 { "up" } else if ratio <= 0.85 { "down" } else { "flat" }
        };
        prop_assert_eq!(trend(&sample).name, expected);
    }

    #[test]
    fn a_comparison_divides_by_medians(
        own in (0..500_i64, 0..50_i64),
        before in prop::collection::vec((0..500_i64, 0..50_i64, any::<bool>()), 0..25),
    ) {
        let baseline: Vec<BaselinePost> = before
            .iter()
            .enumerate()
            .map(|(id, (views, likes, is_image))| BaselinePost {
                id: i64::try_from(id).unwrap(),
                format: if *is_image { "image" } else { "video" }.to_owned(),
                numbers: known(&[("views", *views), ("likes", *likes)]),
            })
            .collect();
        let numbers = known(&[("views", own.0), ("likes", own.1)]);
        let compared = compare(&numbers, "image", &baseline, &["likes", "comments"]);
        let last: Vec<_> = before.iter().take(20).collect();
        let alike: Vec<_> = last.iter().copied().filter(|post| post.2).collect();
        let chosen = if alike.len() >= 5 { &alike } else { &last };
        prop_assert_eq!(compared.is_some(), chosen.len() >= 5);
        let Some(compared) = compared else { return Ok(()) };
        let views: Vec<f64> = chosen.iter().map(|post| post.0 as f64).collect();
        let likes: Vec<f64> = chosen.iter().map(|post| post.1 as f64).collect();
        let ratio = |own: i64, of: &[f64]| {
            let median = plain::median(of);
            (own as f64 / if median == 0.0 { 1.0 } else { median }).min(5.0)
        };
        let (rv, re) = (ratio(own.0, &views), ratio(own.1, &likes));
        prop_assert!(close(compared.audience_ratio.unwrap(), rv) && close(compared.engagement_ratio.unwrap(), re));
        prop_assert!(close(compared.score, 0.5 * rv + 0.5 * re));
        prop_assert_eq!(compared.posts, chosen.len());
        prop_assert_eq!(compared.format.is_some(), alike.len() >= 5);
        prop_assert_eq!(tier(compared.score), plain::tier(compared.score));
        for point in &CHECKPOINTS {
            let confidence = confidence(compared.posts, point);
            let exact = (chosen.len() as f64 / 20.0).min(1.0).sqrt() * point.weight as f64 / 100.0;
            prop_assert!((confidence - exact).abs() <= 0.005 + 1e-9);
            prop_assert!((impact(compared.score, confidence) - plain::impact(compared.score, confidence)).abs() <= 0.05 + 1e-9);
        }
    }
}

#[test]
fn rates_are_of_reach_else_views_else_impressions_and_round_half_up() {
    let of = |pairs: &[(&str, i64)]| {
        let numbers = known(pairs);
        rate(engagements(&numbers, &["likes", "saves"]), &numbers)
            .map(|(rate, base)| (rounded(rate, 2), base))
    };
    assert_eq!(
        of(&[("likes", 1), ("saves", 2), ("reach", 100), ("views", 9)]),
        Some((3.0, "reach"))
    );
    assert_eq!(of(&[("likes", 1), ("views", 800)]), Some((0.13, "views")));
    assert_eq!(of(&[("likes", 0), ("impressions", 10)]), Some((0.0, "impressions")));
    assert_eq!(of(&[("likes", 1), ("reach", 0), ("views", 5)]), None, "a base of 0");
    assert_eq!(of(&[("reach", 10)]), None, "no engagement was measured");
    assert_eq!(of(&[("likes", 1)]), None);
}

fn compared(rv: Option<f64>, re: Option<f64>) -> Comparison {
    let score = match (rv, re) {
        (Some(rv), Some(re)) => 0.5 * rv + 0.5 * re,
        (one, other) => one.or(other).unwrap(),
    };
    Comparison {
        audience: rv.map(|_| ("views", 10, 10.0)),
        engagement: re.map(|_| (1, 1.0)),
        posts: 20,
        format: None,
        audience_ratio: rv,
        engagement_ratio: re,
        score,
        best: Some(7),
    }
}

#[test]
fn the_first_rule_that_holds_speaks() {
    let title = |rv, re, name: &str| {
        let point = Checkpoint::named(name).unwrap();
        advice(&compared(rv, re), point, "image", Some("on Monday")).title
    };
    assert_eq!(title(Some(2.0), Some(2.0), "1h"), "Off to a fast start");
    assert_eq!(title(Some(2.0), Some(2.0), "24h"), "It works");
    assert_eq!(title(Some(1.2), Some(0.9), "24h"), "Seen, but not answered");
    assert_eq!(title(Some(0.7), Some(0.9), "24h"), "Liked by few");
    assert_eq!(title(Some(1.0), Some(1.0), "6h"), "It works");
    assert_eq!(title(Some(0.5), Some(0.5), "6h"), "As usual");
    assert_eq!(title(Some(0.5), Some(0.5), "24h"), "Below your usual");
    assert_eq!(title(None, Some(0.7), "7d"), "As usual");
}

#[test]
fn a_clause_without_data_is_dropped() {
    let action = |rv: f64, re: f64, name: &str, timing: Option<&str>| {
        let point = Checkpoint::named(name).unwrap();
        advice(&compared(Some(rv), Some(re)), point, "image", timing).next_action
    };
    assert_eq!(action(0.7, 0.9, "24h", Some("on Monday")), "Post it again on Monday.");
    assert_eq!(action(0.7, 0.9, "24h", None), "Post it again.");
    assert_eq!(action(1.1, 1.1, "24h", None), "Follow up with another image post.");
    assert_eq!(action(0.7, 0.7, "6h", None), "Look again at 24h.");
    assert_eq!(action(0.7, 0.7, "7d", None), "Look again.");
    assert!(action(0.5, 0.5, "72h", None).contains("with post 7"));
}

#[test]
fn weeks_are_those_of_iso() {
    let day = |text: &str| text.parse::<NaiveDate>().unwrap();
    assert_eq!(week(day("2026-11-25")), "2026-W48");
    assert_eq!(week(day("2027-01-01")), "2026-W53");
    assert_eq!(monday_after(day("2026-11-23")), day("2026-11-30"));
    assert_eq!(monday_after(day("2026-11-29")), day("2026-11-30"));
}
