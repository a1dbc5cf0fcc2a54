//! Suggestions: each Monday up to three posts that an account may make, after its posts that did best.

use std::collections::BTreeSet;

use chrono::{NaiveTime, TimeDelta};
use fanfare_entities::{
    AccountId, Millis, PostId, SuggestionId, account, account::AccountStatus, performance_profile,
    post_numbers, post_suggestion, post_suggestion::SuggestionStatus, suggestion_round,
};
use fanfare_jobs::JobKind;
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait,
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, OnConflict},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    AccountName,
    formulas::{self, UP, shown},
    pace,
    pace::DAY,
    profile, suggested_caption, zone,
};
use crate::{
    Act, Domain, Reply, Tx, accounts,
    clock::{Time, show},
    durable::{self, Lease},
    error::{Code, Error, Result},
    posting_schedule,
};

/// The most suggestions of an account and week.
const MOST: usize = 3;

/// A post is suggested again once it is this old.
const OLD: Millis = 21 * DAY;

/// A post is not suggested twice within this time; pending suggestions go after it.
const KEPT: Millis = 60 * DAY;

/// The time of day at which suggestions are made, in hours.
const HOUR_OF_DAY: i64 = 6;

/// Which suggestions are asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionsQuery {
    /// Only those for an account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// `pending` (the default), `scheduled` or `dismissed`.
    #[serde(default)]
    pub status: Option<Wanted>,
    /// At most this many, up to 100; 20 if left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A status of suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Nothing became of it yet.
    Pending,
    /// A post was made of it.
    Scheduled,
    /// It was dismissed.
    Dismissed,
}

impl From<Wanted> for SuggestionStatus {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Pending => Self::Pending,
            Wanted::Scheduled => Self::Scheduled,
            Wanted::Dismissed => Self::Dismissed,
        }
    }
}

/// A post that an account may make.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Suggestion {
    id: SuggestionId,
    social_account_id: AccountId,
    platform: String,
    account: AccountName,
    /// The suggested text.
    caption: String,
    /// Why it is suggested.
    rationale: String,
    /// The ISO week it is for, such as `2026-W48`.
    period_key: String,
    /// `pending`, `scheduled` or `dismissed`.
    status: &'static str,
    /// The post that was made of it.
    post_id: Option<PostId>,
    created_at: Time,
}

/// Suggestions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Suggestions {
    suggestions: Vec<Suggestion>,
}

/// One suggestion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneSuggestion {
    suggestion: Suggestion,
}

/// What was suggested for an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Suggested {
    account_id: AccountId,
    /// How many suggestions are new.
    suggestions: usize,
}

/// The account on a simulated network for which posts are suggested now.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestNow {
    /// The account.
    #[serde(deserialize_with = "crate::input::number_or_text")]
    #[schemars(schema_with = "crate::input::id_schema")]
    pub account_id: i64,
}

/// Takes the row of an account, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<suggestion_round::Model>> {
    let now = cx.clock.now();
    let taken =
        durable::claim(&cx.db.write, JobKind::DeriveSuggestions, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Suggests posts for a claimed account, and gives it back until next Monday.
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
    let lease = Lease { id: round.id.0, fencing_token: round.fence };
    durable::release(cx, JobKind::DeriveSuggestions, &[lease], next).await
}

/// Next Monday at six in the workspace's zone.
async fn next_round(cx: &Domain, row: &account::Model) -> Result<Millis> {
    let home = posting_schedule::home_zone(cx, row).await?;
    let today = zone::date_at(home, cx.clock.now() - HOUR_OF_DAY * 3_600_000);
    let monday = formulas::monday_after(today);
    let six = NaiveTime::MIN + TimeDelta::hours(HOUR_OF_DAY);
    Ok(zone::at(home, monday.and_time(six)).timestamp_millis())
}

/// Suggests posts for this week, unless that was done.
pub(super) async fn derive(cx: &Domain, row: &account::Model) -> Result<usize> {
    let is_measured =
        performance_profile::Entity::find_by_id(row.id).one(&cx.db.write).await?.is_some();
    if !is_measured || !super::includes_loop(cx, row.workspace_id).await? {
        return Ok(0);
    }
    let home = posting_schedule::home_zone(cx, row).await?;
    let period_key = formulas::week(zone::date_at(home, cx.clock.now()));
    let Some(network) = super::of(cx, row) else { return Ok(0) };
    let means = (network, pace(cx, row), posting_schedule::zone_of(cx, row).await?);
    if is_made(cx, row.id, &period_key).await? {
        return Ok(0);
    }
    let tx = Tx::begin(cx).await?;
    let found = subjects(&tx, row, means).await?;
    // A model may take its time: no transaction waits for it.
    tx.commit().await?;
    let mut worded = Vec::new();
    for subject in found {
        if let Some(caption) = suggested_caption::write(cx, row, &subject.caption).await? {
            worded.push(Subject { caption, ..subject });
        }
    }
    let tx = Tx::begin(cx).await?;
    let mut made = 0;
    for (place, subject) in worded.into_iter().enumerate() {
        made += insert(&tx, row, &period_key, place, subject).await?;
    }
    tx.commit().await?;
    Ok(made)
}

