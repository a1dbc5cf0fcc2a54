//! The performance profile of an account, derived from the numbers of its posts of the last 90 days.

use std::{borrow::Cow, collections::BTreeMap};

use chrono_tz::Tz;
use fanfare_core::{
    Act, Domain, Reply, Tx,
    clock::{Time, date},
    error::{Error, Result},
};
use fanfare_entities::{
    AccountId, Millis, account, performance_profile, post_numbers, post_reading,
};
use fanfare_platforms::analytics::Analytics;
use fanfare_publishing::accounts;
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};

use super::{
    Metrics, Pace, analytics_of,
    formulas::{
        self, Group, LENGTH_BANDS, NOTABLE_DROP, NOTABLE_LIFT, SAMPLE_MIN, SamplePost, WINDOW_DAYS,
        format_number, rounded,
    },
    pace::DAY,
    parse_metrics,
    posts::status,
};

/// The minimum age of a post that counts.
const MIN_AGE: Millis = 3 * DAY;

/// The most posts that are read.
const MAX_POSTS: u64 = 5_000;

/// The findings about what works well for an account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PerformanceProfile {
    /// The account.
    pub social_account_id: AccountId,
    /// Platform identifier.
    pub platform: String,
    /// Name on the platform.
    pub username: String,
    /// The number of posts that it is derived from.
    pub sample_size: usize,
    /// The maximum age of these posts in days.
    pub window_days: i64,
    /// The mean of their engagement rates, in percent.
    pub engagement_rate_avg: f64,
    /// The last 45 days compared to the 45 days before: `up`, `down`, `flat` or `unknown`.
    pub engagement_rate_trend: String,
    /// Three to six sentences.
    pub bullets: Vec<String>,
    /// Two to four sentences.
    pub narrative_summary: String,
    /// The numbers behind the sentences.
    pub stats: ProfileStats,
    /// The time at which it was derived.
    #[serde(skip_deserializing)]
    pub derived_at: Option<Time>,
}

/// The profile of an account, or the reason why it has none.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ProfileResponse {
    pub performance_profile: Option<PerformanceProfile>,
    /// `insufficient_data` or `platform_not_measurable`; null with a profile.
    pub reason: Option<Cow<'static, str>>,
}

/// The numbers of a profile. Profiles that were stored earlier have other spellings of some names.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProfileStats {
    /// The best formats, at most three.
    #[serde(alias = "topFormats")]
    pub top_formats: Vec<FormatStats>,
    /// Caption lengths, by name.
    #[serde(alias = "captionLengthBands")]
    pub caption_length_bands: BTreeMap<String, CaptionLengthStats>,
    /// The best times of the week, at most three.
    pub timing: Vec<TimingStats>,
    /// The maximum age of the posts in days.
    #[serde(rename = "windowDays")]
    pub window_days: i64,
    /// The number of posts.
    #[serde(rename = "sampleSize")]
    pub sample_size: usize,
    /// Platform identifier.
    pub platform: String,
}

/// Posts of one format.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FormatStats {
    /// `image`, `carousel`, `video`, `text`, `link`, `document`, `thread` or `article`.
    pub format: String,
    /// The number of posts.
    pub posts: usize,
    /// The median of their engagement rates, in percent.
    #[serde(alias = "engagementRate")]
    pub engagement_rate: f64,
    /// That median divided by the median of all posts.
    pub lift: f64,
}

/// Posts with captions of similar length.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CaptionLengthStats {
    /// The minimum length in characters.
    pub min: usize,
    /// The maximum length; null: none.
    pub max: Option<usize>,
    /// The number of posts.
    pub posts: usize,
    /// The median of their engagement rates, in percent.
    #[serde(alias = "engagementRate")]
    pub engagement_rate: f64,
    /// That median divided by the median of all posts.
    pub lift: f64,
}

/// Posts of three hours of a weekday, in the time zone of the account's posting schedule.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TimingStats {
    /// The weekday, such as `monday`.
    pub weekday: String,
    /// The first hour, such as `09:00`.
    pub from: String,
    /// The end.
    pub to: String,
    /// The number of posts.
    pub posts: usize,
    /// Their lift, moved towards 1 if the posts are few.
    pub lift: f64,
}

