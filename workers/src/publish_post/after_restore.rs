//! Settles a post that a restore made an open question: whether it was sent after the backup.
//!
//! Unlike a lost answer, nothing is sent again here: its owner may have changed or deleted it after the backup, which the
//! database no longer knows.

use fanfare_domain::{
    Result,
    lost_calls::{Verdict, is_absent},
};
use fanfare_entities::Millis;
use fanfare_platforms::{Phase, Progress};

use super::{
    retry_policy::Failure,
    run::{Run, StepOutcome},
};

impl Run<'_> {
    /// Acts on what the network shows. `is_settled` is false while a call could still be carried out.
    pub(super) async fn settle_after_restore(
        &mut self,
        verdict: Verdict,
        (begun, now): (Millis, Millis),
        is_settled: bool,
    ) -> Result<()> {
        match verdict {
            Verdict::Found(progress) if self.is_whole(&progress) => {
                if !matches!(self.advance(progress).await?, StepOutcome::Done) {
                    self.make_due_now().await?;
                }
                Ok(())
            }
            // The further parts may be public or not.
            Verdict::Found(_) => self.fail_unknown_after_restore().await,
            Verdict::Absent
                if is_settled && is_absent(self.row.absent_at, self.list_lag(), now) =>
            {
                self.fail_not_sent().await
            }
            Verdict::Absent => self.look_again(now).await,
            Verdict::Doubt if self.has_asked_for_long(begun, now) => {
                self.fail_unknown_after_restore().await
            }
            Verdict::Doubt => self.reconcile_later(begun).await,
        }
    }

    /// Returns true if nothing of the post is left to publish.
    fn is_whole(&self, progress: &Progress) -> bool {
        match progress {
            Progress::Done(_) => true,
            Progress::Continue { state, .. } => {
                self.platform.step(&self.draft, Some(state)).phase == Phase::Confirm
            }
        }
    }

    /// Leaves the post to a person.
    pub(super) async fn fail_unknown_after_restore(&mut self) -> Result<()> {
        self.fail_with(Failure::unknown_after_restore(&self.row.platform)).await
    }

    /// Fails a post that was certainly not sent.
    async fn fail_not_sent(&mut self) -> Result<()> {
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        self.row.absent_at = None;
        self.fail_with(Failure::not_sent_before_restore(&self.row.platform)).await
    }
}
