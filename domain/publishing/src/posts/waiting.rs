//! The reason why a post does not move on: the same for its owner and for operators.

use std::collections::{HashMap, HashSet};

use fanfare_core::{Domain, clock::Time, error::Result};
use fanfare_entities::{Millis, PostId, leaving_post, pause, post, post::PostStatus, unpaid_post};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::Serialize;

use super::{publishing, view::cause_of_question};
use crate::platforms;

/// The reasons why a post waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// Its time has not come.
    ScheduledTime,
    /// A person of the workspace has paused it.
    Paused,
    /// The subscription of the workspace is paused or has ended.
    Subscription,
    /// The workspace is to be deleted.
    WorkspaceDeletion,
    /// The operator of the service has paused publishing.
    OperatorPause,
    /// An earlier post of the account goes out first.
    AccountTurn,
    /// A limit of the platform allows it later.
    Limit,
    /// The last attempt failed, and it is tried again.
    Retry,
    /// Its files are being analysed or converted.
    Files,
    /// The platform is working on it.
    PlatformProcessing,
    /// The answer of the platform was lost, and the platform is asked what became of the post.
    OpenQuestion,
    /// It is due, and no worker has taken it yet.
    Worker,
}

/// What a post waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    /// The reason.
    pub reason: WaitReason,
    /// The reason, as a sentence.
    pub message: String,
    /// The time at which this wait began.
    pub since: Option<Time>,
    /// The time at which it ends or is looked at again; null if that is not known.
    pub until: Option<Time>,
}

/// What is known besides the rows: only what some of them need.
#[derive(Default)]
struct Surroundings {
    pauses: Vec<pause::Model>,
    /// The first post in the line of the account of each post.
    first: HashMap<i64, i64>,
    unpaid: HashSet<PostId>,
    leaving: HashSet<PostId>,
}

/// Returns what each of these posts waits for. A post that is under way or final waits for nothing.
///
/// # Errors
/// The database's.
pub async fn waiting_of(cx: &Domain, rows: &[post::Model]) -> Result<HashMap<PostId, Waiting>> {
    let (db, now) = (&cx.db.read, cx.clock.now());
    let mut known = Surroundings::default();
    let paused = ids(rows, |row| row.status == PostStatus::Paused);
    if !paused.is_empty() {
        let theirs = unpaid_post::Column::PostId.is_in(paused.clone());
        let found = unpaid_post::Entity::find().filter(theirs).all(db).await?;
        known.unpaid = found.into_iter().map(|row| row.post_id).collect();
        let theirs = leaving_post::Column::PostId.is_in(paused);
        let found = leaving_post::Entity::find().filter(theirs).all(db).await?;
        known.leaving = found.into_iter().map(|row| row.post_id).collect();
    }
    let held_up = ids(rows, |row| is_held_up(row, now));
    if !held_up.is_empty() {
        known.pauses = pause::Entity::find().all(db).await?;
        known.first = publishing::first_in_line(db, held_up.iter().map(|id| id.0)).await?;
    }
    let waits = |row: &post::Model| known.waiting(row, now).map(|waiting| (row.id, waiting));
    Ok(rows.iter().filter_map(waits).collect())
}

fn ids(rows: &[post::Model], is_meant: impl Fn(&post::Model) -> bool) -> Vec<PostId> {
    rows.iter().filter(|row| is_meant(row)).map(|row| row.id).collect()
}

/// Returns true for a post whose time has come and that no worker holds.
fn is_held_up(row: &post::Model, now: Millis) -> bool {
    is_open(row.status) && !is_early(row, now) && !is_under_way(row, now)
}

const fn is_open(status: PostStatus) -> bool {
    matches!(status, PostStatus::Scheduled | PostStatus::Publishing | PostStatus::Processing)
}

fn is_early(row: &post::Model, now: Millis) -> bool {
    row.status == PostStatus::Scheduled && row.scheduled_at.is_some_and(|at| at > now)
}

/// Returns true if a worker holds the row.
fn is_under_way(row: &post::Model, now: Millis) -> bool {
    row.lease_expirations > 0 && row.due_at.is_some_and(|until| until > now)
}

