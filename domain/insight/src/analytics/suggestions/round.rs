//! The weekly round of an account: finds its best old posts, and suggests posts based on them.

use std::collections::BTreeSet;

use chrono::{NaiveTime, TimeDelta};
use fanfare_core::{
    Domain, Tx,
    clock::to_rfc3339,
    durable::{self, Lease},
    error::Result,
};
use fanfare_entities::{
    AccountId, Millis, SuggestionId, account, account::AccountStatus, performance_profile,
    post_numbers, post_suggestion, post_suggestion::SuggestionStatus, suggestion_round,
};
use fanfare_jobs::JobKind;
use fanfare_publishing::{accounts, posting_schedule};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::OnConflict};

use super::RETENTION;
use crate::analytics::{
    analytics_of,
    formulas::{self, NOTABLE_LIFT, format_number},
    includes_insights, pace,
    pace::DAY,
    profile, suggested_caption, zone,
};

/// The most suggestions for an account in a week.
const MAX_PER_WEEK: usize = 3;

/// The minimum age of a post that can be suggested again.
const MIN_AGE: Millis = 21 * DAY;

/// The hour of the day at which suggestions are made.
const HOUR_OF_DAY: i64 = 6;

/// Claims the row of an account, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<suggestion_round::Model>> {
    let now = cx.clock.now();
    let taken =
        durable::claim(&cx.db.write, JobKind::DeriveSuggestions, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Suggests posts for a claimed account, and releases it until next Monday.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, round: suggestion_round::Model) -> Result<()> {
    let row = accounts::row(cx, round.id).await?;
    let connected = row.filter(|row| row.status != AccountStatus::Disconnected);
    let Some(row) = connected else {
        suggestion_round::Entity::delete_by_id(round.id).exec(&cx.db.write).await?;
        return Ok(());
    };
    if row.status == AccountStatus::Connected {
        derive(cx, &row).await?;
    }
    let next = next_round(cx, &row).await?;
    let lease = Lease { id: round.id.0, fencing_token: round.fencing_token };
    durable::release(cx, JobKind::DeriveSuggestions, &[lease], next).await
}

/// Returns next Monday at six in the workspace's time zone.
async fn next_round(cx: &Domain, row: &account::Model) -> Result<Millis> {
    let home = posting_schedule::home_zone(cx, row).await?;
    let today = zone::date_at(home, cx.clock.now() - HOUR_OF_DAY * 3_600_000);
    let monday = formulas::monday_after(today);
    let six = NaiveTime::MIN + TimeDelta::hours(HOUR_OF_DAY);
    Ok(zone::at(home, monday.and_time(six)).timestamp_millis())
}

/// Suggests posts for this week, unless that was already done.
pub(super) async fn derive(cx: &Domain, row: &account::Model) -> Result<usize> {
    let is_measured =
        performance_profile::Entity::find_by_id(row.id).one(&cx.db.write).await?.is_some();
    if !is_measured || !includes_insights(cx, row.workspace_id).await? {
        return Ok(0);
    }
    let home = posting_schedule::home_zone(cx, row).await?;
    let period_key = formulas::week(zone::date_at(home, cx.clock.now()));
    let Some(network) = analytics_of(cx, row) else { return Ok(0) };
    let means = (network, pace(cx, row), posting_schedule::zone_of(cx, row).await?);
    if has_suggestions(cx, row.id, &period_key).await? {
        return Ok(0);
    }
    let tx = Tx::begin(cx).await?;
    let best = best_posts(&tx, row, means).await?;
    // The model may take long, so no transaction is open meanwhile.
    tx.commit().await?;
    let worded = worded(cx, row, best).await?;
    let tx = Tx::begin(cx).await?;
    let mut made = 0;
    for (place, subject) in worded.into_iter().enumerate() {
        made += insert(&tx, row, &period_key, place, subject).await?;
    }
    tx.commit().await?;
    Ok(made)
}

/// Returns true if there are suggestions for this week.
async fn has_suggestions(cx: &Domain, id: AccountId, period_key: &str) -> Result<bool> {
    let made = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::AccountId.eq(id))
        .filter(post_suggestion::Column::PeriodKey.eq(period_key));
    Ok(made.one(&cx.db.write).await?.is_some())
}

/// A post to base a suggestion on.
struct Subject {
    row: post_numbers::Model,
    caption: String,
    lift: f64,
    posts: usize,
}

