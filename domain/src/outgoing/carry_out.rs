//! Carries out one change, step by step.

use std::time::Duration;

use fanfare_entities::{account, account::AccountStatus, outgoing};
use fanfare_platforms::{
    self as platforms, Phase, Progress, RecoveryClass, RefusalReason, RemoteChange, RemoteChanges,
    Session, Step,
};

use super::{
    change_of, changes,
    failure::{self, failure_json},
    ledger,
    photo::{self, FittedPhoto},
    target::OutgoingOutcome,
};
use crate::{
    Domain,
    accounts::{self, RefreshOutcome},
    durable::MAX_LEASE_EXPIRATIONS,
    error::{Code, Error, Result},
    lost_calls::SETTLE_TIME,
    retry_action::{RetryAction, decide},
};

/// The waits before the retries of a call that did not reach its network, in ms.
const BACKOFF: [i64; 3] = [2_000, 10_000, 30_000];

/// The number of times a call that cannot take effect twice is repeated at once.
const IMMEDIATE_REPEATS: i32 = 3;

/// The wait if the network does not say how long, and an hour, in ms.
const DEFAULT_WAIT: i64 = 60_000;
const HOUR: i64 = 3_600_000;

/// The interval at which a change checks whether its photo is ready, in ms.
const PHOTO_INTERVAL: i64 = 1_000;

/// The longest pause that is waited for without giving the row back.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// The work on one claimed change.
pub(super) struct Run<'a> {
    pub cx: &'a Domain,
    pub holder: &'a str,
    pub changes: &'static dyn RemoteChanges,
    pub change: RemoteChange,
    /// The longest time for which the network's lists may not show what was just made, in ms.
    pub list_lag: i64,
    pub row: outgoing::Model,
}

/// The next action after a step.
pub(super) enum StepOutcome {
    Step,
    Refresh(platforms::Error),
    Done,
}

/// Carries out a change that `holder` has claimed, or finds out whether it was made.
///
/// # Errors
/// The database's; then the lease expires.
pub async fn carry_out(cx: &Domain, holder: &str, row: outgoing::Model) -> Result<()> {
    let change = change_of(&row)?;
    let Some(account) = accounts::row(cx, row.account_id).await? else {
        return Err(Error::internal("a change of an account that is gone"));
    };
    let platform = crate::platforms::from_row(&account.platform)?;
    let changes = changes(platform, &change)
        .ok_or_else(|| Error::internal("a change that the network does not take"))?;
    let lag = platforms::find(platform).spec().list_lag;
    let list_lag = i64::try_from(lag.as_millis()).unwrap_or(i64::MAX / 4);
    let mut run = Run { cx, holder, changes, change, list_lag, row };
    if run.row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        return run.abandon().await;
    }
    if account.status != AccountStatus::Connected {
        return run.fail_disconnected().await;
    }
    if !run.fit(platform).await? {
        return Ok(());
    }
    match accounts::session(cx, &account).await {
        Ok(Some(session)) => run.make(&account, session).await,
        Ok(None) => run.fail_disconnected().await,
        Err(error) if error.code() == Code::Unavailable => Err(error),
        // No later attempt could open them either.
        Err(error) => {
            tracing::error!(account.id = %account.id, %error, "the credentials of an account cannot be opened");
            run.fail_unreadable().await
        }
    }
}

