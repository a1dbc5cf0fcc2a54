//! Settles a post that a restore made an open question: whether it was sent after the backup.
//!
//! Unlike a lost answer, nothing is sent again here: its owner may have changed or deleted it after the backup, which the
//! database no longer knows.

use fanfare_core::Result;
use fanfare_platforms::{Phase, Progress};

use super::{retry_policy::Failure, run::Run};
use crate::engine::{Finding, Next};

impl Run<'_> {
    /// Acts on what is known of it.
    pub(super) async fn settle_after_restore(&mut self, finding: Finding) -> Result<()> {
        match finding {
            Finding::Found(progress) if self.is_whole(&progress) => {
                if !matches!(self.go_on(progress).await?, Next::Done) {
                    self.make_due_now().await?;
                }
                Ok(())
            }
            Finding::NotMade => self.fail_not_sent().await,
            Finding::LookAgain => self.look_again().await,
            Finding::AskAgain => self.ask_later().await,
            // The further parts of a found one may be public or not. Nothing is repeated here.
            Finding::Found(_) | Finding::Repeat | Finding::Unknown | Finding::Blind => {
                self.fail_unknown_after_restore().await
            }
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
    async fn fail_unknown_after_restore(&mut self) -> Result<()> {
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
