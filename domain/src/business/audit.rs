//! The audit of business profiles: what is filled in, fresh and answered. A pure function of what was read.

use fanfare_entities::{
    AccountId, Millis, account, business_media, business_media::BusinessMediaStatus,
    business_profile, business_review,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::Serialize;
use serde_json::Value;

use super::{Locations, meant, sync, title};
use crate::{Act, Reply, clock::Time, error::Result};

const DAY: Millis = 24 * 3_600_000;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    /// All its weight counts.
    Pass,
    /// Half its weight counts.
    Warn,
    /// None of its weight counts.
    Fail,
    /// It could not be read, and is left out.
    Unknown,
}

/// One check of a profile.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    id: &'static str,
    label: &'static str,
    status: CheckStatus,
    weight: u32,
    detail: String,
    /// The call that mends it, or the place where it is mended.
    remedy: &'static str,
}

/// The audit of one location.
#[derive(Debug, Serialize, JsonSchema)]
struct Audit {
    account_id: AccountId,
    location_id: String,
    title: String,
    /// 0 to 100; null if nothing is known.
    score: Option<u32>,
    checked_at: Option<Time>,
    checks: Vec<Check>,
}

/// The audits of locations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AuditsShown {
    audits: Vec<Audit>,
}

/// What is known of a location.
struct Facts {
    profile: Option<business_profile::Model>,
    reviews: Vec<business_review::Model>,
    media: Vec<business_media::Model>,
    now: Millis,
}

/// Shows the audits of locations; facts are at most an hour old.
///
/// # Errors
/// [`crate::Code::LocationNotFound`], [`crate::Code::PlatformMismatch`].
pub async fn audit(act: &Act, wanted: Locations) -> Result<Reply<AuditsShown>> {
    let mut audits = Vec::new();
    for account in meant(act, wanted.account_id, wanted.location_id.as_deref()).await? {
        let profile = sync::fresh(act, &account, sync::HOUR).await?;
        sync::ask_if_stale(act, &account).await?;
        let reviews = business_review::Entity::find()
            .filter(business_review::Column::AccountId.eq(account.id))
            .all(&act.cx.db.read)
            .await?;
        let media = business_media::Entity::find()
            .filter(business_media::Column::AccountId.eq(account.id))
            .filter(business_media::Column::Status.eq(BusinessMediaStatus::Live))
            .all(&act.cx.db.read)
            .await?;
        let facts = Facts { profile, reviews, media, now: act.cx.clock.now() };
        audits.push(of(&account, &facts));
    }
    Ok(Reply::ok(&AuditsShown { audits }))
}

fn of(account: &account::Model, facts: &Facts) -> Audit {
    let checks = checks(facts);
    Audit {
        account_id: account.id,
        location_id: account.remote_id.clone(),
        title: title(facts.profile.as_ref(), account),
        score: score(&checks),
        checked_at: facts.profile.as_ref().and_then(|profile| profile.facts_at).map(Time),
        checks,
    }
}

/// 100 times the points of the weights, rounded half up.
fn score(checks: &[Check]) -> Option<u32> {
    let known = || checks.iter().filter(|check| check.status != CheckStatus::Unknown);
    let weights: u32 = known().map(|check| check.weight).sum();
    let halves: u32 = known()
        .map(|check| match check.status {
            CheckStatus::Pass => 2 * check.weight,
            CheckStatus::Warn => check.weight,
            CheckStatus::Fail | CheckStatus::Unknown => 0,
        })
        .sum();
    (weights > 0).then(|| (100 * halves + weights) / (2 * weights))
}

const EDITOR: &str = "Change it in Google's editor of the Business Profile.";
const PHOTO: &str = "POST /api/v1/google-business/media with the category that is missing.";
const POST: &str = "POST /api/v1/posts on this account.";
const REPLY: &str = "POST /api/v1/google-business/reviews/reply.";
const ASK: &str = "Send customers the address of GET /api/v1/google-business/review-link.";

fn checks(facts: &Facts) -> Vec<Check> {
    let mut checks = of_record(facts);
    checks.extend(of_media(facts));
    checks.extend(of_reviews(facts));
    checks
}