/// The inputs of the comparison of an account's posts: its network, its time scale, and the time zone of its posting
/// schedule.
pub(super) type ComparisonContext = (&'static dyn Analytics, Pace, Tz);

/// Derives an account's profile again.
pub(super) async fn derive(tx: &Tx, row: &account::Model, means: ComparisonContext) -> Result<()> {
    let now = tx.now();
    let sample = sample(tx, row, means).await?;
    let Some(profile) = profile(row, &sample) else {
        performance_profile::Entity::delete_by_id(row.id).exec(tx.conn()).await?;
        return Ok(());
    };
    let stored = performance_profile::ActiveModel {
        account_id: Set(row.id),
        profile: Set(serde_json::to_value(profile).map_err(Error::internal)?),
        derived_at: Set(now),
    };
    use performance_profile::Column::{AccountId as Account, DerivedAt, Profile as Column};
    let again = OnConflict::column(Account).update_columns([Column, DerivedAt]).to_owned();
    performance_profile::Entity::insert(stored)
        .on_conflict(again)
        .exec_without_returning(tx.conn())
        .await?;
    Ok(())
}

/// Returns the posts that count in a profile, with their engagement rates at the age of seven days, or the latest ones.
pub(super) async fn sample(
    tx: &Tx,
    row: &account::Model,
    (network, pace, home): ComparisonContext,
) -> Result<Vec<SamplePost>> {
    let (conn, now) = (tx.conn(), tx.now());
    let rows = post_numbers::Entity::find()
        .filter(post_numbers::Column::AccountId.eq(row.id))
        .filter(post_numbers::Column::PublishedAt.gte(now - pace.shortened(WINDOW_DAYS * DAY)))
        .filter(post_numbers::Column::PublishedAt.lte(now - pace.shortened(MIN_AGE)))
        .filter(post_numbers::Column::Status.ne(status::EXPIRED))
        .order_by_desc(post_numbers::Column::PublishedAt)
        .order_by_desc(post_numbers::Column::Id)
        .limit(MAX_POSTS)
        .all(conn)
        .await?;
    let settled = at_seven_days(conn, rows.iter().map(|row| row.id).collect()).await?;
    let posts = rows.into_iter().filter(|row| !row.post_type.ends_with("story"));
    let posts = posts.filter_map(|row| {
        let numbers = settled.get(&row.id).cloned().unwrap_or_else(|| parse_metrics(&row.numbers));
        let engagements = formulas::engagements(&numbers, network.engagements());
        let (rate, _) = formulas::rate(engagements, &numbers)?;
        Some(SamplePost {
            id: row.id,
            age: pace.age(row.published_at, now),
            local: date(row.published_at).with_timezone(&home).naive_local(),
            format: row.format,
            length: row.caption.chars().count(),
            rate,
        })
    });
    Ok(posts.collect())
}

async fn at_seven_days<C: ConnectionTrait>(
    conn: &C,
    ids: Vec<i64>,
) -> Result<BTreeMap<i64, Metrics>> {
    let rows = post_reading::Entity::find()
        .filter(post_reading::Column::PostNumbersId.is_in(ids))
        .filter(post_reading::Column::Checkpoint.eq("7d"))
        .all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.post_numbers_id, parse_metrics(&row.numbers))).collect())
}

/// Returns the profile of a sample; `None` if the sample is too small.
fn profile(row: &account::Model, sample: &[SamplePost]) -> Option<PerformanceProfile> {
    if sample.len() < SAMPLE_MIN {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a sample is small")]
    let mean = sample.iter().map(|post| post.rate).sum::<f64>() / sample.len() as f64;
    let (formats, bands, timing) = (
        formulas::top_formats(sample),
        formulas::caption_lengths(sample),
        formulas::timing(sample),
    );
    let trend = formulas::trend(sample);
    let bullets = bullets(sample, mean, &trend, (&formats, &bands, &timing));
    let narrative: Vec<&str> = bullets.iter().take(4).map(String::as_str).collect();
    Some(PerformanceProfile {
        social_account_id: row.id,
        platform: row.platform.clone(),
        username: row.username.clone(),
        sample_size: sample.len(),
        window_days: WINDOW_DAYS,
        engagement_rate_avg: rounded(mean, 2),
        engagement_rate_trend: trend.name.to_owned(),
        narrative_summary: narrative.join(" "),
        stats: ProfileStats {
            top_formats: formats.iter().map(FormatStats::of).collect(),
            caption_length_bands: bands.iter().filter_map(CaptionLengthStats::of).collect(),
            timing: timing.iter().map(TimingStats::of).collect(),
            window_days: WINDOW_DAYS,
            sample_size: sample.len(),
            platform: row.platform.clone(),
        },
        bullets,
        derived_at: None,
    })
}

impl FormatStats {
    fn of(group: &Group<String>) -> Self {
        Self {
            format: group.key.clone(),
            posts: group.posts,
            engagement_rate: rounded(group.rate, 2),
            lift: rounded(group.lift, 2),
        }
    }
}

impl CaptionLengthStats {
    fn of(group: &Group<usize>) -> Option<(String, Self)> {
        let (name, min, max) = *LENGTH_BANDS.get(group.key)?;
        let (posts, lift) = (group.posts, rounded(group.lift, 2));
        Some((
            name.to_owned(),
            Self { min, max, posts, engagement_rate: rounded(group.rate, 2), lift },
        ))
    }
}

impl TimingStats {
    fn of(group: &Group<formulas::WeekTime>) -> Self {
        let (day, hour) = group.key;
        Self {
            weekday: formulas::weekday(day).to_owned(),
            from: format!("{hour:02}:00"),
            to: format!("{:02}:00", hour + 3),
            posts: group.posts,
            lift: rounded(group.lift, 2),
        }
    }

    /// Describes the time in words, such as `on Monday between 09:00 and 12:00`.
    fn describe(&self) -> String {
        let mut day = self.weekday.clone();
        if let Some(first) = day.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("on {day} between {} and {}", self.from, self.to)
    }
}

type ProfileGroups<'a> = (&'a [Group<String>], &'a [Group<usize>], &'a [Group<formulas::WeekTime>]);