impl Surroundings {
    fn waiting(&self, row: &post::Model, now: Millis) -> Option<Waiting> {
        let waits = |reason, message: String, since: Option<Millis>, until: Option<Millis>| {
            Some(Waiting { reason, message, since: since.map(Time), until: until.map(Time) })
        };
        let begun = row.scheduled_at.unwrap_or(row.created_at).max(row.created_at);
        let changed = Some(row.updated_at);
        let network = platforms::label(&row.platform);
        if row.status == PostStatus::Paused {
            return if self.leaving.contains(&row.id) {
                let message = "Its workspace is to be deleted.";
                waits(WaitReason::WorkspaceDeletion, message.to_owned(), changed, None)
            } else if self.unpaid.contains(&row.id) {
                let message = "The subscription of its workspace is paused or has ended.";
                waits(WaitReason::Subscription, message.to_owned(), changed, None)
            } else {
                let message = "It is paused. It goes out once it is scheduled again.";
                waits(WaitReason::Paused, message.to_owned(), changed, None)
            };
        }
        if !is_open(row.status) {
            return None;
        }
        if is_early(row, now) {
            let message = "It goes out at its time.".to_owned();
            return waits(WaitReason::ScheduledTime, message, changed, row.scheduled_at);
        }
        if is_under_way(row, now) {
            return None;
        }
        if let Some((message, since)) = self.pause_of(row, network) {
            return waits(WaitReason::OperatorPause, message, Some(since.max(begun)), None);
        }
        let later = |at: Option<Millis>| at.filter(|at| *at > now);
        let due = later(row.due_at);
        if let Some(sent) = row.sending_at {
            let cause = cause_of_question(row);
            let message = format!("{cause} We are asking {network} whether it was published.");
            return waits(WaitReason::OpenQuestion, message, Some(sent), due);
        }
        let turn = later(row.next_attempt_at);
        // What lets others pass before its first step, and is not tried again, waits for its files.
        if row.out_of_line && row.state.is_none() && turn.is_none() {
            let message = "Its files are being prepared.".to_owned();
            return waits(WaitReason::Files, message, Some(begun), due);
        }
        let code = row.error.as_ref().and_then(|error| error["code"].as_str());
        let is_in_the_making = row.state.is_some() && code.is_none() && turn.is_none();
        if is_in_the_making && !row.behind && (row.out_of_line || due.is_some()) {
            let message = format!("{network} is working on it.");
            return waits(WaitReason::PlatformProcessing, message, changed, due);
        }
        if let Some(first) = self.first.get(&row.id.0).filter(|first| **first != row.id.0)
            && !row.out_of_line
        {
            let message = format!("Post {first} of the same account goes out first.");
            return waits(WaitReason::AccountTurn, message, Some(begun), turn);
        }
        match (turn, code) {
            (Some(at), None | Some("platform_rate_limited" | "quota_exhausted")) => {
                let message = format!("{network} takes its next post of this account later.");
                waits(WaitReason::Limit, message, changed, Some(at))
            }
            (Some(at), Some(_)) => {
                let message = "The last attempt failed, and it is tried again.".to_owned();
                waits(WaitReason::Retry, message, changed, Some(at))
            }
            (None, _) => {
                let message = "It is due; the next free worker takes it.".to_owned();
                waits(WaitReason::Worker, message, row.due_at.map(|at| at.min(now)), None)
            }
        }
    }

