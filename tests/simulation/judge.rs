//! Checks invariants after every step, and at the end.

use std::collections::{BTreeMap, BTreeSet};

use fanfare_core::durable::MAX_LEASE_EXPIRATIONS;
use fanfare_entities::Millis;
use fanfare_platforms::{ErrorKind, Phase};
use uuid::Uuid;

use crate::{
    kind::Kind,
    lockstep::Actor,
    network::{Call, Entry},
    rows::Row,
};

/// A violated invariant.
pub type Violation = String;

/// Returns a violation unless a condition holds.
macro_rules! hold {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}
pub(crate) use hold;

/// The cause of a change, and its time.
#[derive(Debug, Clone, Copy)]
pub struct Cause {
    pub actor: Option<Actor>,
    pub now: Millis,
}

/// The holder of a row.
#[derive(Debug, Clone, Copy)]
struct Holder {
    worker: usize,
    fencing_token: i64,
}

/// The known facts about a post besides its row.
#[derive(Debug, Default)]
pub struct PostRecord {
    /// The number of times it may be public: once, and once more for each time a caller has accepted the risk.
    pub allowed: usize,
    /// Failed calls, by kind.
    pub faults: BTreeMap<&'static str, usize>,
    /// Commit calls that were recorded.
    pub sent: usize,
    /// True if it was reported as possibly public.
    flagged: bool,
    /// The number of times it reached a final status.
    pub ends: usize,
    /// The most leases in a row that expired.
    lease_expirations: i32,
}

/// The invariant checker of a simulation.
#[derive(Debug)]
pub struct Judge {
    kind: Kind,
    pub rows: BTreeMap<i64, Row>,
    pub cases: BTreeMap<i64, PostRecord>,
    /// True if an account was disconnected.
    pub disconnected: bool,
    keys: BTreeMap<Uuid, i64>,
    holders: BTreeMap<i64, Holder>,
}

