//! Changes as the engine sees them.

use std::time::Duration;

use fanfare_conversations::outgoing::{
    self as changes, OutgoingOutcome, failure_json, from_error, from_refusal,
};
use fanfare_core::{Code, Result, clock::date};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{
    self as platforms, ErrorKind, Phase, PlatformId, Progress, ReconcileOutcome, RecoveryClass,
    RefusalReason, RemoteChange, Session, Step,
};
use fanfare_publishing::{
    lost_calls::Verdict,
    retry_action::{RetryAction, decide},
};

use super::{ledger, permits::Permit, run::Run};
use crate::{
    Context,
    engine::{self, Failpoints, Finding, Next, RemoteWork, Unsettled},
};

/// The longest time for a call, in ms.
const DEADLINE: Millis = 20_000;

/// The waits before the retries of a call that did not reach its network, in ms.
const BACKOFF: [Millis; 3] = [2_000, 10_000, 30_000];

/// The number of times a call that cannot take effect twice is repeated at once.
const IMMEDIATE_REPEATS: i32 = 3;

/// The wait before it is repeated once more, in ms.
const REPEAT_INTERVAL: Millis = 5_000;

/// The wait if the network does not say how long, and an hour, in ms.
const DEFAULT_WAIT: Millis = 60_000;
const HOUR: Millis = 3_600_000;

/// The time after the call for which the network is asked, in ms, besides the time for which its lists lag.
const MAX_ASKING_TIME: Millis = 120_000;

/// The interval at which the network is asked, in ms.
const ASKING_INTERVAL: Millis = 5_000;

