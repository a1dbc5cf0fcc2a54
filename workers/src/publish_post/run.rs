//! The work on one claimed post: what is known of it, and what is written before a step.

use std::{sync::Arc, time::Duration};

use fanfare_core::{
    Result,
    db_retry::retry_while_unavailable,
    durable::{LEASE, Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, post};
use fanfare_jobs::JobKind;
use fanfare_metrics::record;
use fanfare_platforms::{Draft, Phase, Platform, Step};
use fanfare_publishing::{
    network_limits::LimitNames,
    posts::publishing::{Attempt, BeginStep},
};
use serde_json::Value;

use super::{attempt, rate_limit::RateLimitRequest, retry_policy::millis};
use crate::{
    Context,
    dispatcher::LineEntry,
    lease::{lost, renewing},
};

/// The time by which the lease of a commit call outlasts its deadline.
const LEASE_MARGIN: Duration = Duration::from_secs(10);

/// The work on one claimed post, from the claim until the row is given back.
pub struct Run<'a> {
    pub(super) cx: &'a Context,
    pub(super) platform: &'static dyn Platform,
    pub(super) row: Box<post::Model>,
    pub(super) lease: Lease,
    pub(super) draft: Draft,
    pub(super) state: Option<Value>,
    pub(super) partly_public: bool,
    /// Public objects that its steps have made.
    pub(super) made: Vec<String>,
    pub(super) attempt: Attempt,
    /// The names of its account and its app in the rate limits.
    pub(super) limit_names: Option<LimitNames>,
    /// The number of calls it has asked the rate limits for.
    pub(super) calls: u32,
    /// The rate limit that the next call has acquired.
    pub(super) rate_limit: Option<Arc<RateLimitRequest>>,
    /// Its position in the line of its account, once its time has come.
    pub(super) line_entry: Option<LineEntry>,
}

impl<'a> Run<'a> {
    /// Starts work on a claimed row.
    pub async fn open(
        cx: &'a Context,
        platform: &'static dyn Platform,
        row: Box<post::Model>,
        draft: Draft,
    ) -> Result<Run<'a>> {
        let attempt = attempt::open(cx, &row).await?;
        let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
        let (state, partly_public) = (row.state.clone(), row.partly_public);
        let membership = (row.sending_at.is_none() && !row.out_of_line)
            .then_some(row.scheduled_at)
            .flatten()
            .filter(|at| *at <= cx.now())
            .map(|at| cx.post_dispatcher.join(row.account_id, (at, row.id.0)));
        Ok(Self {
            cx,
            platform,
            row,
            lease,
            draft,
            state,
            partly_public,
            made: Vec::new(),
            attempt,
            limit_names: None,
            calls: 0,
            rate_limit: None,
            line_entry: membership,
        })
    }

    /// Returns true if too many leases of this row have expired in a row.
    pub fn has_too_many_expirations(&self) -> bool {
        self.row.lease_expirations > MAX_LEASE_EXPIRATIONS
            && mutation::is_off(Mutation::TooManyExpirations)
    }

    /// Returns true if its time is too long ago to begin now.
    pub fn is_missed(&self) -> bool {
        let late = self.latest_start().is_some_and(|latest| self.cx.now() > latest);
        late && !self.partly_public && self.row.sending_at.is_none()
    }

    /// Returns the latest time at which it may still go out.
    pub(super) fn latest_start(&self) -> Option<Millis> {
        let at = self.row.scheduled_at?;
        Some(at.saturating_add(fanfare_publishing::settings(&self.cx.domain).max_lateness))
    }

    /// Returns true if a part of it is public, or a commit call may have been carried out.
    pub fn may_be_public(&self) -> bool {
        self.partly_public || self.row.sending_at.is_some()
    }

    /// Writes the step into the ledger, and leases the row for as long as the call may take from `now` on.
    pub(super) async fn write_begin_step(&mut self, step: &Step, now: Millis) -> Result<bool> {
        // The call renews the lease after a third of its time.
        let mut lease_until = now + LEASE / 2;
        if step.phase == Phase::Commit {
            let until = now + millis(self.platform.spec().commit_deadline);
            // A call that is made again under its key is as old as the first one.
            let first = self.row.sending_at.filter(|_| self.is_repeated());
            self.row.sending_at = first.or(Some(now));
            self.row.sending_until = Some(until);
            lease_until = lease_until.max(until + millis(LEASE_MARGIN));
        }
        let begun = Arc::new(BeginStep {
            lease: self.lease,
            attempt: self.attempt.clone(),
            sending: self.sending().filter(|_| mutation::is_off(Mutation::SendingWritten)),
            in_line: self.waits_in_line(step),
            lease_until,
        });
        self.cx.failpoint.reach("arming").await;
        // A call that was recorded and not made would have to be reconciled.
        let place = (&self.cx.domain.clock, &self.cx.failpoint);
        retry_while_unavailable(place, LEASE, || self.cx.begin_step.call((), Arc::clone(&begun)))
            .await
    }

    /// Records how late a post is at its first commit call: after its scheduled time, or after the later time that the
    /// network's limits gave it. Later calls wait for reasons of their own and are not counted.
    pub(super) fn count_lateness(&self, step: &Step, now: Millis) {
        if let Some(at) = self.row.scheduled_at
            && step.phase == Phase::Commit
            && self.attempt.number == 1
            && !self.is_repeated()
            && !self.partly_public
        {
            let at = self.row.next_attempt_at.map_or(at, |turn| turn.max(at));
            let platform = self.platform.spec().id.as_str();
            record::lateness(platform, now - at);
            self.cx.counters.began(JobKind::PublishPost, platform, now - at);
        }
    }

    /// Returns true if the step waits for earlier posts of the account: every publishing call does, except one that
    /// repeats an unsettled call under its key.
    pub(super) fn waits_in_line(&self, step: &Step) -> bool {
        step.phase == Phase::Commit && !self.is_repeated()
    }

    /// Returns true if an earlier call under the same key is not settled.
    pub(super) const fn is_repeated(&self) -> bool {
        self.row.reconciling_at.is_some()
    }

    /// Returns start and deadline of a commit call that may have been carried out and is not settled.
    pub(super) fn sending(&self) -> Option<(Millis, Millis)> {
        self.row.sending_at.zip(self.row.sending_until)
    }

    /// Runs a call and renews the lease after each third of its time. A lost lease does not stop the call, which is
    /// already in flight; the fencing token discards its result.
    pub(super) async fn renew_during<T>(&self, call: impl Future<Output = T>) -> T {
        let third = Duration::from_millis(LEASE.unsigned_abs() / 3);
        renewing(call, || self.cx.domain.clock.sleep(third), || self.renew()).await
    }

    async fn renew(&self) {
        if mutation::is_on(Mutation::LeaseRenewed) {
            return;
        }
        self.cx.failpoint.reach("renewing").await;
        let until = self.cx.now() + LEASE;
        if let Ok(false) | Err(_) = self.cx.renew.call((), (self.lease, until)).await {
            lost(self.cx, JobKind::PublishPost, self.lease).await;
        }
        self.cx.failpoint.reach("renewed").await;
    }
}

pub(super) const fn begun_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "prepare_armed",
        Phase::Commit => "commit_armed",
        Phase::Confirm => "confirm_armed",
    }
}

pub(super) const fn called_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "prepare_called",
        Phase::Commit => "commit_called",
        Phase::Confirm => "confirm_called",
    }
}