    /// Returns what holds a post back whose time has come, and since when. One without a time at which it is due has been
    /// set aside for a pause, which may have ended a moment ago.
    fn pause_of(&self, row: &post::Model, network: &str) -> Option<(String, Millis)> {
        let covers = |pause: &&pause::Model| {
            pause.platform.as_ref().is_none_or(|paused| *paused == row.platform)
                && pause.account_id.is_none_or(|paused| paused == row.account_id)
        };
        let by = "by the operator of this service";
        match self.pauses.iter().filter(covers).min_by_key(|pause| pause.created_at) {
            Some(pause) => {
                let what = match (&pause.platform, pause.account_id) {
                    (_, Some(_)) => "Publishing on this account".to_owned(),
                    (Some(_), None) => format!("Publishing to {network}"),
                    (None, None) => "All publishing".to_owned(),
                };
                Some((format!("{what} is paused {by}."), pause.created_at))
            }
            None if row.due_at.is_none() => {
                Some((format!("Publishing was paused {by}, and goes on."), row.updated_at))
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fanfare_entities::PauseId;
    use serde_json::json;

    use super::{super::view::failed_row as failed, *};

    const NOW: Millis = 1_000_000;

    fn due() -> post::Model {
        let mut row = failed("platform_unavailable");
        (row.status, row.error) = (PostStatus::Scheduled, None);
        (row.scheduled_at, row.due_at, row.created_at) = (Some(NOW - 5), Some(NOW - 5), 1);
        row
    }

    fn reason(known: &Surroundings, change: impl Fn(&mut post::Model)) -> Option<WaitReason> {
        let mut row = due();
        change(&mut row);
        known.waiting(&row, NOW).map(|waiting| waiting.reason)
    }

    #[test]
    fn every_state_has_its_reason() {
        let alone = Surroundings::default();
        let is = |change: fn(&mut post::Model)| reason(&alone, change);
        assert_eq!(is(|_| {}), Some(WaitReason::Worker));
        assert_eq!(is(|row| row.scheduled_at = Some(NOW + 9)), Some(WaitReason::ScheduledTime));
        assert_eq!(is(|row| row.status = PostStatus::Paused), Some(WaitReason::Paused));
        assert_eq!(is(|row| row.due_at = None), Some(WaitReason::OperatorPause));
        assert_eq!(is(|row| row.next_attempt_at = Some(NOW + 9)), Some(WaitReason::Limit));
        let failed = |row: &mut post::Model| {
            row.next_attempt_at = Some(NOW + 9);
            row.error = Some(json!({"code": "platform_unavailable"}));
        };
        assert_eq!(is(failed), Some(WaitReason::Retry));
        let asked = |row: &mut post::Model| {
            (row.status, row.sending_at) = (PostStatus::Publishing, Some(NOW - 3));
            row.due_at = Some(NOW + 60);
        };
        assert_eq!(is(asked), Some(WaitReason::OpenQuestion));
        let processed = |row: &mut post::Model| {
            (row.status, row.out_of_line) = (PostStatus::Processing, true);
            (row.state, row.due_at) = (Some(json!({})), Some(NOW + 60));
        };
        assert_eq!(is(processed), Some(WaitReason::PlatformProcessing));
        let processed_in_line = |row: &mut post::Model| {
            row.status = PostStatus::Processing;
            (row.state, row.due_at) = (Some(json!({})), Some(NOW + 60));
        };
        assert_eq!(is(processed_in_line), Some(WaitReason::PlatformProcessing));
        for status in [PostStatus::Draft, PostStatus::Published, PostStatus::Failed] {
            assert_eq!(reason(&alone, |row| row.status = status), None, "{status:?}");
        }
        let held = |row: &mut post::Model| (row.lease_expirations, row.due_at) = (1, Some(NOW + 9));
        assert_eq!(is(held), None);
        let dead = |row: &mut post::Model| (row.lease_expirations, row.due_at) = (1, Some(NOW - 9));
        assert_eq!(is(dead), Some(WaitReason::Worker));
    }

    #[test]
    fn what_surrounds_it_counts() {
        let mut known = Surroundings::default();
        known.first.insert(9, 8);
        assert_eq!(reason(&known, |_| {}), Some(WaitReason::AccountTurn));
        let ready = |row: &mut post::Model| {
            (row.state, row.due_at, row.behind) = (Some(json!({})), Some(NOW + 60), true);
        };
        assert_eq!(reason(&known, ready), Some(WaitReason::AccountTurn));
        assert_eq!(reason(&known, |row| row.out_of_line = true), Some(WaitReason::Files));
        known.unpaid.insert(PostId(9));
        let paused = |row: &mut post::Model| row.status = PostStatus::Paused;
        assert_eq!(reason(&known, paused), Some(WaitReason::Subscription));
        known.leaving.insert(PostId(9));
        assert_eq!(reason(&known, paused), Some(WaitReason::WorkspaceDeletion));
        known.pauses.push(pause::Model {
            id: PauseId::fresh(),
            platform: Some("bluesky".to_owned()),
            account_id: None,
            reason: "theirs".to_owned(),
            operator: "o@example.com".to_owned(),
            created_at: NOW - 3,
        });
        let waiting = known.waiting(&due(), NOW).unwrap();
        assert_eq!(waiting.reason, WaitReason::OperatorPause);
        assert_eq!(waiting.since, Some(Time(NOW - 3)));
        // Words of operators are for operators.
        assert_eq!(
            waiting.message,
            "Publishing to Bluesky is paused by the operator of this service."
        );
        let elsewhere = reason(&known, |row| row.platform = "mastodon".to_owned());
        assert_eq!(elsewhere, Some(WaitReason::AccountTurn));
    }
}
