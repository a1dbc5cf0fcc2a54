//! Finds out whether a call whose answer was lost was carried out.

use std::time::Duration;

use fanfare_entities::Millis;
use fanfare_platforms::{Progress, ReconcileOutcome, RecoveryClass, Session};

use super::{
    carry_out::{Run, StepOutcome},
    failure::failure_json,
    ledger,
    target::OutgoingOutcome,
};
use crate::{
    clock::date,
    error::{Code, Result},
    lost_calls::{CallWindow, Content, LostCall, Owner, SETTLE_TIME, Verdict, is_absent},
};

/// The time after the call for which the network is asked, in ms, besides the time for which its lists lag.
const MAX_SETTLE_TIME: Millis = 120_000;

/// The interval at which the network is asked, in ms.
const SETTLE_INTERVAL: Millis = 5_000;

/// The longest time that asking the network may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);

impl Run<'_> {
    /// Asks whether the unsettled call was carried out. Returns [`StepOutcome::Step`] if it is to be repeated, which is
    /// harmless then.
    pub(super) async fn settle(&mut self, session: &Session) -> Result<StepOutcome> {
        let now = self.cx.clock.now();
        if matches!(self.changes.class(&self.change), RecoveryClass::Key { .. }) {
            if let Some(found) = self.try_settle(session).await? {
                return self.advance(found).await;
            }
            self.row.repeated += 1;
            return Ok(StepOutcome::Step);
        }
        let settled_at = self.row.sending_until.unwrap_or(now) + SETTLE_TIME;
        if now < settled_at {
            self.defer(settled_at - now).await?;
            return Ok(StepOutcome::Done);
        }
        let sent_at = self.row.sending_at.unwrap_or(now);
        match self.ask(session, sent_at).await? {
            Verdict::Found(progress) => {
                self.advance(progress).await?;
            }
            Verdict::Absent if is_absent(self.row.absent_at, self.list_lag, now) => {
                self.row.sending_at = None;
                let message = "The network did not get it; it is safe to send it again.";
                let error = failure_json(Code::ProviderUnreachable, message, None);
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Failed(error)).await?;
            }
            Verdict::Absent => {
                let again = *self.row.absent_at.get_or_insert(now) + self.list_lag;
                self.defer((again - now).max(SETTLE_INTERVAL)).await?;
            }
            Verdict::Doubt if now - sent_at < MAX_SETTLE_TIME + self.list_lag => {
                self.defer(SETTLE_INTERVAL).await?;
            }
            Verdict::Doubt => {
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Unknown).await?;
            }
        }
        Ok(StepOutcome::Done)
    }

    /// Reads the outcome of a lost call, if it can be read now.
    pub(super) async fn try_settle(&self, session: &Session) -> Result<Option<Progress>> {
        let sent_at = self.row.sending_at.unwrap_or_else(|| self.cx.clock.now());
        Ok(match self.ask(session, sent_at).await? {
            Verdict::Found(progress) => Some(progress),
            Verdict::Absent | Verdict::Doubt => None,
        })
    }

    async fn ask(&self, session: &Session, sent_at: Millis) -> Result<Verdict> {
        let state = self.row.state.clone();
        let question = self.changes.find_result(session, &self.change, state, date(sent_at));
        let clock = session.http.server_clock();
        match tokio::time::timeout(CALL_TIMEOUT, question).await {
            Ok(Ok(ReconcileOutcome::Committed(progress))) => Ok(Verdict::Found(progress)),
            Ok(Ok(ReconcileOutcome::NotCommitted | ReconcileOutcome::HandleEnded))
                if !clock.is_cached() =>
            {
                Ok(Verdict::Absent)
            }
            Ok(Ok(ReconcileOutcome::Listed(listing))) => {
                self.lost_call(sent_at).judge(self.cx, listing, clock).await
            }
            _ => Ok(Verdict::Doubt),
        }
    }

    fn lost_call(&self, sent_at: Millis) -> LostCall<'_> {
        let row = &self.row;
        LostCall {
            account_id: row.account_id,
            owner: Owner::Outgoing(row.id.0),
            content: Content::Change { scope: &row.scope, fingerprint: &row.fingerprint },
            window: CallWindow {
                from: sent_at,
                lost_at: ledger::lost_at(row),
                until: row.sending_until.unwrap_or(sent_at),
            },
        }
    }
}