fn check(
    (id, label, weight, remedy): (&'static str, &'static str, u32, &'static str),
    status: CheckStatus,
    detail: impl Into<String>,
) -> Check {
    Check { id, label, status, weight, detail: detail.into(), remedy }
}

/// Passes where it is so, and fails where it is not.
const fn so(is_so: bool) -> CheckStatus {
    if is_so { CheckStatus::Pass } else { CheckStatus::Fail }
}

/// Passes at the first limit, warns at the second.
fn at_least<T: PartialOrd>(value: Option<T>, pass: T, warn: T) -> CheckStatus {
    match value {
        None => CheckStatus::Unknown,
        Some(value) if value >= pass => CheckStatus::Pass,
        Some(value) if value >= warn => CheckStatus::Warn,
        Some(_) => CheckStatus::Fail,
    }
}

/// Passes within the first time, warns within the second.
fn within(at: Option<Millis>, now: Millis, (pass, warn): (i64, i64)) -> CheckStatus {
    match at {
        Some(at) if now - at <= pass * DAY => CheckStatus::Pass,
        Some(at) if now - at <= warn * DAY => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    }
}

/// What the location's record says.
fn of_record(facts: &Facts) -> Vec<Check> {
    let profile = facts.profile.as_ref();
    let record = profile.and_then(|profile| profile.location.as_ref());
    let known =
        |status: &dyn Fn(&Value) -> CheckStatus| record.map_or(CheckStatus::Unknown, status);
    let filled = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    let text = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let verified = profile.and_then(|profile| profile.verified);
    let posted = profile.filter(|profile| profile.posts_known);
    let detail = |status: CheckStatus, missing: &str| match status {
        CheckStatus::Pass => "It is there.".to_owned(),
        CheckStatus::Unknown => "It could not be read.".to_owned(),
        CheckStatus::Warn | CheckStatus::Fail => missing.to_owned(),
    };
    let one =
        |what, status: CheckStatus, missing: &str| check(what, status, detail(status, missing));
    let more = |record: &Value| {
        at_least(
            record["categories"]["additionalCategories"]
                .as_array()
                .map_or(Some(0), |all| Some(all.len())),
            1,
            1,
        )
    };
    let website = |record: &Value| match record["websiteUri"].as_str() {
        Some(url) if url.starts_with("https://") => CheckStatus::Pass,
        Some(url) if url.starts_with("http://") => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    vec![
        one(
            ("verified", "Verified", 12, EDITOR),
            verified.map_or(CheckStatus::Unknown, so),
            "Google does not know the owner.",
        ),
        one(
            ("primary_category", "Primary category", 6, EDITOR),
            known(&|record| so(filled(&record["categories"]["primaryCategory"]))),
            "There is none.",
        ),
        one(
            ("more_categories", "More categories", 4, EDITOR),
            known(&more),
            "There is none besides the primary one.",
        ),
        one(
            ("description", "Description", 8, EDITOR),
            known(&|record| at_least(Some(text(&record["profile"]["description"])), 250, 1)),
            "It has fewer than 250 characters.",
        ),
        one(
            ("phone", "Phone number", 5, EDITOR),
            known(&|record| so(filled(&record["phoneNumbers"]["primaryPhone"]))),
            "There is none.",
        ),
        one(("website", "Website", 5, EDITOR), known(&website), "There is none with https."),
        one(("hours", "Opening hours", 8, EDITOR), known(&hours), "Not every day is said."),
        one(
            ("special_hours", "Hours of holidays", 3, EDITOR),
            known(&|record| so(special_hours(record, facts.now))),
            "None are ahead.",
        ),
        one(
            ("address_or_area", "Address or service area", 4, EDITOR),
            known(&|record| {
                so(filled(&record["storefrontAddress"]) || filled(&record["serviceArea"]))
            }),
            "There is neither.",
        ),
        one(
            ("recent_post", "A recent post", 6, POST),
            posted.map_or(CheckStatus::Unknown, |profile| {
                within(profile.last_post_at, facts.now, (14, 30))
            }),
            "The last one is older than 14 days.",
        ),
    ]
}

/// Every day must be said; what has no hours counts as closed once any day has some.
fn hours(record: &Value) -> CheckStatus {
    const DAYS: [&str; 7] =
        ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
    let periods = record["regularHours"]["periods"].as_array();
    let said = |day: &&&str| {
        periods.is_some_and(|periods| periods.iter().any(|period| period["openDay"] == ***day))
    };
    match DAYS.iter().filter(said).count() {
        0 => CheckStatus::Fail,
        // A day without hours is one on which it is closed.
        _ => CheckStatus::Pass,
    }
}

fn special_hours(record: &Value, now: Millis) -> bool {
    let today = chrono::DateTime::from_timestamp_millis(now).map(|at| at.date_naive());
    let day = |period: &Value| {
        let part = |name: &str| period["startDate"][name].as_i64();
        let (year, month, day) = (part("year")?, part("month")?, part("day")?);
        let [month, day] = [month, day].map(u32::try_from);
        chrono::NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month.ok()?, day.ok()?)
    };
    let periods = record["specialHours"]["specialHourPeriods"].as_array();
    periods.into_iter().flatten().filter_map(day).any(|day| Some(day) >= today)
}

fn of_media(facts: &Facts) -> Vec<Check> {
    let known = facts.profile.as_ref().is_some_and(|profile| profile.synced_at.is_some());
    let or_unknown = |status| if known { status } else { CheckStatus::Unknown };
    let has = |category: &str| facts.media.iter().any(|one| one.category == category);
    let photos = facts.media.iter().filter(|one| !one.video).count();
    let latest = facts.media.iter().filter_map(|one| one.added_at).max();
    vec![
        check(
            ("profile_photo", "Profile photo", 5, PHOTO),
            or_unknown(so(has("PROFILE"))),
            "The photo beside the name.",
        ),
        check(
            ("cover_photo", "Cover photo", 5, PHOTO),
            or_unknown(so(has("COVER"))),
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

fn of_reviews(facts: &Facts) -> Vec<Check> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile(location: Value) -> business_profile::Model {
        business_profile::Model {
            id: fanfare_entities::ProfileId(1),
            workspace_id: fanfare_entities::WorkspaceId::fresh(),
            account_id: AccountId(1),
            location: Some(location),
            verified: Some(true),
            last_post_at: Some(95 * DAY),
            posts_known: true,
            average_rating: Some(4.2),
            total_reviews: Some(5),
            backfilled: true,
            synced_at: Some(1),
            facts_at: Some(1),
            due_at: None,
            fence: 0,
            attempts: 0,
            laps: 0,
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn the_weights_make_a_hundred_and_nothing_known_makes_no_score() {
        let nothing =
            Facts { profile: None, reviews: Vec::new(), media: Vec::new(), now: 100 * DAY };
        let all = checks(&nothing);
        assert_eq!(all.iter().map(|check| check.weight).sum::<u32>(), 100);
        assert!(all.iter().all(|check| check.status == CheckStatus::Unknown));
        assert_eq!(score(&all), None);
    }

    #[test]
    fn a_check_passes_warns_or_fails_at_its_limits() {
        let record = json!({
            "categories": {"primaryCategory": {"displayName": "Store"}},
            "profile": {"description": "Short"},
            "websiteUri": "http://example.org",
            "phoneNumbers": {"primaryPhone": "1"},
        });
        let facts = Facts {
            profile: Some(profile(record)),
            reviews: Vec::new(),
            media: Vec::new(),
            now: 100 * DAY,
        };
        let all = checks(&facts);
        let status = |id: &str| all.iter().find(|check| check.id == id).unwrap().status;
        for (id, wanted) in [
            ("verified", CheckStatus::Pass),
            ("primary_category", CheckStatus::Pass),
            ("more_categories", CheckStatus::Fail),
            ("description", CheckStatus::Warn),
            ("website", CheckStatus::Warn),
            ("hours", CheckStatus::Fail),
            ("recent_post", CheckStatus::Pass),
            ("rating", CheckStatus::Pass),
            ("review_count", CheckStatus::Warn),
            ("recent_review", CheckStatus::Fail),
            ("reply_rate", CheckStatus::Unknown),
            ("profile_photo", CheckStatus::Fail),
        ] {
            assert_eq!(status(id), wanted, "{id}");
        }
        // 12 + 6 + 5 + 6 + 6 pass, 8 + 5 + 4 warn, out of 94.
        assert_eq!(score(&all), Some(46));
    }
}