/// Posts to base suggestions on.
struct BestPosts {
    /// The lift and the id of each, the highest lift first.
    ranked: Vec<(f64, i64)>,
    /// The number of posts that they were compared with.
    compared: usize,
}

/// Returns the posts of notable lift that are old enough and were not suggested recently.
async fn best_posts(
    tx: &Tx,
    row: &account::Model,
    means: profile::ComparisonContext,
) -> Result<BestPosts> {
    let sample = profile::sample(tx, row, means).await?;
    let compared = sample.len();
    let Some(median) = formulas::median(sample.iter().map(|post| post.rate)).filter(|it| *it > 0.0)
    else {
        return Ok(BestPosts { ranked: Vec::new(), compared });
    };
    let recent = recently_suggested(tx, row.id, tx.now() - means.1.shortened(RETENTION)).await?;
    let mut ranked: Vec<_> = sample
        .iter()
        .filter(|post| post.age > MIN_AGE && !recent.contains(&post.id))
        .map(|post| (post.rate / median, post.id))
        .filter(|(lift, _)| *lift >= NOTABLE_LIFT)
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    Ok(BestPosts { ranked, compared })
}

/// Words suggestions, each based on the best post that is left. A post whose text cannot be used takes nobody's place.
async fn worded(cx: &Domain, row: &account::Model, best: BestPosts) -> Result<Vec<Subject>> {
    let mut writer = suggested_caption::Writer::new(cx, row).await?;
    let mut worded = Vec::new();
    for (lift, id) in best.ranked {
        if worded.len() == MAX_PER_WEEK {
            break;
        }
        let found = post_numbers::Entity::find_by_id(id).one(&cx.db.read).await?;
        let Some(found) = found else { continue };
        let Some(old) = caption(row, &found.caption) else { continue };
        if let Some(caption) = writer.write(&old).await? {
            worded.push(Subject { row: found, caption, lift, posts: best.compared });
        }
    }
    Ok(worded)
}

/// Returns the old caption, if there is one and the network still accepts it.
fn caption(row: &account::Model, old: &str) -> Option<String> {
    let platform = fanfare_publishing::platforms::from_row(&row.platform).ok()?;
    let rules = fanfare_platforms::find(platform).spec().caption;
    let caption = old.trim();
    let fits = !caption.is_empty() && (rules.count)(caption) <= rules.max;
    fits.then(|| caption.to_owned())
}

/// Returns the posts that were suggested since then.
async fn recently_suggested(tx: &Tx, id: AccountId, since: Millis) -> Result<BTreeSet<i64>> {
    let rows = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::AccountId.eq(id))
        .filter(post_suggestion::Column::CreatedAt.gt(since))
        .all(tx.conn())
        .await?;
    Ok(rows.into_iter().map(|row| row.subject_id).collect())
}

async fn insert(
    tx: &Tx,
    row: &account::Model,
    period_key: &str,
    place: usize,
    subject: Subject,
) -> Result<usize> {
    let (now, lift, n) = (tx.now(), format_number(subject.lift), subject.posts);
    let which = match subject.row.post_id {
        Some(post) => format!("Post {post}"),
        None => "A post made elsewhere".to_owned(),
    };
    let day = to_rfc3339(subject.row.published_at).chars().take(10).collect::<String>();
    let rationale = format!(
        "{which} of {day} had {lift} times the median engagement rate of the {n} posts of 90 days."
    );
    let model = post_suggestion::Model {
        id: SuggestionId::fresh(),
        workspace_id: row.workspace_id,
        account_id: row.id,
        platform: row.platform.clone(),
        period_key: period_key.to_owned(),
        ordinal: i32::try_from(place).unwrap_or_default() + 1,
        subject_id: subject.row.id,
        caption: subject.caption,
        rationale,
        status: SuggestionStatus::Pending,
        post_id: None,
        created_at: now,
        updated_at: now,
    };
    use post_suggestion::Column::{AccountId as Account, Ordinal, PeriodKey};
    let once = OnConflict::columns([Account, PeriodKey, Ordinal]).do_nothing().to_owned();
    let made = post_suggestion::Entity::insert(post_suggestion::ActiveModel::from(model))
        .on_conflict(once)
        .exec_without_returning(tx.conn())
        .await?;
    Ok(usize::try_from(made).unwrap_or_default())
}
