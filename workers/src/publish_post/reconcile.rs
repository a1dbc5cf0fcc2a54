//! Settles a commit call whose answer was lost: asks the network whether it was carried out, and never repeats it
//! blindly.

use std::time::Duration;

use fanfare_domain::{
    Result,
    clock::date,
    durable::LEASE,
    lost_calls::{CallWindow, Content, LostCall, Owner, SETTLE_TIME, Verdict, is_absent},
    mutation::{self, Mutation},
    posts::{
        self,
        publishing::{self, CompleteStep},
    },
};
use fanfare_entities::Millis;
use fanfare_platforms::{
    self as platforms, Account, ReconcileOutcome, RecoveryClass, Session, Step,
};

use super::{
    attempt,
    retry_policy::{Failure, millis},
    run::{Run, StepOutcome},
};

/// The longest time to ask the network before the outcome counts as unknown, in ms, besides the time for which its
/// lists lag.
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
        let is_restored = posts::is_asked_after_restore(&self.row);
        if class == RecoveryClass::Blind {
            if is_restored {
                self.fail_unknown_after_restore().await?;
            } else {
                self.fail_with(Failure::outcome_unknown(&self.row.platform)).await?;
            }
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
        let verdict = match answer {
            Ok(Ok(outcome)) => self.judge(session, outcome, self.call_window()).await?,
            _ => Verdict::Doubt,
        };
        if is_restored {
            self.settle_after_restore(verdict, (begun, now), settled).await?;
            return Ok(StepOutcome::Done);
        }
        match verdict {
            Verdict::Found(progress) => {
                if !matches!(self.advance(progress).await?, StepOutcome::Done) {
                    // The next claim takes the steps that follow, from the state that was just stored.
                    self.make_due_now().await?;
                }
            }
            Verdict::Absent if settled && is_absent(self.row.absent_at, self.list_lag(), now) => {
                self.send_again().await?;
            }
            Verdict::Absent if settled || !keyed => self.look_again(now).await?,
            // The outcome of the first call stays open until the network answers this one: until then the post can
            // neither be changed nor be recorded as failed.
            _ if keyed && mutation::is_off(Mutation::RepeatedStaysOpen) => {
                return self.repeat().await;
            }
            _ if keyed => self.send_again().await?,
            Verdict::Absent | Verdict::Doubt => self.reconcile_later(begun).await?,
        }
        Ok(StepOutcome::Done)
    }

    /// Judges what the network shows of a call of this post.
    pub(super) async fn judge(
        &self,
        session: &Session,
        outcome: ReconcileOutcome,
        window: CallWindow,
    ) -> Result<Verdict> {
        let clock = session.http.server_clock();
        match outcome {
            ReconcileOutcome::Committed(progress) => Ok(Verdict::Found(progress)),
            ReconcileOutcome::NotCommitted if !clock.is_cached() => Ok(Verdict::Absent),
            // A backup does not know whether another container took the place of this one.
            ReconcileOutcome::HandleEnded
                if !clock.is_cached() && !posts::is_asked_after_restore(&self.row) =>
            {
                Ok(Verdict::Absent)
            }
            ReconcileOutcome::NotCommitted
            | ReconcileOutcome::HandleEnded
            | ReconcileOutcome::Unknown => Ok(Verdict::Doubt),
            ReconcileOutcome::Listed(listing) => {
                let (caption, metadata) = (&self.row.caption, &self.row.metadata);
                let call = LostCall {
                    account_id: self.row.account_id,
                    owner: Owner::Post(self.row.id.0),
                    content: Content::Post { caption, metadata },
                    window,
                };
                call.judge(&self.cx.domain, listing, clock).await
            }
        }
    }

    /// Returns the time of the unsettled call.
    fn call_window(&self) -> CallWindow {
        let now = self.cx.now();
        CallWindow {
            from: self.row.sending_at.unwrap_or(now),
            lost_at: attempt::lost_at(&self.attempt),
            until: self.row.sending_until.unwrap_or(now),
        }
    }

    /// Returns the longest time for which the network's lists may not show what was just made.
    pub(super) fn list_lag(&self) -> Millis {
        millis(self.platform.spec().list_lag)
    }

    /// Notes that the network does not show the post, and asks once more after the time for which its lists lag.
    pub(super) async fn look_again(&mut self, now: Millis) -> Result<()> {
        attempt::end_step(&mut self.attempt, None, self.cx.now());
        let first = *self.row.absent_at.get_or_insert(now);
        let later = CompleteStep {
            status: self.busy_status(),
            out_of_line: true,
            ..self.completed_step(Some((first + self.list_lag()).max(now + RECONCILE_INTERVAL)))
        };
        self.write_result(later).await.map(drop)
    }

    /// Handles a refusal because the network has the same content already. It is the post itself only if an earlier
    /// call of it had no answer.
    pub(super) async fn handle_duplicate(
        &mut self,
        session: &Session,
        error: &platforms::Error,
    ) -> Result<()> {
        let (cx, id) = (&self.cx.domain, self.row.id.0);
        let deadline = millis(self.platform.spec().commit_deadline);
        let Some(earlier) = publishing::unanswered_call(cx, id, deadline).await? else {
            let other = publishing::earlier_post(cx, &self.row, error.earlier.as_deref()).await?;
            return self.fail_with(Failure::duplicate(error, other)).await;
        };
        let class = self.platform.recovery_class(&session.account, &self.draft);
        if class != RecoveryClass::Blind {
            let (state, since) = (self.state.clone(), date(earlier.from));
            let question = self.platform.reconcile(session, &self.draft, state, since);
            let answer =
                self.while_leased(tokio::time::timeout(RECONCILE_CALL_TIMEOUT, question)).await;
            if let Ok(Ok(outcome)) = answer
                && let Verdict::Found(progress) = self.judge(session, outcome, earlier).await?
            {
                if !matches!(self.advance(progress).await?, StepOutcome::Done) {
                    self.make_due_now().await?;
                }
                return Ok(());
            }
        }
        let failure = match class {
            RecoveryClass::Blind => Failure::outcome_unknown(&self.row.platform),
            _ => Failure::in_doubt(&self.row.platform),
        };
        self.fail_with(failure).await
    }

    /// Makes the post due at once, for the next claim.
    pub(super) async fn make_due_now(&mut self) -> Result<()> {
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
        self.row.absent_at = None;
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

    /// Returns true if the network has been asked for so long that nobody can tell.
    pub(super) fn has_asked_for_long(&self, begun: Millis, now: Millis) -> bool {
        now - begun >= MAX_RECONCILE_TIME + self.list_lag()
    }

    pub(super) async fn reconcile_later(&mut self, begun: Millis) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        if self.has_asked_for_long(begun, now) {
            return self.fail_with(Failure::in_doubt(&self.row.platform)).await;
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