impl RemoteWork for Run<'_> {
    type Permit = Permit;

    const FAILPOINTS: Failpoints = Failpoints { begun: begun_failpoint, called: called_failpoint };

    const QUESTION_TIMEOUT: Duration = Duration::from_secs(15);

    fn cx(&self) -> &Context {
        self.cx
    }

    fn platform(&self) -> PlatformId {
        self.platform.spec().id
    }

    fn unsettled(&self, _session: &Session) -> Option<Unsettled> {
        let sent_at = self.row.sending_at?;
        let list_lag = self.list_lag();
        Some(Unsettled {
            class: self.changes.class(&self.change),
            is_refused: ledger::refusal(&self.row).is_some(),
            may_repeat: true,
            sent_at,
            until: self.row.sending_until,
            absent_at: self.row.absent_at,
            list_lag,
            patient_until: sent_at + MAX_ASKING_TIME + list_lag,
        })
    }

    fn next_step(&self) -> Step {
        self.changes.step(&self.change, self.row.state.as_ref())
    }

    async fn acquire(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Permit>> {
        self.permit(step, account, session).await
    }

    fn note_begin(&mut self, step: &Step, now: Millis) {
        ledger::begin_step(&mut self.row, &self.cx.name, step, now);
    }

    async fn write_begin(&mut self, step: &Step, now: Millis) -> Result<bool> {
        if step.phase == Phase::Commit {
            // A repeated call counts from the start of the first one.
            self.row.sending_at = self.row.sending_at.or(Some(now));
            self.row.sending_until = Some(now + DEADLINE);
            self.row.absent_at = None;
        }
        changes::begin_step(&self.cx.domain, &mut self.row, now).await
    }

    /// Another worker has the row, so only the place in the limits is given back.
    async fn withdraw(&mut self, permit: Permit) -> Result<()> {
        permit.release(&self.cx.domain).await;
        Ok(())
    }

    async fn call(&self, session: &Session) -> platforms::Result<Progress> {
        self.changes.apply_change(session, &self.change, self.row.state.clone()).await
    }

    async fn while_leased<T>(&self, call: impl Future<Output = T>) -> T {
        self.renew_during(call).await
    }

    fn note_end(&mut self, step: &Step, answer: &platforms::Result<Progress>) {
        let outcome = match answer {
            Ok(_) => "done",
            Err(error) if decide(error.kind, step.phase) == RetryAction::Lost => "lost",
            Err(_) => "refused",
        };
        ledger::end_step(&mut self.row, outcome, self.cx.now());
    }

    async fn advance(&mut self, progress: Progress) -> Result<Next> {
        self.go_on(progress).await
    }

    async fn handle_particular(
        &mut self,
        action: RetryAction,
        error: &platforms::Error,
        _session: &Session,
    ) -> Result<bool> {
        let refused = self.changes.refusal_reason(&self.change, error);
        let is_repeated = self.row.repeated > 0;
        if refused == Some(RefusalReason::Done) && (is_repeated || self.is_state()) {
            self.complete(OutgoingOutcome::Sent(String::new())).await?;
            return Ok(true);
        }
        let failure = match refused {
            Some(refused) => from_refusal(refused, error),
            None if action == RetryAction::Retry && self.is_used_up_by(error) => from_error(error),
            None => return Ok(false),
        };
        self.forget_call();
        self.fail(failure).await?;
        Ok(true)
    }

    /// The answer to a repetition says nothing about the call before it.
    fn forget_call(&mut self) {
        if self.row.repeated == 0 {
            self.row.sending_at = None;
            self.row.sending_until = None;
        }
    }

    async fn retry(&mut self, error: &platforms::Error) -> Result<()> {
        let wait = usize::try_from(self.row.attempts).ok().and_then(|nth| BACKOFF.get(nth));
        let Some(wait) = wait else { return self.fail(from_error(error)).await };
        self.row.attempts += 1;
        self.defer(*wait).await
    }

    async fn wait(&mut self, error: &platforms::Error) -> Result<()> {
        let asked = error.retry_after.and_then(|after| i64::try_from(after.as_millis()).ok());
        let asked = asked.unwrap_or(DEFAULT_WAIT).clamp(1_000, 24 * HOUR);
        // A photo may be added tomorrow; a late answer is useless.
        let longest = match self.change {
            RemoteChange::AddMedia { .. } => 7 * 24 * HOUR,
            _ => HOUR,
        };
        if self.cx.now() + asked > self.row.created_at + longest {
            return self.fail(from_error(error)).await;
        }
        self.defer(asked).await
    }

    async fn wait_for_tokens(&mut self) -> Result<()> {
        self.defer(1_000).await
    }

    async fn stop(&mut self, error: &platforms::Error) -> Result<()> {
        self.fail(from_error(error)).await
    }

    async fn stop_reconnect(&mut self, error: &platforms::Error) -> Result<()> {
        let error = platforms::Error { kind: ErrorKind::Reconnect, ..error.clone() };
        self.fail(from_error(&error)).await
    }

    async fn stop_tokens(&mut self, error: &platforms::Error) -> Result<()> {
        self.stop_reconnect(error).await
    }

    async fn stop_unreadable(&mut self) -> Result<()> {
        self.fail_unreadable().await
    }

    async fn stop_disconnected(&mut self) -> Result<()> {
        self.fail_disconnected().await
    }

    /// Repeats the call if that is harmless, and otherwise asks about it later.
    async fn lost(&mut self, _error: platforms::Error, session: &Session) -> Result<Next> {
        self.cx.failpoint.reach("outgoing_lost").await;
        let Some(call) = self.unsettled(session) else { return Ok(Next::Step) };
        if !matches!(call.class, RecoveryClass::Key { .. }) {
            let now = self.cx.now();
            self.defer(call.settled_from().max(now) - now).await?;
            return Ok(Next::Done);
        }
        if let Some(outcome) = engine::question(self, call.since(), session).await
            && let Verdict::Found(progress) = self.judge(session, outcome).await?
        {
            return self.go_on(progress).await;
        }
        self.row.repeated += 1;
        if self.row.repeated % IMMEDIATE_REPEATS != 0 {
            return Ok(Next::Step);
        }
        if self.row.repeated >= 4 * IMMEDIATE_REPEATS {
            self.complete(OutgoingOutcome::Unknown).await?;
        } else {
            self.defer(REPEAT_INTERVAL).await?;
        }
        Ok(Next::Done)
    }

    /// A change whose refusal has a meaning of its own is not looked up, nor is one that can be repeated at will and will be.
    fn looks_up(&self, error: &platforms::Error) -> bool {
        let refused = self.changes.refusal_reason(&self.change, error);
        let is_repeated = self.is_repeatable() && error.kind == ErrorKind::Transient;
        !is_repeated && matches!(refused, None | Some(RefusalReason::PermissionMissing))
    }

    async fn doubt(&mut self, error: platforms::Error, session: &Session) -> Result<Next> {
        let refused = self.changes.refusal_reason(&self.change, &error);
        let failure =
            refused.map_or_else(|| from_error(&error), |refused| from_refusal(refused, &error));
        if self.is_repeatable() {
            // One look: what is not there may be sent again whatever became of this call.
            let since = self.unsettled(session).map_or(self.cx.now(), |call| call.since());
            if let Some(outcome) = engine::question(self, since, session).await
                && let Verdict::Found(progress) = self.judge(session, outcome).await?
            {
                return self.go_on(progress).await;
            }
            self.forget_call();
            self.fail(failure).await?;
            return Ok(Next::Done);
        }
        ledger::refuse(&mut self.row, failure);
        // The call is over.
        self.row.sending_until = Some(self.cx.now());
        self.lost(error, session).await
    }

    async fn wait_until_settled(&mut self, at: Millis) -> Result<()> {
        self.defer(at - self.cx.now()).await
    }

    async fn begin_question(&mut self) -> Result<Option<Permit>> {
        self.cx.failpoint.reach("outgoing_asking").await;
        Ok(Some(Permit::FREE))
    }

    async fn ask(&self, session: &Session, since: Millis) -> platforms::Result<ReconcileOutcome> {
        let state = self.row.state.clone();
        self.changes.find_result(session, &self.change, state, date(since)).await
    }

    async fn judge(&self, session: &Session, outcome: ReconcileOutcome) -> Result<Verdict> {
        engine::judge(self.cx, session, (outcome, true), self.lost_call()).await
    }

    async fn conclude(&mut self, finding: Finding) -> Result<Next> {
        let is_keyed = matches!(self.changes.class(&self.change), RecoveryClass::Key { .. });
        match finding {
            Finding::Found(progress) => {
                let next = self.go_on(progress).await?;
                return self.give_back_after(next).await;
            }
            Finding::Repeat => return Ok(self.repeat()),
            _ if is_keyed => return Ok(self.repeat()),
            Finding::NotMade => {
                self.row.sending_at = None;
                let message = "The network did not get it; it is safe to send it again.";
                let unanswered = || failure_json(Code::ProviderUnreachable, message, None);
                let failure = ledger::refusal(&self.row).cloned().unwrap_or_else(unanswered);
                self.fail(failure).await?;
            }
            Finding::LookAgain => {
                let now = self.cx.now();
                let again = *self.row.absent_at.get_or_insert(now) + self.list_lag();
                self.defer((again - now).max(ASKING_INTERVAL)).await?;
            }
            Finding::AskAgain => self.defer(ASKING_INTERVAL).await?,
            Finding::Unknown | Finding::Blind => self.complete(OutgoingOutcome::Unknown).await?,
        }
        Ok(Next::Done)
    }
}

impl Run<'_> {
    /// Returns true if the change can be sent again at will, since a second one changes nothing.
    fn is_repeatable(&self) -> bool {
        matches!(self.changes.class(&self.change), RecoveryClass::Key { .. })
    }

    /// Returns the longest time for which the network's lists may not show what was just made, in ms.
    fn list_lag(&self) -> Millis {
        let lag = self.platform.spec().list_lag;
        i64::try_from(lag.as_millis()).unwrap_or(i64::MAX / 4)
    }

    fn repeat(&mut self) -> Next {
        self.row.repeated += 1;
        Next::Step
    }

    /// Makes a change due at once whose lost call was found and that has further steps.
    async fn give_back_after(&self, next: Next) -> Result<Next> {
        if matches!(next, Next::Step) {
            self.defer(0).await?;
        }
        Ok(Next::Done)
    }
}

const fn begun_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Commit => "outgoing_armed",
        Phase::Prepare | Phase::Confirm => "outgoing_prepare_armed",
    }
}

const fn called_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Commit => "outgoing_called",
        Phase::Prepare | Phase::Confirm => "outgoing_prepare_called",
    }
}