impl Judge {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            rows: BTreeMap::new(),
            cases: BTreeMap::new(),
            disconnected: false,
            keys: BTreeMap::new(),
            holders: BTreeMap::new(),
        }
    }

    /// Returns the post with this content.
    pub fn post_of(&self, key: Uuid) -> Option<i64> {
        self.keys.get(&key).copied()
    }

    /// Notes that a call for a post failed.
    pub fn note_fault(&mut self, key: Uuid, what: &'static str) {
        if let Some(case) = self.post_of(key).and_then(|post| self.cases.get_mut(&post)) {
            *case.faults.entry(what).or_default() += 1;
        }
    }

    /// Compares the rows with the previous ones; returns a description of the changes.
    pub fn check_rows(
        &mut self,
        now: BTreeMap<i64, Row>,
        cause: Cause,
        calls: &[Call],
    ) -> Result<Vec<String>, Violation> {
        let before = std::mem::replace(&mut self.rows, now);
        let mut changes = Vec::new();
        for row in self.rows.values() {
            self.keys.insert(row.content_key, row.id);
            let case = self
                .cases
                .entry(row.id)
                .or_insert_with(|| PostRecord { allowed: 1, ..PostRecord::default() });
            let Some(old) = before.get(&row.id) else {
                changes.push(format!("post {} is made, {}", row.id, row.status));
                continue;
            };
            if old == row {
                continue;
            }
            changes.push(describe(old, row, cause.now));
            changed(old, row, cause, &mut self.holders, calls)?;
            if old.duplicate_risk && !row.duplicate_risk {
                case.allowed += 1;
            }
            if row.sending_at.is_some() && row.sending_at != old.sending_at {
                in_order(row, &self.rows)?;
            }
            case.sent += usize::from(row.sending_at.is_some() && row.sending_at != old.sending_at);
            case.flagged |= row.duplicate_risk;
            case.lease_expirations = case.lease_expirations.max(row.lease_expirations);
            case.ends += usize::from(row.is_final() && !old.is_final());
            if row.status == "failed" && old.status != "failed" {
                justified(self.kind, row, case, self.disconnected)?;
            }
        }
        for gone in before.keys().filter(|id| !self.rows.contains_key(id)) {
            hold!(by_caller(cause), "post {gone} was deleted by a worker");
            changes.push(format!("post {gone} is deleted"));
        }
        Ok(changes)
    }

    /// Checks that a call was allowed when it began.
    pub fn check_call(&self, call: &Call, now_of_worker: Millis) -> Result<(), Violation> {
        if call.ask.phase() != Phase::Commit {
            return Ok(());
        }
        let post = call.actor.post;
        let Some(row) = self.rows.get(&post) else {
            return Err(format!("post {post} is being published although it was deleted"));
        };
        hold!(
            row.status == "publishing" || row.status == "processing",
            "post {post} is being published although it is {}",
            row.status
        );
        hold!(
            row.content_key == call.key,
            "post {post} is being published as it was before a change"
        );
        hold!(
            row.scheduled_at.is_some_and(|at| at <= now_of_worker),
            "post {post} is being published before its time"
        );
        hold!(row.sending_at.is_some(), "post {post} is being published, and nothing says so");
        let held = self.holders.get(&post);
        hold!(
            held.is_some_and(
                |held| held.worker == call.actor.worker && held.fencing_token == row.fencing_token
            ),
            "post {post} is being published by worker {}, which has lost it",
            call.actor.worker
        );
        Ok(())
    }

    /// Returns the fencing token of a call, if its worker's lease is long enough to be renewed.
    pub fn shield_of(&self, call: &Call, now_of_worker: Millis) -> Option<i64> {
        let (row, held) = (self.rows.get(&call.actor.post)?, self.holders.get(&call.actor.post)?);
        let holds = held.worker == call.actor.worker && held.fencing_token == row.fencing_token;
        let lasts = row.due_at.is_some_and(|due| due >= now_of_worker + 25_000);
        (holds && lasts).then_some(row.fencing_token)
    }

    /// Checks that a job was enqueued only after a commit.
    pub fn check_job(&self, post: i64, now: Millis) -> Result<(), Violation> {
        let due = self.rows.get(&post).and_then(|row| row.due_at);
        hold!(
            due.is_some_and(|due| due <= now),
            "post {post} was enqueued, and nothing was committed"
        );
        Ok(())
    }

    /// Checks that public entries are public once, and under their own content.
    pub fn check_public(&self, entries: &[Entry]) -> Result<(), Violation> {
        let mut counted: BTreeMap<i64, usize> = BTreeMap::new();
        for post in entries.iter().filter_map(|entry| self.post_of(entry.key)) {
            *counted.entry(post).or_default() += 1;
        }
        for (post, times) in &counted {
            let allowed = self.cases[post].allowed;
            hold!(*times <= allowed, "post {post} is public {times} times");
        }
        for row in self.rows.values().filter(|row| row.status == "published") {
            let id = row.platform_post_id.as_deref().unwrap_or("");
            let entry = entries.iter().find(|entry| entry.id == id);
            let own = entry.is_some_and(|entry| entry.key == row.content_key);
            hold!(own, "post {} is called published as {id:?}, which is not it", row.id);
        }
        Ok(())
    }

    /// Checks the end: posts that failed or were held back are not public.
    pub fn check_end(&self, entries: &[Entry]) -> Result<(), Violation> {
        let public: BTreeSet<i64> =
            entries.iter().filter_map(|entry| self.post_of(entry.key)).collect();
        for (post, case) in &self.cases {
            let row = self.rows.get(post);
            let status = row.map_or("deleted", |row| row.status.as_str());
            hold!(
                !row.is_some_and(Row::is_on_its_way),
                "post {post} stays {status} for ever: {row:?}"
            );
            // A partly public post is marked so, and continues from there.
            let said = case.flagged || row.is_some_and(|row| row.partly_public);
            let expected = status == "published" || said;
            hold!(expected || !public.contains(post), "post {post} is {status}, but public");
        }
        Ok(())
    }
}

/// Checks that no earlier post of the account is still waiting when a post starts to be published.
fn in_order(row: &Row, rows: &BTreeMap<i64, Row>) -> Result<(), Violation> {
    let earlier = rows.values().find(|other| {
        other.account_id == row.account_id
            && other.stands_in_line()
            && (other.scheduled_at, other.id) < (row.scheduled_at, row.id)
    });
    hold!(
        earlier.is_none(),
        "post {} is published before post {}, which stands in line before it",
        row.id,
        earlier.map_or(0, |other| other.id)
    );
    Ok(())
}

/// Returns true if a caller caused it.
fn by_caller(cause: Cause) -> bool {
    cause.actor.is_some_and(|actor| actor.worker == 0)
}