fn bullets(
    sample: &[SamplePost],
    mean: f64,
    trend: &formulas::Trend,
    (formats, bands, timing): ProfileGroups<'_>,
) -> Vec<String> {
    let n = sample.len();
    let median = formulas::median(sample.iter().map(|post| post.rate)).unwrap_or_default();
    let mut bullets = vec![
        format!(
            "The average engagement rate of {n} posts in {WINDOW_DAYS} days is {} %.",
            format_number(mean)
        ),
        describe_trend(trend),
    ];
    let is_telling = |lift: f64| lift >= NOTABLE_LIFT || lift <= NOTABLE_DROP;
    if let Some(best) = formats.iter().find(|group| is_telling(group.lift)) {
        let (form, lift, posts) = (&best.key, format_number(best.lift), best.posts);
        bullets
            .push(format!("The median of {posts} {form} posts is {lift} times the median of all."));
    }
    if let Some(best) = timing.iter().find(|group| is_telling(group.lift)) {
        let (when, lift) = (TimingStats::of(best).describe(), format_number(best.lift));
        bullets.push(format!("{} posts {when} reach {lift} times the median.", best.posts));
    }
    if let Some((best, (name, ..))) = bands
        .iter()
        .find(|group| is_telling(group.lift))
        .and_then(|group| Some((group, LENGTH_BANDS.get(group.key)?)))
    {
        let (name, lift) = (name.replace('_', " "), format_number(best.lift));
        bullets.push(format!(
            "{} posts with {name} captions reach {lift} times the median.",
            best.posts
        ));
    }
    bullets.push(format!(
        "Half of the {n} posts have an engagement rate of {} % or more.",
        format_number(median)
    ));
    bullets
}

fn describe_trend(trend: &formulas::Trend) -> String {
    let ((later, later_median), (earlier, earlier_median)) = (trend.later, trend.earlier);
    match (trend.name, later_median, earlier_median) {
        ("unknown", ..) | (_, None, _) | (_, _, None) => format!(
            "The trend is unknown: {later} posts are of the last 45 days, {earlier} of the 45 before."
        ),
        (name, Some(now), Some(before)) => format!(
            "The trend is {name}: the median of {later} posts of the last 45 days is {} %, that of {earlier} before is {} %.",
            format_number(now),
            format_number(before)
        ),
    }
}

/// Returns the best time of the week in a stored profile, in words.
pub(super) async fn best_time<C: ConnectionTrait>(
    conn: &C,
    id: AccountId,
) -> Result<Option<String>> {
    let stored = performance_profile::Entity::find_by_id(id).one(conn).await?;
    let Some(stored) = stored else { return Ok(None) };
    let profile: PerformanceProfile =
        serde_json::from_value(stored.profile).map_err(Error::internal)?;
    Ok(profile.stats.timing.first().map(TimingStats::describe))
}

/// Shows the profile of an account, or the reason why it has none.
///
/// # Errors
/// [`fanfare_core::Code::AccountNotFound`].
pub async fn show_profile(act: &Act, id: AccountId) -> Result<Reply<ProfileResponse>> {
    let row = accounts::find(act, id).await?;
    let stored = performance_profile::Entity::find_by_id(id).one(&act.cx.db.read).await?;
    let Some(stored) = stored else {
        let why =
            if has_base(&act.cx, &row) { "insufficient_data" } else { "platform_not_measurable" };
        let none = ProfileResponse { performance_profile: None, reason: Some(why.into()) };
        return Ok(Reply::ok(&none));
    };
    let mut profile: PerformanceProfile =
        serde_json::from_value(stored.profile).map_err(Error::internal)?;
    profile.derived_at = Some(Time(stored.derived_at));
    Ok(Reply::ok(&ProfileResponse { performance_profile: Some(profile), reason: None }))
}

/// Returns true if the network reports a number that engagements can be divided by.
fn has_base(cx: &Domain, row: &account::Model) -> bool {
    analytics_of(cx, row).is_some_and(|network| network.has_denominator())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_profile_that_was_stored_under_earlier_names_is_read() {
        let format = json!({"format": "image", "posts": 8, "engagementRate": 7.5, "lift": 1.0});
        let band = json!({"min": 0, "max": 80, "posts": 8, "engagementRate": 2.5, "lift": 1.0});
        let stored = json!({
            "topFormats": [format], "captionLengthBands": {"short": band}, "timing": [],
            "windowDays": 90, "sampleSize": 8, "platform": "instagram",
        });
        let stats: ProfileStats = serde_json::from_value(stored).unwrap();
        let shown = serde_json::to_value(stats).unwrap();
        assert_eq!(shown["top_formats"][0]["engagement_rate"], 7.5);
        assert_eq!(shown["caption_length_bands"]["short"]["engagement_rate"], 2.5);
        assert_eq!((&shown["windowDays"], &shown["sampleSize"]), (&json!(90), &json!(8)));
    }
}