/// Returns true if a week's suggestions are there.
async fn is_made(cx: &Domain, id: AccountId, period_key: &str) -> Result<bool> {
    let made = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::AccountId.eq(id))
        .filter(post_suggestion::Column::PeriodKey.eq(period_key));
    Ok(made.one(&cx.db.write).await?.is_some())
}

/// A post to follow.
struct Subject {
    row: post_numbers::Model,
    caption: String,
    lift: f64,
    posts: usize,
}

/// The posts of the highest lift that are old enough and were not suggested lately.
async fn subjects(tx: &Tx, row: &account::Model, means: profile::Means) -> Result<Vec<Subject>> {
    let sample = profile::sample(tx, row, means).await?;
    let Some(median) = formulas::median(sample.iter().map(|post| post.rate)).filter(|it| *it > 0.0)
    else {
        return Ok(Vec::new());
    };
    let recent = recent(tx, row.id, tx.now() - means.1.shortened(KEPT)).await?;
    let mut best: Vec<_> = sample
        .iter()
        .filter(|post| post.age > OLD && !recent.contains(&post.id))
        .map(|post| (post.rate / median, post.id))
        .filter(|(lift, _)| *lift >= UP)
        .collect();
    best.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    let mut subjects = Vec::new();
    for (lift, id) in best {
        let found = post_numbers::Entity::find_by_id(id).one(tx.conn()).await?;
        let Some(found) = found else { continue };
        let Some(caption) = caption(row, &found.caption) else { continue };
        subjects.push(Subject { row: found, caption, lift, posts: sample.len() });
        if subjects.len() == MOST {
            break;
        }
    }
    Ok(subjects)
}

/// The old caption, if there is one and the network still takes it.
fn caption(row: &account::Model, old: &str) -> Option<String> {
    let platform = crate::posts::platform(&row.platform).ok()?;
    let rules = fanfare_platforms::find(platform).spec().caption;
    let caption = old.trim();
    let fits = !caption.is_empty() && (rules.count)(caption) <= rules.max;
    fits.then(|| caption.to_owned())
}

/// The posts that were suggested since then.
async fn recent(tx: &Tx, id: AccountId, since: Millis) -> Result<BTreeSet<i64>> {
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
    let (now, lift, n) = (tx.now(), shown(subject.lift), subject.posts);
    let which = match subject.row.post_id {
        Some(post) => format!("Post {post}"),
        None => "A post made elsewhere".to_owned(),
    };
    let day = show(subject.row.published_at).chars().take(10).collect::<String>();
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

/// Suggests posts for an account on a simulated network at once.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn derive_now(act: &Act, id: AccountId) -> Result<Reply<Suggested>> {
    let row = accounts::find(act, id).await?;
    if !row.sandbox {
        let message = format!("Account {id} is not on a simulated network.");
        return Err(Error::new(Code::AccountNotFound, message));
    }
    let made = derive(&act.cx, &row).await?;
    let tx = act.begin().await?;
    let suggested = Suggested { account_id: row.id, suggestions: made };
    act.finish(tx, Reply::ok(&suggested)).await
}

/// Lists the suggestions of the caller's workspace, newest first.
///
/// # Errors
/// A limit that cannot be, or an account that is not there.
pub async fn list(act: &Act, query: SuggestionsQuery) -> Result<Reply<Suggestions>> {
    let limit = super::limit(query.limit, 20, 100)?;
    let visible = super::visible_accounts(act, query.account_id).await?;
    let ids = visible.iter().map(|row| row.id);
    let status = SuggestionStatus::from(query.status.unwrap_or(Wanted::Pending));
    let rows = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_suggestion::Column::AccountId.is_in(ids))
        .filter(post_suggestion::Column::Status.eq(status))
        .order_by_desc(post_suggestion::Column::CreatedAt)
        .order_by_asc(post_suggestion::Column::Ordinal)
        .limit(limit)
        .all(&act.cx.db.read)
        .await?;
    let account = |id| visible.iter().find(|row| row.id == id);
    let suggestions = rows.iter();
    let suggestions =
        suggestions.filter_map(|row| Some(Suggestion::of(row, account(row.account_id)?))).collect();
    Ok(Reply::ok(&Suggestions { suggestions }))
}

impl Suggestion {
    fn of(row: &post_suggestion::Model, account: &account::Model) -> Self {
        Self {
            id: row.id,
            social_account_id: row.account_id,
            platform: row.platform.clone(),
            account: AccountName::of(account),
            caption: row.caption.clone(),
            rationale: row.rationale.clone(),
            period_key: row.period_key.clone(),
            status: status_name(row.status),
            post_id: row.post_id,
            created_at: Time(row.created_at),
        }
    }
}

const fn status_name(status: SuggestionStatus) -> &'static str {
    match status {
        SuggestionStatus::Pending => "pending",
        SuggestionStatus::Scheduled => "scheduled",
        SuggestionStatus::Dismissed => "dismissed",
    }
}

