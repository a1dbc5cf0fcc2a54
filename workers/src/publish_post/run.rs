//! The steps of one post, each recorded before it begins.

use std::{sync::Arc, time::Duration};

use fanfare_domain::{
    Result,
    accounts::{self, RefreshOutcome},
    db_retry::retry_while_unavailable,
    durable::{LEASE, Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
    network_limits::LimitNames,
    posts::{
        PostStatus,
        publishing::{Attempt, BeginStep},
    },
};
use fanfare_entities::{Millis, account, post};
use fanfare_jobs::JobKind;
use fanfare_metrics::record;
use fanfare_platforms::{self as platforms, Draft, Phase, Platform, Progress, Session, Step};
use serde_json::Value;

use super::{
    attempt,
    rate_limit::RateLimitRequest,
    retry_policy::{Failure, RetryAction, decide, log_reply, millis},
};
use crate::{
    Context,
    dispatcher::{LineEntry, Slot},
    lease::renewing,
};

/// The time by which the lease of a commit call outlasts its deadline.
const LEASE_MARGIN: Duration = Duration::from_secs(10);

/// The longest time between recording a commit call and making it: the call must be over before anybody asks about it,
/// ten seconds after the recorded deadline, and clocks differ a little.
const MAX_START_DELAY: Duration = Duration::from_secs(5);

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

/// The next action after a step.
pub(super) enum StepOutcome {
    /// Take the next step.
    Step,
    /// Take the same step again, with fresh tokens.
    Refresh(platforms::Error),
    /// Stop: the row was given back, or another worker has it.
    Done,
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
        Some(at.saturating_add(self.cx.domain.settings.max_lateness))
    }

    /// Returns true if a part of it is public, or a commit call may have been carried out.
    pub fn may_be_public(&self) -> bool {
        self.partly_public || self.row.sending_at.is_some()
    }

    /// Takes steps until the post is public, has failed, or must wait.
    pub async fn publish(mut self, account: &account::Model, mut session: Session) -> Result<()> {
        self.limit_names = Some(LimitNames::of(self.platform, account, &session));
        if self.row.sending_at.is_some()
            && mutation::is_off(Mutation::Reconciled)
            && matches!(self.reconcile(&session).await?, StepOutcome::Done)
        {
            return Ok(());
        }
        let id = self.platform.spec().id;
        accounts::renew(&self.cx.domain, id, account, &mut session).await?;
        let mut fresh = false;
        // The network would refuse the token too, but only after a step was tried in vain.
        let mut stale = self.is_token_expiring(account).then(|| {
            platforms::Error::new(
                platforms::ErrorKind::TokenExpired,
                "The access token is about to end.",
            )
        });
        loop {
            let next = match stale.take() {
                Some(error) => StepOutcome::Refresh(error),
                None => self.step(account, &mut session).await?,
            };
            match next {
                StepOutcome::Step => fresh = false,
                StepOutcome::Done => return Ok(()),
                StepOutcome::Refresh(error) if fresh => {
                    return self.fail_token_expired(&error).await;
                }
                StepOutcome::Refresh(error) => match self.refresh(account, &error).await? {
                    Some(again) => (session, fresh) = (again, true),
                    None => return Ok(()),
                },
            }
        }
    }

    /// Returns true if the token will expire before a step could end, and can be refreshed.
    fn is_token_expiring(&self, account: &account::Model) -> bool {
        let soon = self.cx.now() + millis(self.platform.spec().commit_deadline);
        account.refresh_at.is_some() && account.token_expires_at.is_some_and(|end| end <= soon)
    }

    /// Returns a session with fresh tokens, or `None` if the row was given back or has failed.
    async fn refresh(
        &mut self,
        account: &account::Model,
        error: &platforms::Error,
    ) -> Result<Option<Session>> {
        let (cx, id) = (&self.cx.domain, self.platform.spec().id);
        match accounts::refresh(cx, id, account.id, account.secret_id).await? {
            RefreshOutcome::Fresh => {}
            RefreshOutcome::Elsewhere => {
                self.wait(self.cx.now() + 1_000, None).await?;
                return Ok(None);
            }
            RefreshOutcome::Impossible => {
                self.fail_token_expired(error).await?;
                return Ok(None);
            }
            RefreshOutcome::Failed(error) => {
                self.refresh_failed(&error).await?;
                return Ok(None);
            }
        }
        let again = self.fresh_session(account.id).await?;
        if again.is_none() {
            self.fail_with(Failure::disconnected()).await?;
        }
        Ok(again)
    }

    async fn fresh_session(&self, id: fanfare_entities::AccountId) -> Result<Option<Session>> {
        match accounts::row(&self.cx.domain, id).await? {
            Some(account) => accounts::session(&self.cx.domain, &account).await,
            None => Ok(None),
        }
    }

    /// Takes one step.
    async fn step(
        &mut self,
        account: &account::Model,
        session: &mut Session,
    ) -> Result<StepOutcome> {
        let step = self.platform.step(&self.draft, self.state.as_ref());
        let now = self.cx.now();
        if step.phase == Phase::Commit {
            let at = self.row.scheduled_at.unwrap_or(now);
            // Everything is prepared. The public call waits for its time; the claim at that time makes it.
            let early = now < at || self.row.status == PostStatus::Scheduled;
            if early && mutation::is_off(Mutation::CommitInTime) {
                self.wait(at, None).await?;
                return Ok(StepOutcome::Done);
            }
        }
        let Some(mut slot) = self.acquire(&step, account, session).await? else {
            return Ok(StepOutcome::Done);
        };
        if !self.begin_step(&step, &mut slot).await? && mutation::is_off(Mutation::BeginStepObeyed)
        {
            drop(slot);
            self.release_rate_limit().await;
            self.withdraw_step().await?;
            return Ok(StepOutcome::Done);
        }
        let outcome = self.call(&step, session).await;
        drop(slot);
        match outcome {
            Ok(progress) => self.advance(progress).await,
            Err(error) => self.handle_error(&step, error, session).await,
        }
    }

    /// Records that the step begins and waits until its slot is free. Returns false if another worker has the row, or
    /// an earlier post of the account has to go out first.
    pub(super) async fn begin_step(&mut self, step: &Step, slot: &mut Slot) -> Result<bool> {
        let clock = &self.cx.domain.clock;
        let (mut asked, now) = (clock.elapsed_ms(), clock.now());
        attempt::begin_step(&mut self.attempt, step, now);
        let mut held = self.write_begin_step(step, now).await?;
        if held {
            tracing::debug!(step = step.name, phase = step.phase.as_str(), "a step begins");
            self.count_lateness(step, now);
            self.cx.failpoint.reach(begun_failpoint(step.phase)).await;
            slot.begin().await;
        }
        // A worker that was frozen here, or delayed by a slow database, may have lost the row or may lose it soon.
        while held
            && step.phase == Phase::Commit
            && clock.elapsed_ms() - asked > millis(MAX_START_DELAY)
            && mutation::is_off(Mutation::CommitAtOnce)
        {
            tracing::warn!("a commit call came late to its start; the lease is asked for again");
            asked = clock.elapsed_ms();
            held = self.write_begin_step(step, self.cx.now()).await?;
        }
        Ok(held)
    }

    /// Writes the step into the ledger, and leases the row for as long as the call may take from `now` on.
    async fn write_begin_step(&mut self, step: &Step, now: Millis) -> Result<bool> {
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
    fn count_lateness(&self, step: &Step, now: Millis) {
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

    /// Makes the call, and renews the lease until it has ended.
    async fn call(&self, step: &Step, session: &mut Session) -> platforms::Result<Progress> {
        session.now = self.cx.domain.clock.date();
        let call = self.platform.publish(session, &self.draft, self.state.clone());
        let outcome = self.while_leased(call).await;
        log_reply(step, &outcome);
        self.cx.failpoint.reach(called_failpoint(step.phase)).await;
        outcome
    }

    /// Runs a call and renews the lease after each third of its time. A lost lease does not stop the call, which is
    /// already in flight; the fencing token discards its result.
    pub(super) async fn while_leased<T>(&self, call: impl Future<Output = T>) -> T {
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
            record::lease_lost("publish_post");
            tracing::warn!(post.id = self.lease.id, "the lease of a post was not renewed");
        }
        self.cx.failpoint.reach("renewed").await;
    }

    /// Handles the error of a step, as the retry policy says.
    async fn handle_error(
        &mut self,
        step: &Step,
        error: platforms::Error,
        session: &Session,
    ) -> Result<StepOutcome> {
        attempt::end_step(&mut self.attempt, None, self.cx.now());
        let mut action = decide(error.kind, step.phase);
        if action == RetryAction::Lost && mutation::is_on(Mutation::LostIsNotFailed) {
            action = RetryAction::Retry;
        }
        // An answer to this call says nothing about an earlier one.
        if action != RetryAction::Lost && !self.is_repeated() {
            self.row.sending_at = None;
            self.row.sending_until = None;
        }
        match action {
            RetryAction::Refresh => return Ok(StepOutcome::Refresh(error)),
            RetryAction::Retry => self.retry(&error).await?,
            RetryAction::Wait => self.wait_as_asked(&error).await?,
            RetryAction::Stop => self.fail_with(Failure::of(&error)).await?,
            RetryAction::Reconnect => {
                accounts::mark_needs_reconnect(&self.cx.domain, self.row.account_id).await?;
                self.fail_with(Failure::of(&error)).await?;
            }
            RetryAction::Duplicate => self.handle_duplicate(session, &error).await?,
            RetryAction::Lost => self.handle_lost_reply(session, error).await?,
        }
        Ok(StepOutcome::Done)
    }
}

const fn begun_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "prepare_armed",
        Phase::Commit => "commit_armed",
        Phase::Confirm => "confirm_armed",
    }
}

const fn called_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "prepare_called",
        Phase::Commit => "commit_called",
        Phase::Confirm => "confirm_called",
    }
}
