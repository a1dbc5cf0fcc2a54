//! Settles a commit call whose answer was lost: asks the network whether it was carried out, and never repeats it
//! blindly.

use std::time::Duration;

use fanfare_domain::{
    Result,
    clock::date,
    durable::LEASE,
    mutation::{self, Mutation},
    posts::publishing::CompleteStep,
};
use fanfare_entities::Millis;
use fanfare_platforms::{Account, ReconcileOutcome, RecoveryClass, Session, Step};

use super::{
    attempt,
    retry_policy::{Failure, millis},
    run::{Run, StepOutcome},
};

/// The time after its deadline for which the network may still be carrying a call out, in ms.
const SETTLE_TIME: Millis = 10_000;

/// The longest time to ask the network before the outcome counts as unknown, in ms.
const MAX_RECONCILE_TIME: Millis = 60_000;

/// The interval at which the network is asked, in ms.
const RECONCILE_INTERVAL: Millis = 5_000;

/// The number of times a commit call is sent again whose answer was lost and that was not carried out.
const MAX_SENDS: i32 = 5;

/// The longest time that asking the network may take.
const RECONCILE_CALL_TIMEOUT: Duration = Duration::from_secs(30);

impl Run<'_> {
    /// Returns the time from which a lost call may be asked about. A call with a key is harmless to repeat, so it need
    /// not wait.
    pub(super) fn settled_from(&self, account: &Account) -> Millis {
        match (self.platform.recovery_class(account, &self.draft), self.row.sending_until) {
            (RecoveryClass::Key { .. }, _) | (_, None) => self.cx.now(),
            (_, Some(_)) if mutation::is_on(Mutation::Settled) => self.cx.now(),
            (_, Some(until)) => until + SETTLE_TIME,
        }
    }

    /// Finds out whether the unsettled commit call was carried out. Returns [`StepOutcome::Step`] if it is to be
    /// repeated, under its key.
    pub(super) async fn reconcile(&mut self, session: &Session) -> Result<StepOutcome> {
        let class = self.platform.recovery_class(&session.account, &self.draft);
        if class == RecoveryClass::Blind {
            self.fail_with(Failure::outcome_unknown(&self.row.platform)).await?;
            return Ok(StepOutcome::Done);
        }
        let now = self.cx.now();
        let settled_from = self.settled_from(&session.account);
        if now < settled_from {
            let later = CompleteStep {
                status: self.busy_status(),
                out_of_line: true,
                ..self.completed_step(Some(settled_from))
            };
            self.write_result(later).await?;
            return Ok(StepOutcome::Done);
        }
        let question = Step::confirm("reconcile");
        let Some(mut slot) = self.acquire_slot(&question).await? else {
            return Ok(StepOutcome::Done);
        };
        let now = self.cx.now();
        let begun = *self.row.reconciling_at.get_or_insert(now);
        let sent_at = self.row.sending_at.unwrap_or(now);
        let since = if mutation::is_off(Mutation::FoundSince) { date(sent_at) } else { date(0) };
        if !self.begin_step(&question, &mut slot).await? {
            return Ok(StepOutcome::Done);
        }
        self.cx.failpoint.reach("reconcile_armed").await;
        let state = self.state.clone();
        let question = self.platform.reconcile(session, &self.draft, state, since);
        let answer =
            self.while_leased(tokio::time::timeout(RECONCILE_CALL_TIMEOUT, question)).await;
        drop(slot);
        self.cx.failpoint.reach("reconcile_called").await;
        // Until then the call may still be carried out, although the network does not know it yet.
        let settled = self.row.sending_until.is_none_or(|until| now >= until + SETTLE_TIME);
        let keyed =
            matches!(class, RecoveryClass::Key { window } if in_window(window, sent_at, now));
        match answer {
            Ok(Ok(ReconcileOutcome::Committed(progress))) => {
                if !matches!(self.advance(progress).await?, StepOutcome::Done) {
                    // The next claim takes the steps that follow, from the state that was just stored.
                    self.make_due_now().await?;
                }
            }
            Ok(Ok(ReconcileOutcome::NotCommitted)) if settled || !keyed => {
                self.send_again().await?
            }
            // The outcome of the first call stays open until the network answers this one: until then the post can
            // neither be changed nor be recorded as failed.
            _ if keyed && mutation::is_off(Mutation::RepeatedStaysOpen) => {
                return self.repeat().await;
            }
            _ if keyed => self.send_again().await?,
            _ => self.reconcile_later(begun).await?,
        }
        Ok(StepOutcome::Done)
    }

    /// Makes the post due at once, for the next claim.
    async fn make_due_now(&mut self) -> Result<()> {
        let now = self.cx.now();
        let on = CompleteStep { status: self.busy_status(), ..self.completed_step(Some(now)) };
        self.write_result(on).await.map(drop)
    }

    /// Closes the attempt and begins a new one of this worker, which repeats the call.
    async fn repeat(&mut self) -> Result<StepOutcome> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        attempt::close(&mut self.attempt, "retry", self.row.error.clone(), now);
        let record = self.completed_step(Some(now + LEASE));
        let status = self.busy_status();
        let going_on = CompleteStep { keep_lease: true, out_of_line: true, status, ..record };
        if !self.write_result(going_on).await? {
            return Ok(StepOutcome::Done);
        }
        self.attempt = attempt::new_attempt(self.cx, self.attempt.number);
        Ok(StepOutcome::Step)
    }

    /// Makes the post due at once to send the call again, since it was certainly not carried out.
    async fn send_again(&mut self) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        attempt::close(&mut self.attempt, "not_sent", None, now);
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        let failures = self.row.attempts + 1;
        if failures > MAX_SENDS {
            return self.fail_with(Failure::unanswered(&self.row.platform)).await;
        }
        let again = CompleteStep {
            status: self.busy_status(),
            attempts: failures,
            ..self.completed_step(Some(now))
        };
        self.write_result(again).await.map(drop)
    }

    async fn reconcile_later(&mut self, begun: Millis) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        if now - begun >= MAX_RECONCILE_TIME {
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        let later = CompleteStep {
            status: self.busy_status(),
            out_of_line: true,
            ..self.completed_step(Some(now + RECONCILE_INTERVAL))
        };
        self.write_result(later).await.map(drop)
    }
}

/// Returns true while the network still remembers the key of a call made at `sent_at`.
fn in_window(window: Option<Duration>, sent_at: Millis, now: Millis) -> bool {
    window.is_none_or(|window| now < sent_at + millis(window))
}