/// Dismisses a suggestion; a second time changes nothing.
///
/// # Errors
/// [`Code::SuggestionNotFound`], [`Code::SuggestionAlreadyScheduled`].
pub async fn dismiss(act: &Act, id: SuggestionId) -> Result<Reply<OneSuggestion>> {
    let found = || {
        post_suggestion::Entity::find_by_id(id)
            .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
    };
    let row = found().one(&act.cx.db.read).await?.ok_or_else(not_found)?;
    let account = accounts::find(act, row.account_id)
        .await
        .map_err(|error| if error.code() == Code::AccountNotFound { not_found() } else { error })?;
    let tx = act.begin().await?;
    let row = found().lock_exclusive().one(tx.conn()).await?.ok_or_else(not_found)?;
    if row.status == SuggestionStatus::Scheduled {
        return Err(already_scheduled(&row));
    }
    let dismissed = post_suggestion::ActiveModel {
        id: Set(row.id),
        status: Set(SuggestionStatus::Dismissed),
        updated_at: Set(act.cx.clock.now()),
        ..Default::default()
    };
    let row = dismissed.update(tx.conn()).await?;
    let suggestion = Suggestion::of(&row, &account);
    act.finish(tx, Reply::ok(&OneSuggestion { suggestion })).await
}

fn not_found() -> Error {
    Error::new(Code::SuggestionNotFound, "There is no such suggestion.")
}

fn already_scheduled(row: &post_suggestion::Model) -> Error {
    let post = row.post_id.map(|post| format!(" as post {post}")).unwrap_or_default();
    let message = format!("The suggestion is already scheduled{post}.");
    Error::new(Code::SuggestionAlreadyScheduled, message)
}

/// Checks that a post may be made of a suggestion, before anything is written.
///
/// # Errors
/// What [`take`] refuses, and a suggestion for another account.
pub(crate) async fn check(act: &Act, id: SuggestionId, account: AccountId) -> Result<()> {
    let row = post_suggestion::Entity::find_by_id(id)
        .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
        .one(&act.cx.db.read)
        .await?;
    let row = row.filter(|row| row.workspace_id == act.membership.workspace_id);
    let row = row.ok_or_else(not_found)?;
    if row.account_id != account {
        let message = format!("The suggestion is for account {}.", row.account_id);
        let remedy = "Post it on the account that it is for, or leave suggestion_id out.";
        return Err(Error::field(Code::InvalidField, "suggestion_id", message, remedy));
    }
    require_pending(&row)
}

fn require_pending(row: &post_suggestion::Model) -> Result<()> {
    match row.status {
        SuggestionStatus::Pending => Ok(()),
        SuggestionStatus::Scheduled => Err(already_scheduled(row)),
        SuggestionStatus::Dismissed => {
            Err(Error::new(Code::SuggestionDismissed, "The suggestion was dismissed."))
        }
    }
}

/// Gives a suggestion to a post in the transaction that makes it: of two posts one gets it.
///
/// # Errors
/// [`Code::SuggestionAlreadyScheduled`], [`Code::SuggestionDismissed`].
pub(crate) async fn take<C: ConnectionTrait>(
    conn: &C,
    id: SuggestionId,
    post: PostId,
    now: Millis,
) -> Result<()> {
    let taken = post_suggestion::Entity::update_many()
        .col_expr(post_suggestion::Column::Status, Expr::value(SuggestionStatus::Scheduled))
        .col_expr(post_suggestion::Column::PostId, Expr::value(post.0))
        .col_expr(post_suggestion::Column::UpdatedAt, Expr::value(now))
        .filter(post_suggestion::Column::Id.eq(id))
        .filter(post_suggestion::Column::Status.eq(SuggestionStatus::Pending))
        .exec(conn)
        .await?;
    if taken.rows_affected == 1 {
        return Ok(());
    }
    let row = post_suggestion::Entity::find_by_id(id).one(conn).await?.ok_or_else(not_found)?;
    require_pending(&row)
}

/// Makes the suggestion of a post pending again that is deleted before it was public.
pub(crate) async fn free<C: ConnectionTrait>(conn: &C, post: PostId, now: Millis) -> Result<()> {
    post_suggestion::Entity::update_many()
        .col_expr(post_suggestion::Column::Status, Expr::value(SuggestionStatus::Pending))
        .col_expr(post_suggestion::Column::PostId, Expr::value(None::<i64>))
        .col_expr(post_suggestion::Column::UpdatedAt, Expr::value(now))
        .filter(post_suggestion::Column::PostId.eq(post))
        .exec(conn)
        .await?;
    Ok(())
}

/// Deletes suggestions of which nothing became in their time.
pub(super) async fn prune(cx: &Domain) -> Result<u64> {
    let gone = post_suggestion::Entity::delete_many()
        .filter(post_suggestion::Column::Status.eq(SuggestionStatus::Pending))
        .filter(post_suggestion::Column::CreatedAt.lt(cx.clock.now() - KEPT))
        .exec(&cx.db.write)
        .await?;
    Ok(gone.rows_affected)
}