/// Checks a change of one row.
fn changed(
    old: &Row,
    row: &Row,
    cause: Cause,
    holders: &mut BTreeMap<i64, Holder>,
    calls: &[Call],
) -> Result<(), Violation> {
    let post = row.id;
    hold!(row.fencing_token >= old.fencing_token, "the fencing_token of post {post} fell");
    hold!(
        row.due_at.is_some() == row.is_on_its_way(),
        "post {post} is {} and due at {:?}",
        row.status,
        row.due_at
    );
    if by_caller(cause) {
        let held = ["scheduled", "draft", "paused", "failed"].contains(&old.status.as_str());
        hold!(held, "a caller changed post {post}, which was {}", old.status);
        holders.remove(&post);
        return Ok(());
    }
    hold!(old.due_at.is_some(), "post {post} was {}, and a worker changed it", old.status);
    let Some(actor) = cause.actor else {
        return if old.rank() == row.rank() {
            Ok(())
        } else {
            Err(format!("post {post} changed by itself"))
        };
    };
    if row.lease_expirations > old.lease_expirations {
        hold!(
            old.due_at.is_some_and(|due| due <= cause.now),
            "worker {} took post {post} before it was due",
            actor.worker
        );
        let robbed = calls.iter().find(|call| {
            call.actor.post == post && call.shielded == Some(old.fencing_token) && call.go.is_some()
        });
        hold!(
            robbed.is_none(),
            "post {post} was taken from worker {}, which lives",
            robbed.map_or(0, |call| call.actor.worker)
        );
        holders.insert(post, Holder { worker: actor.worker, fencing_token: row.fencing_token });
        return Ok(());
    }
    // A worker may change a row only while it holds the lease.
    if row.rank() != old.rank() {
        let held = holders.get(&post);
        hold!(
            held.is_some_and(
                |held| held.worker == actor.worker && held.fencing_token == old.fencing_token
            ),
            "worker {} changed post {post}, which it had lost",
            actor.worker
        );
    }
    Ok(())
}

impl Row {
    /// Returns the columns that only a holder may change.
    fn rank(&self) -> (&str, i64, i32, Option<Millis>, Option<&str>) {
        let id = self.platform_post_id.as_deref();
        (&self.status, self.fencing_token, self.attempt, self.sending_at, id)
    }
}

/// Checks that a failure has a cause.
fn justified(
    kind: Kind,
    row: &Row,
    case: &PostRecord,
    disconnected: bool,
) -> Result<(), Violation> {
    let count = |what: &str| case.faults.get(what).copied().unwrap_or(0);
    let (code, post) = (row.code(), row.id);
    let reason = match code {
        // Several workers died with it; each claim has checked that no lease was taken early.
        "internal_error" => case.lease_expirations > MAX_LEASE_EXPIRATIONS,
        "platform_unavailable" => count("trouble") >= 5,
        "account_disconnected" => disconnected,
        "content_rejected" | "content_refused" => count("rejected") >= 1,
        // A reply that was lost once is told to be safe to send again; several workers may have died with it.
        "provider_unreachable" if kind == Kind::Replies => {
            count("trouble") >= 1
                || case.lease_expirations > MAX_LEASE_EXPIRATIONS
                || case.sent >= 1
        }
        "platform_rate_limited" if kind == Kind::Replies => count("limited") >= 1,
        "outcome_unknown" => case.sent >= 1 && row.duplicate_risk,
        _ => false,
    };
    hold!(reason, "post {post} failed with {code:?} for no reason: {:?}", case.faults);
    hold!(row.duplicate_risk == (code == "outcome_unknown"), "post {post}: risk and {code} differ");
    Ok(())
}

/// Returns the name of a kind of fault.
pub fn fault_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Rejected => "rejected",
        ErrorKind::RateLimited => "limited",
        _ => "trouble",
    }
}

fn describe(old: &Row, row: &Row, now: Millis) -> String {
    let mut words = vec![format!("post {}", row.id)];
    if old.status != row.status {
        words.push(format!("{} → {}", old.status, row.status));
    }
    if old.fencing_token != row.fencing_token {
        words.push(format!("fencing_token {}", row.fencing_token));
    }
    if old.lease_expirations != row.lease_expirations {
        words.push(format!("lease_expirations {}", row.lease_expirations));
    }
    if old.due_at != row.due_at {
        words.push(row.due_at.map_or("not due".into(), |due| format!("due in {} ms", due - now)));
    }
    if old.sending_at != row.sending_at {
        words.push(if row.sending_at.is_some() { "sending" } else { "not sending" }.into());
    }
    if row.code() != old.code() {
        words.push(format!("error {:?}", row.code()));
    }
    if let Some(id) = row.platform_post_id.as_ref().filter(|_| old.platform_post_id.is_none()) {
        words.push(format!("public as {id}"));
    }
    words.join(", ")
}
