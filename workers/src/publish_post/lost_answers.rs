//! Handles commit calls that leave it open whether they were carried out.

use fanfare_core::Result;
use fanfare_platforms::{self as platforms, RecoveryClass, Session};
use fanfare_publishing::posts::publishing::CompleteStep;
use serde_json::Value;

use super::{
    retry_policy::{Failure, next_attempt_at},
    run::Run,
};
use crate::engine::RemoteWork;

impl Run<'_> {
    /// Handles a refusal that does not tell whether the commit call was carried out: the post is reconciled as after a
    /// lost answer, and fails with the refusal if it was not.
    pub(super) async fn handle_open_refusal(
        &mut self,
        session: &Session,
        error: platforms::Error,
    ) -> Result<()> {
        self.attempt.error = Some(Failure::of(&error).to_json());
        // The call is over.
        self.row.sending_until = Some(self.cx.now());
        self.handle_lost_reply(session, error).await
    }

    /// Returns the refusal of the unsettled call, if it was refused.
    pub(super) fn refusal(&self) -> Option<&Value> {
        self.attempt.error.as_ref().filter(|_| self.attempt.ended_at.is_none())
    }

    /// Handles a commit call without a readable answer: the post is reconciled later, or fails if that is impossible.
    pub(super) async fn handle_lost_reply(
        &mut self,
        session: &Session,
        mut error: platforms::Error,
    ) -> Result<()> {
        // What is sent next, if it turns out that this call was not carried out.
        self.state = error.next_state.take().or(self.state.take());
        if self.platform.recovery_class(&session.account, &self.draft) == RecoveryClass::Blind {
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        let now = self.cx.now();
        let settled_from = self.unsettled(session).map_or(now, |call| call.settled_from());
        let mut at = settled_from.max(now + 1_000);
        if self.is_repeated() {
            self.row.attempts += 1;
            match next_attempt_at(self.lease.id, self.row.attempts, None, now) {
                Some(later) => at = at.max(later),
                None => return self.fail_with(Failure::of(&error)).await,
            }
        }
        let record = CompleteStep {
            status: self.busy_status(),
            out_of_line: true,
            error: Some(Failure::of(&error).to_json()),
            ..self.completed_step(Some(at))
        };
        self.write_result(record).await.map(drop)
    }
}
