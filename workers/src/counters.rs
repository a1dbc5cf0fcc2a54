//! Counters of the work that this process has done since its last heartbeat.

use std::sync::{Mutex, PoisonError};

use fanfare_core::troubles::Sign;
use fanfare_entities::{Millis, WorkspaceId, webhook_delivery::DeliveryStatus};
use fanfare_insight::ai::video::work::VideoOutcome;
use fanfare_jobs::JobKind;
use fanfare_ops::ops::samples::{SampleCounts, SampleKey, lateness_measure, measure};
use fanfare_people::{billing::events::EventOutcome, mail::delivery::MailOutcome};
use fanfare_publishing::{
    media::CopyOutcome,
    posts::{PostStatus, publishing::CompleteStep},
};
use serde_json::Value;

/// Returns true if one of the warnings says that others see the post than it was meant for.
fn differs_in_visibility(warnings: &Value) -> bool {
    let mut warnings = warnings.as_array().into_iter().flatten();
    warnings.any(|warning| warning["code"] == "visibility_differs")
}

/// Counts to be written with the next heartbeat.
#[derive(Debug, Default)]
pub struct Counters(Mutex<SampleCounts>);

impl Counters {
    fn add(&self, kind: JobKind, platform: &str, measure: String) {
        let key = SampleKey { kind: kind.as_str(), platform: platform.to_owned(), measure };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
    }

    /// Counts how late work began.
    pub fn began(&self, kind: JobKind, platform: &str, late_by: Millis) {
        self.add(kind, platform, lateness_measure(late_by));
    }

    /// Counts the outcome of a post.
    pub fn post(&self, platform: &str, record: &CompleteStep) {
        let kind = JobKind::PublishPost;
        let measure = match record.status {
            PostStatus::Published => measure::DONE,
            PostStatus::Failed => measure::FAILED,
            _ if record.next_attempt_at.is_some() => measure::RETRIED,
            _ => return,
        };
        self.add(kind, platform, measure.to_owned());
        if record.warnings.as_ref().is_some_and(differs_in_visibility) {
            self.add(kind, platform, measure::HIDDEN.to_owned());
        }
        let code = record.error.as_ref().and_then(|error| error.get("code")?.as_str());
        if let Some(code) = code {
            self.add(kind, platform, format!("{}{code}", measure::ERROR));
        }
    }

    /// Counts a look at a published post without a log-in.
    pub fn look(&self, platform: &str, is_shown: bool) {
        let measure = if is_shown { measure::LOOK_OPEN } else { measure::LOOK_CLOSED };
        self.add(JobKind::PublishPost, platform, measure.to_owned());
    }

    /// Counts how an attempt at publishing a post ended, for the part of the workspaces to which this one belongs.
    pub fn attempt(&self, platform: &str, workspace: WorkspaceId, outcome: &str) {
        let signs: &[Sign] = match outcome {
            "published" | "processing" => &[Sign::Well],
            "outcome_unknown" => &[Sign::Failed, Sign::Unknown],
            "failed" | "retry" => &[Sign::Failed],
            _ => &[],
        };
        for sign in signs {
            self.add(JobKind::PublishPost, platform, sign.measure(workspace));
        }
    }

    /// Counts the outcome of a webhook delivery.
    pub fn delivery(&self, status: DeliveryStatus) {
        let measure = match status {
            DeliveryStatus::Delivered => measure::DONE,
            DeliveryStatus::Failed => measure::FAILED,
            DeliveryStatus::Pending => measure::RETRIED,
        };
        self.add(JobKind::DeliverWebhook, "", measure.to_owned());
    }

    /// Counts the outcome of a copy.
    pub fn copy(&self, outcome: &CopyOutcome) {
        let measure = match outcome {
            CopyOutcome::Stored(_) | CopyOutcome::Unchanged(_) => measure::DONE,
            CopyOutcome::Failed(_) => measure::FAILED,
            CopyOutcome::Retry(_) => measure::RETRIED,
        };
        self.add(JobKind::CopyMedia, "", measure.to_owned());
    }

    /// Counts the outcome of a Stripe event.
    pub fn event(&self, outcome: &EventOutcome) {
        let measure = match outcome {
            EventOutcome::Applied => measure::DONE,
            EventOutcome::Failed(_) => measure::FAILED,
            EventOutcome::Retry(..) => measure::RETRIED,
        };
        self.add(JobKind::ApplyStripeEvent, "", measure.to_owned());
    }

    /// Counts the outcome of an e-mail.
    pub fn letter(&self, outcome: &MailOutcome) {
        let measure = match outcome {
            MailOutcome::Sent | MailOutcome::Dropped => measure::DONE,
            MailOutcome::Failed(_) => measure::FAILED,
            MailOutcome::Retry(..) => measure::RETRIED,
        };
        self.add(JobKind::SendMail, "", measure.to_owned());
    }

    /// Counts the outcome of a video's step.
    pub fn film(&self, outcome: &VideoOutcome) {
        let measure = match outcome {
            VideoOutcome::Stored(_) => measure::DONE,
            VideoOutcome::Failed(_) => measure::FAILED,
            VideoOutcome::Retry { .. } => measure::RETRIED,
            VideoOutcome::Pending(..) => return,
        };
        self.add(JobKind::MakeVideo, "", measure.to_owned());
    }

    /// Counts the outcome of work on a file.
    pub fn media(&self, kind: JobKind, measure: &'static str) {
        self.add(kind, "", measure.to_owned());
    }

    /// Takes the counts and starts over.
    pub fn take(&self) -> SampleCounts {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds counts that could not be written.
    pub fn give_back(&self, counts: SampleCounts) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, n) in counts {
            *now.entry(key).or_default() += n;
        }
    }
}
