//! The checks of media and reviews, and helpers for all checks.

use fanfare_entities::Millis;

use super::{Check, CheckStatus, Facts, record::record_checks};

pub(super) const DAY: Millis = 24 * 3_600_000;

pub(super) const EDITOR: &str = "Change it in Google's editor of the Business Profile.";

const PHOTO: &str = "POST /api/v1/google-business/media with the category that is missing.";

pub(super) const POST: &str = "POST /api/v1/posts on this account.";

const REPLY: &str = "POST /api/v1/google-business/reviews/reply.";
const ASK: &str = "Send customers the address of GET /api/v1/google-business/review-link.";

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let mut checks = record_checks(facts);
    checks.extend(media_checks(facts));
    checks.extend(review_checks(facts));
    checks
}

pub(super) fn check(
    (id, label, weight, remedy): (&'static str, &'static str, u32, &'static str),
    status: CheckStatus,
    detail: impl Into<String>,
) -> Check {
    Check { id, label, status, weight, detail: detail.into(), remedy }
}

/// Returns `Pass` if the condition holds, and `Fail` otherwise.
pub(super) const fn pass_if(is_so: bool) -> CheckStatus {
    if is_so { CheckStatus::Pass } else { CheckStatus::Fail }
}

/// Returns `Pass` if the value reaches the first limit, and `Warn` if it reaches the second.
pub(super) fn at_least<T: PartialOrd>(value: Option<T>, pass: T, warn: T) -> CheckStatus {
    match value {
        None => CheckStatus::Unknown,
        Some(value) if value >= pass => CheckStatus::Pass,
        Some(value) if value >= warn => CheckStatus::Warn,
        Some(_) => CheckStatus::Fail,
    }
}

/// Returns `Pass` if the time is within the first period before now, and `Warn` if it is within the second.
pub(super) fn within(at: Option<Millis>, now: Millis, (pass, warn): (i64, i64)) -> CheckStatus {
    match at {
        Some(at) if now - at <= pass * DAY => CheckStatus::Pass,
        Some(at) if now - at <= warn * DAY => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    }
}

fn media_checks(facts: &Facts) -> Vec<Check> {
    let known = facts.profile.as_ref().is_some_and(|profile| profile.synced_at.is_some());
    let or_unknown = |status| if known { status } else { CheckStatus::Unknown };
    let has = |category: &str| facts.media.iter().any(|one| one.category == category);
    let photos = facts.media.iter().filter(|one| !one.video).count();
    let latest = facts.media.iter().filter_map(|one| one.added_at).max();
    vec![
        check(
            ("profile_photo", "Profile photo", 5, PHOTO),
            or_unknown(pass_if(has("PROFILE"))),
            "The photo beside the name.",
        ),
        check(
            ("cover_photo", "Cover photo", 5, PHOTO),
            or_unknown(pass_if(has("COVER"))),
            "The photo at the head.",
        ),
        check(
            ("photos", "Photos", 6, PHOTO),
            or_unknown(at_least(Some(photos), 10, 3)),
            format!("There are {photos}."),
        ),
        check(
            ("recent_photo", "A recent photo", 4, PHOTO),
            or_unknown(within(latest, facts.now, (90, 180))),
            "One of the last 90 days.",
        ),
    ]
}

fn review_checks(facts: &Facts) -> Vec<Check> {
    let profile = facts.profile.as_ref().filter(|profile| profile.synced_at.is_some());
    let rating = profile.and_then(|profile| profile.average_rating);
    let count = profile.and_then(|profile| profile.total_reviews);
    let latest = facts.reviews.iter().map(|review| review.reviewed_at).max();
    let recent: Vec<_> =
        facts.reviews.iter().filter(|one| facts.now - one.reviewed_at <= 90 * DAY).collect();
    let answered = recent.iter().filter(|one| one.reply.is_some()).count();
    let rate = match recent.len() {
        0 => CheckStatus::Unknown,
        all if 10 * answered >= 9 * all => CheckStatus::Pass,
        all if 2 * answered >= all => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    let recent_status = match profile {
        None => CheckStatus::Unknown,
        Some(_) => within(latest, facts.now, (30, 90)),
    };
    vec![
        check(
            ("rating", "Average rating", 6, ASK),
            at_least(rating, 4.2, 3.5),
            rating.map_or_else(
                || "It is not known.".to_owned(),
                |rating| format!("It is {rating:.1}."),
            ),
        ),
        check(
            ("review_count", "Number of reviews", 4, ASK),
            at_least(count, 20, 5),
            count.map_or_else(
                || "It is not known.".to_owned(),
                |count| format!("There are {count}."),
            ),
        ),
        check(
            ("recent_review", "A recent review", 3, ASK),
            recent_status,
            "One of the last 30 days.",
        ),
        check(
            ("reply_rate", "Answered reviews", 6, REPLY),
            rate,
            format!("{answered} of {} in 90 days.", recent.len()),
        ),
    ]
}
