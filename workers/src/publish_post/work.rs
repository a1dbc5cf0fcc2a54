//! Posts as the engine sees them.

use std::time::Duration;

use fanfare_core::{
    Result,
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{
    self as platforms, Phase, PlatformId, Progress, ReconcileOutcome, Session, Step,
};
use fanfare_publishing::{
    lost_calls::Verdict,
    posts::{self, PostStatus},
    retry_action::RetryAction,
};

use super::{
    attempt,
    retry_policy::{Failure, log_reply},
    run::{Run, begun_failpoint, called_failpoint},
};
use crate::{
    Context,
    dispatcher::Slot,
    engine::{self, Failpoints, Finding, Next, RemoteWork, Unsettled},
};

/// The longest time to ask the network before the outcome counts as unknown, in ms, besides the time for which its
/// lists lag.
const MAX_RECONCILE_TIME: Millis = 60_000;

/// The number of failures from which on an answer that something is not found counts, on networks that find late.
const NOT_FOUND_TRIES: i32 = 2;

impl RemoteWork for Run<'_> {
    type Permit = Slot;

    const FAILPOINTS: Failpoints = Failpoints { begun: begun_failpoint, called: called_failpoint };

    const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);

    fn cx(&self) -> &Context {
        self.cx
    }

    fn platform(&self) -> PlatformId {
        self.platform.spec().id
    }

    fn unsettled(&self, session: &Session) -> Option<Unsettled> {
        let sent_at = self.row.sending_at?;
        let asked_since = self.row.reconciling_at.unwrap_or_else(|| self.cx.now());
        Some(Unsettled {
            class: self.platform.recovery_class(&session.account, &self.draft),
            is_refused: self.refusal().is_some(),
            may_repeat: !posts::is_asked_after_restore(&self.row),
            sent_at,
            until: self.row.sending_until,
            absent_at: self.row.absent_at,
            list_lag: self.list_lag(),
            patient_until: asked_since + MAX_RECONCILE_TIME + self.list_lag(),
        })
    }

    fn next_step(&self) -> Step {
        self.platform.step(&self.draft, self.state.as_ref())
    }

    async fn acquire(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Slot>> {
        if step.phase == Phase::Commit {
            let now = self.cx.now();
            let at = self.row.scheduled_at.unwrap_or(now);
            // Everything is prepared. The public call waits for its time; the claim at that time makes it.
            let is_early = now < at || self.row.status == PostStatus::Scheduled;
            if is_early && mutation::is_off(Mutation::CommitInTime) {
                self.wait_until(at, None).await?;
                return Ok(None);
            }
        }
        self.acquire_slot_and_limit(step, account, session).await
    }

    fn note_begin(&mut self, step: &Step, now: Millis) {
        if step.phase == Phase::Commit {
            self.attempt.error = None;
        }
        attempt::begin_step(&mut self.attempt, step, now);
    }

    async fn write_begin(&mut self, step: &Step, now: Millis) -> Result<bool> {
        self.write_begin_step(step, now).await
    }

    async fn start(&mut self, step: &Step, slot: &mut Slot, now: Millis) {
        self.count_lateness(step, now);
        slot.begin().await;
    }

    async fn withdraw(&mut self, slot: Slot) -> Result<()> {
        drop(slot);
        self.release_rate_limit().await;
        self.withdraw_step().await
    }

    async fn call(&self, session: &Session) -> platforms::Result<Progress> {
        self.platform.publish(session, &self.draft, self.state.clone()).await
    }

    async fn while_leased<T>(&self, call: impl Future<Output = T>) -> T {
        self.renew_during(call).await
    }

    fn note_end(&mut self, step: &Step, answer: &platforms::Result<Progress>) {
        log_reply(step, answer);
        if answer.is_err() {
            attempt::end_step(&mut self.attempt, None, self.cx.now());
        }
    }

    async fn advance(&mut self, progress: Progress) -> Result<Next> {
        self.go_on(progress).await
    }

    async fn handle_particular(
        &mut self,
        action: RetryAction,
        error: &platforms::Error,
        session: &Session,
    ) -> Result<bool> {
        if action != RetryAction::Duplicate {
            return Ok(false);
        }
        self.forget_call();
        self.handle_duplicate(session, error).await?;
        Ok(true)
    }

    /// The answer to a repetition says nothing about the call before it.
    fn forget_call(&mut self) {
        if !self.is_repeated() {
            self.row.sending_at = None;
            self.row.sending_until = None;
        }
    }

    fn may_be_found_later(&self, step: &Step) -> bool {
        step.phase == Phase::Confirm
            || (self.platform.finds_late() && self.row.attempts < NOT_FOUND_TRIES)
    }

    async fn retry(&mut self, error: &platforms::Error) -> Result<()> {
        self.retry_later(error).await
    }

    async fn wait(&mut self, error: &platforms::Error) -> Result<()> {
        self.wait_as_asked(error).await
    }

    async fn wait_for_tokens(&mut self) -> Result<()> {
        self.wait_until(self.cx.now() + 1_000, None).await
    }

    async fn stop(&mut self, error: &platforms::Error) -> Result<()> {
        self.forget_if_nothing_came_of_it(error);
        self.fail_with(Failure::of(error)).await
    }

    async fn stop_reconnect(&mut self, error: &platforms::Error) -> Result<()> {
        self.fail_with(Failure::of(error)).await
    }

    async fn stop_tokens(&mut self, error: &platforms::Error) -> Result<()> {
        self.fail_with(Failure::token_expired(error)).await
    }

    async fn stop_unreadable(&mut self) -> Result<()> {
        self.fail_with(Failure::unreadable_credentials()).await
    }

    async fn stop_disconnected(&mut self) -> Result<()> {
        self.fail_with(Failure::disconnected()).await
    }

    async fn lost(&mut self, error: platforms::Error, session: &Session) -> Result<Next> {
        self.handle_lost_reply(session, error).await?;
        Ok(Next::Done)
    }

    fn looks_up(&self, _error: &platforms::Error) -> bool {
        true
    }

    async fn doubt(&mut self, error: platforms::Error, session: &Session) -> Result<Next> {
        self.handle_open_refusal(session, error).await?;
        Ok(Next::Done)
    }

    async fn wait_until_settled(&mut self, at: Millis) -> Result<()> {
        self.ask_at(at).await
    }

    async fn wait_for_reads(&mut self, at: Millis) -> Result<()> {
        self.row.reconciling_at = None;
        attempt::end_step(&mut self.attempt, None, self.cx.now());
        self.ask_at(at).await
    }

    async fn begin_question(&mut self) -> Result<Option<Slot>> {
        let question = Step::confirm("reconcile");
        let Some(mut slot) = self.acquire_slot(&question).await? else { return Ok(None) };
        let now = self.cx.now();
        self.row.reconciling_at.get_or_insert(now);
        if !engine::begin(self, &question, &mut slot).await? {
            return Ok(None);
        }
        self.cx.failpoint.reach("reconcile_armed").await;
        Ok(Some(slot))
    }

    async fn ask(&self, session: &Session, since: Millis) -> platforms::Result<ReconcileOutcome> {
        let since = fanfare_core::clock::date(since);
        self.platform.reconcile(session, &self.draft, self.state.clone(), since).await
    }

    async fn judge(&self, session: &Session, outcome: ReconcileOutcome) -> Result<Verdict> {
        self.judge_call(session, outcome, self.call_window()).await
    }

    async fn conclude(&mut self, finding: Finding) -> Result<Next> {
        self.settle(finding).await
    }
}