impl Run<'_> {
    /// Ends a change whose lease expired too many times in a row.
    async fn abandon(&mut self) -> Result<()> {
        let known = match self.row.sending_at {
            Some(_) => OutgoingOutcome::Unknown,
            None => {
                let message = "Its workers ended before it was made.";
                OutgoingOutcome::Failed(failure_json(Code::ProviderUnreachable, message, None))
            }
        };
        ledger::complete(self.cx, &mut self.row, known).await
    }

    /// Replaces the photo of the change by one that the network takes. Returns false if the row was given back or has
    /// ended.
    async fn fit(&mut self, platform: platforms::PlatformId) -> Result<bool> {
        match photo::fit_photo(self.cx, &self.row, platform, &self.change).await? {
            FittedPhoto::AsIs => return Ok(true),
            FittedPhoto::Changed(change) => {
                self.change = change;
                return ledger::save_change(self.cx, &mut self.row, &self.change).await;
            }
            FittedPhoto::Later => self.defer(PHOTO_INTERVAL).await?,
            FittedPhoto::Broken(error) => {
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Failed(error)).await?;
            }
        }
        Ok(false)
    }

    async fn fail_unreadable(&mut self) -> Result<()> {
        self.fail_unconnected(
            "The stored credentials of the account cannot be opened; connect it again.",
        )
        .await
    }

    async fn fail_disconnected(&mut self) -> Result<()> {
        self.fail_unconnected("The account must be connected again first.").await
    }

    async fn fail_unconnected(&mut self, message: &str) -> Result<()> {
        let known = match self.row.sending_at {
            Some(_) => OutgoingOutcome::Unknown,
            None => {
                OutgoingOutcome::Failed(failure_json(Code::AccountReconnectRequired, message, None))
            }
        };
        ledger::complete(self.cx, &mut self.row, known).await
    }

    async fn make(&mut self, account: &account::Model, mut session: Session) -> Result<()> {
        if self.row.sending_at.is_some()
            && matches!(self.settle(&session).await?, StepOutcome::Done)
        {
            return Ok(());
        }
        let mut fresh = false;
        loop {
            match self.step(account, &mut session).await? {
                StepOutcome::Step => fresh = false,
                StepOutcome::Done => return Ok(()),
                StepOutcome::Refresh(error) if fresh => {
                    return self.fail_reconnect_required(&error).await;
                }
                StepOutcome::Refresh(error) => match self.refresh(account, &error).await? {
                    Some(again) => (session, fresh) = (again, true),
                    None => return Ok(()),
                },
            }
        }
    }

    /// Returns a session with fresh tokens, or `None` if the row was given back or has ended.
    async fn refresh(
        &mut self,
        account: &account::Model,
        error: &platforms::Error,
    ) -> Result<Option<Session>> {
        let platform = crate::platforms::from_row(&account.platform)?;
        match accounts::refresh(self.cx, platform, account.id, account.secret_id).await? {
            RefreshOutcome::Fresh => {
                let row = accounts::row(self.cx, account.id).await?;
                if let Some(row) = row
                    && let Some(session) = accounts::session(self.cx, &row).await?
                {
                    return Ok(Some(session));
                }
                self.fail_disconnected().await?;
            }
            RefreshOutcome::Elsewhere => self.defer(1_000).await?,
            RefreshOutcome::Impossible => self.fail_reconnect_required(error).await?,
            RefreshOutcome::Failed(error) if error.kind == platforms::ErrorKind::Reconnect => {
                self.fail_reconnect_required(&error).await?;
            }
            RefreshOutcome::Failed(error) => self.retry(&error).await?,
        }
        Ok(None)
    }

    async fn fail_reconnect_required(&mut self, error: &platforms::Error) -> Result<()> {
        accounts::mark_needs_reconnect(self.cx, self.row.account_id).await?;
        let error = platforms::Error { kind: platforms::ErrorKind::Reconnect, ..error.clone() };
        self.fail(failure::from_error(&error)).await
    }

    async fn step(
        &mut self,
        account: &account::Model,
        session: &mut Session,
    ) -> Result<StepOutcome> {
        let step = self.changes.step(&self.change, self.row.state.as_ref());
        let Some(permit) = self.permit(&step, account, session).await? else {
            return Ok(StepOutcome::Done);
        };
        if !ledger::begin(self.cx, &mut self.row, self.holder, &step).await? {
            permit.release(self.cx).await;
            return Ok(StepOutcome::Done);
        }
        session.now = self.cx.clock.date();
        let answer = self.changes.apply_change(session, &self.change, self.row.state.clone()).await;
        self.cx.failpoint.reach(called_failpoint(step.phase)).await;
        let outcome = match &answer {
            Ok(_) => "done",
            Err(error) => match decide(error.kind, step.phase) {
                RetryAction::Lost => "lost",
                _ => "refused",
            },
        };
        ledger::end_step(&mut self.row, outcome, self.cx.clock.now());
        match answer {
            Ok(progress) => self.advance(progress).await,
            Err(error) => self.handle_error(&step, error, session).await,
        }
    }

    /// Handles the success of a call: completes the change, or goes on with the next step.
    pub(super) async fn advance(&mut self, progress: Progress) -> Result<StepOutcome> {
        match progress {
            Progress::Done(made) => {
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Sent(made.id)).await?;
                Ok(StepOutcome::Done)
            }
            Progress::Continue { state, after, .. } => {
                self.row.state = Some(state);
                self.row.sending_at = None;
                self.row.sending_until = None;
                if after > SHORT_WAIT {
                    let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX / 4);
                    self.defer(after).await?;
                    return Ok(StepOutcome::Done);
                }
                if !after.is_zero() {
                    if !ledger::save_progress(self.cx, &mut self.row).await? {
                        return Ok(StepOutcome::Done);
                    }
                    tokio::time::sleep(after).await;
                }
                Ok(StepOutcome::Step)
            }
        }
    }

    async fn handle_error(
        &mut self,
        step: &Step,
        error: platforms::Error,
        session: &Session,
    ) -> Result<StepOutcome> {
        let action = decide(error.kind, step.phase);
        if action == RetryAction::Lost {
            return self.handle_lost_reply(session).await;
        }
        let refused = self.changes.refusal_reason(&self.change, &error);
        // An answer to this call says nothing about an earlier one, unless it says that the change is done.
        let repeated = self.row.repeated > 0;
        if refused == Some(RefusalReason::Done) && (repeated || self.is_state()) {
            ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Sent(String::new())).await?;
            return Ok(StepOutcome::Done);
        }
        if !repeated {
            self.row.sending_at = None;
            self.row.sending_until = None;
        }
        if let Some(refused) = refused {
            self.fail(failure::from_refusal(refused, &error)).await?;
            return Ok(StepOutcome::Done);
        }
        // A refusal may have used up the one allowed answer.
        let once =
            matches!(self.change, RemoteChange::PrivateReply { .. }) && error.reply.is_some();
        match action {
            RetryAction::Refresh => return Ok(StepOutcome::Refresh(error)),
            RetryAction::Retry if !once => self.retry(&error).await?,
            RetryAction::Wait => self.wait(&error).await?,
            RetryAction::Reconnect => self.fail_reconnect_required(&error).await?,
            _ => self.fail(failure::from_error(&error)).await?,
        }
        Ok(StepOutcome::Done)
    }

    /// Returns true if the change sets a state, so that a refusal because it is done already counts as success.
    const fn is_state(&self) -> bool {
        matches!(
            self.change,
            RemoteChange::Delete { .. }
                | RemoteChange::Hide { .. }
                | RemoteChange::DeleteReviewReply { .. }
                | RemoteChange::DeleteMedia { .. }
        )
    }

    async fn fail(&mut self, error: serde_json::Value) -> Result<()> {
        // A call that may have been carried out before is not recorded as failed.
        let known = if self.row.sending_at.is_some() {
            OutgoingOutcome::Unknown
        } else {
            OutgoingOutcome::Failed(error)
        };
        ledger::complete(self.cx, &mut self.row, known).await
    }

    async fn retry(&mut self, error: &platforms::Error) -> Result<()> {
        let wait = usize::try_from(self.row.attempts).ok().and_then(|nth| BACKOFF.get(nth));
        let Some(wait) = wait else { return self.fail(failure::from_error(error)).await };
        self.row.attempts += 1;
        self.defer(*wait).await
    }

    /// Waits as long as the network asks, unless the change would be too late by then.
    async fn wait(&mut self, error: &platforms::Error) -> Result<()> {
        let asked = error.retry_after.and_then(|after| i64::try_from(after.as_millis()).ok());
        let asked = asked.unwrap_or(DEFAULT_WAIT).clamp(1_000, 24 * HOUR);
        // A photo may be added tomorrow; a late answer is useless.
        let longest = match self.change {
            RemoteChange::AddMedia { .. } => 7 * 24 * HOUR,
            _ => HOUR,
        };
        if self.cx.clock.now() + asked > self.row.created_at + longest {
            return self.fail(failure::from_error(error)).await;
        }
        self.defer(asked).await
    }

    pub(super) async fn defer(&mut self, after: i64) -> Result<()> {
        let due_at = self.cx.clock.now() + after;
        ledger::defer(self.cx, &mut self.row, due_at).await
    }

    /// Handles a lost answer: repeats the call if that is harmless, and otherwise asks about it later.
    async fn handle_lost_reply(&mut self, session: &Session) -> Result<StepOutcome> {
        self.cx.failpoint.reach("outgoing_lost").await;
        if !matches!(self.changes.class(&self.change), RecoveryClass::Key { .. }) {
            let until = self.row.sending_until.unwrap_or_else(|| self.cx.clock.now());
            let after = until + SETTLE_TIME - self.cx.clock.now();
            self.defer(after.max(0)).await?;
            return Ok(StepOutcome::Done);
        }
        if let Some(found) = self.try_settle(session).await? {
            return self.advance(found).await;
        }
        self.row.repeated += 1;
        if self.row.repeated % IMMEDIATE_REPEATS != 0 {
            return Ok(StepOutcome::Step);
        }
        if self.row.repeated >= 4 * IMMEDIATE_REPEATS {
            ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Unknown).await?;
            return Ok(StepOutcome::Done);
        }
        self.defer(5_000).await?;
        Ok(StepOutcome::Done)
    }
}

const fn called_failpoint(phase: Phase) -> &'static str {
    match phase {
        Phase::Commit => "outgoing_called",
        Phase::Prepare | Phase::Confirm => "outgoing_prepare_called",
    }
}
