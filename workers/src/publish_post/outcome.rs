//! Writes the results of steps: successes, and the failures that end a post.

use std::sync::Arc;

use fanfare_core::{Result, db_retry::retry_while_unavailable, durable::LEASE};
use fanfare_entities::Millis;
use fanfare_platforms::{self as platforms, Phase, Progress, PublishedPost};
use fanfare_publishing::{
    accounts,
    posts::{PostPart, PostStatus, publishing::CompleteStep},
};
use serde_json::{Value, json};

use super::{attempt, retry_policy::Failure, run::Run};
use crate::engine::Next;

/// The longest time that a post whose network works on it stays in the line of its account, in ms. Later posts of the
/// account are prepared meanwhile; then they pass it.
const PROCESSING_IN_LINE: Millis = 30_000;

impl Run<'_> {
    /// Handles the success of a step: finishes the post, goes on with the next step, or waits.
    pub(super) async fn go_on(&mut self, progress: Progress) -> Result<Next> {
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        self.attempt.error = None;
        let now = self.cx.now();
        self.note_made(&progress);
        match progress {
            Progress::Done(published) => {
                self.finish(published).await?;
                Ok(Next::Done)
            }
            Progress::Continue { state, after, remote_id, public } => {
                attempt::end_step(&mut self.attempt, remote_id.as_deref(), now);
                self.state = Some(state);
                self.partly_public |= public;
                if after.is_zero() {
                    let going_on =
                        CompleteStep { keep_lease: true, ..self.completed_step(Some(now + LEASE)) };
                    return Ok(if self.write_result(going_on).await? {
                        Next::Step
                    } else {
                        Next::Done
                    });
                }
                let waiting = CompleteStep {
                    status: self.waiting_status(),
                    out_of_line: now > self.attempt.started_at + PROCESSING_IN_LINE,
                    ..self.completed_step(Some(now + super::retry_policy::millis(after)))
                };
                self.write_result(waiting).await?;
                Ok(Next::Done)
            }
        }
    }

    /// Notes the public objects that a step has made, for the register of what is ours.
    fn note_made(&mut self, progress: &Progress) {
        match progress {
            Progress::Done(published) => {
                let parts = published.parts.iter().map(|part| &part.id);
                let made = std::iter::once(&published.id).chain(parts).chain(&published.names);
                self.made.extend(made.cloned());
            }
            Progress::Continue { remote_id, public: true, .. } => {
                self.made.extend(remote_id.iter().cloned());
            }
            Progress::Continue { .. } => {}
        }
        self.made.retain(|id| !id.is_empty());
    }

    async fn finish(&mut self, published: PublishedPost) -> Result<()> {
        let now = self.cx.now();
        // The last call made the last part.
        let made = published.parts.last().map_or(&published.id, |part| &part.id);
        attempt::end_step(&mut self.attempt, Some(made), now);
        if published.id.is_empty() {
            // A post without an id is never called published: it is not known to be public.
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        attempt::close(&mut self.attempt, "published", None, now);
        (self.state, self.row.error) = (None, None);
        let warnings = (!published.warnings.is_empty()).then(|| json!(published.warnings));
        let shown =
            |url: Option<String>| url.map(|url| accounts::browser_url(&self.cx.domain, url));
        let parts: Vec<_> = published
            .parts
            .into_iter()
            .map(|part| json!(PostPart::of(part.name, part.id, shown(part.url))))
            .collect();
        let url = shown(published.url);
        let address = url.clone();
        let mut names: Vec<String> =
            self.made.iter().filter(|id| **id != published.id).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let record = CompleteStep {
            status: PostStatus::Published,
            names,
            published: Some((published.id, url)),
            parts: (!parts.is_empty()).then(|| parts.into()),
            warnings,
            next_attempt_at: None,
            ended: Some(self.row.clone()),
            ..self.completed_step(None)
        };
        if self.write_result(record).await? {
            self.cx.note_published(self.row.account_id);
            self.cx.look_as_stranger(self.platform.spec(), address.as_deref());
        }
        Ok(())
    }

    /// Fails the post.
    pub async fn fail(mut self, failure: Failure) -> Result<()> {
        self.fail_with(failure).await
    }

    /// Fails the post. If a call is unsettled the failure is `outcome_unknown`, whatever the reason, since the post may
    /// be public.
    pub(super) async fn fail_with(&mut self, mut failure: Failure) -> Result<()> {
        let now = self.cx.now();
        if self.row.sending_at.is_some() && !failure.may_be_public() {
            failure = Failure::outcome_unknown(&self.row.platform);
        }
        if failure.may_be_public()
            && let Some(refusal) = self.refusal()
        {
            failure = failure.after_refusal(&self.row.platform, refusal);
        }
        attempt::close(&mut self.attempt, failure.outcome(), Some(failure.to_json()), now);
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        let record = CompleteStep {
            status: PostStatus::Failed,
            error: Some(failure.to_json()),
            next_attempt_at: None,
            duplicate_risk: failure.may_be_public(),
            ended: Some(self.row.clone()),
            parts: self.public_parts(),
            // A chain that is partly public resumes where it stopped; anything else starts anew when it is retried.
            state: self.state.clone().filter(|_| self.partly_public),
            ..self.completed_step(None)
        };
        self.write_result(record).await.map(drop)
    }

    /// Returns the parts that are public of a post that fails before its end.
    fn public_parts(&self) -> Option<Value> {
        let state = self.state.as_ref().filter(|_| self.partly_public)?;
        let parts = self.platform.public_parts(&self.draft, state).into_iter();
        let parts: Vec<_> =
            parts.map(|part| json!(PostPart::of(part.name, part.id, part.url))).collect();
        (!parts.is_empty()).then(|| parts.into())
    }

    /// Returns true if the network took the post, and what became of it is not known yet.
    pub(super) fn is_accepted(&self) -> bool {
        self.partly_public && self.was_asked()
    }

    /// Returns true if the last step read what the network has.
    fn was_asked(&self) -> bool {
        let last = self.attempt.steps.as_array().and_then(|steps| steps.last());
        last.is_some_and(|step| step["phase"] == Phase::Confirm.as_str())
    }

    /// Forgets what was accepted, if the network's own record says that nothing came of it: nothing is public, and the post
    /// starts anew when it is retried.
    pub(super) fn forget_if_nothing_came_of_it(&mut self, error: &platforms::Error) {
        if self.was_asked() && error.effect == platforms::Effect::None {
            (self.partly_public, self.state) = (false, None);
        }
    }

    /// Returns the status while no step is under way; a post that must be reconciled cannot be changed.
    pub(super) fn idle_status(&self) -> PostStatus {
        match (self.partly_public, self.sending()) {
            (true, _) => PostStatus::Processing,
            (false, Some(_)) => PostStatus::Publishing,
            (false, None) => PostStatus::Scheduled,
        }
    }

    /// Returns the status while the post may be going out.
    pub(super) fn busy_status(&self) -> PostStatus {
        if self.partly_public { PostStatus::Processing } else { PostStatus::Publishing }
    }

    /// Returns the status while the network is working on the post.
    fn waiting_status(&self) -> PostStatus {
        if self.row.status == PostStatus::Scheduled && !self.partly_public {
            PostStatus::Scheduled
        } else {
            PostStatus::Processing
        }
    }

    /// Returns the row as it is now, due at `due_at`.
    pub(super) fn completed_step(&self, due_at: Option<Millis>) -> CompleteStep {
        // An attempt without a step is not recorded.
        let began = self.attempt.steps.as_array().is_some_and(|steps| !steps.is_empty());
        let told = began || self.attempt.ended_at.is_some();
        CompleteStep {
            lease: self.lease,
            keep_lease: false,
            status: if self.partly_public { PostStatus::Processing } else { self.row.status },
            due_at,
            out_of_line: false,
            behind: false,
            state: self.state.clone(),
            partly_public: self.partly_public,
            attempts: self.row.attempts,
            sending: self.sending(),
            reconciling_at: self.row.reconciling_at,
            absent_at: self.row.absent_at.filter(|_| self.row.sending_at.is_some()),
            made: (self.row.account_id, self.made.clone()),
            names: Vec::new(),
            published: None,
            parts: None,
            warnings: None,
            error: self.row.error.clone(),
            next_attempt_at: None,
            duplicate_risk: false,
            attempt: told.then(|| self.attempt.clone()),
            ended: None,
        }
    }

    pub(super) async fn write_result(&mut self, record: CompleteStep) -> Result<bool> {
        let ended = record.attempt.as_ref().and_then(|attempt| attempt.outcome);
        let code =
            record.error.as_ref().and_then(|error| error["code"].as_str().map(str::to_owned));
        let place = (&self.cx.domain.clock, &self.cx.failpoint);
        let record = Arc::new(record);
        let write = || self.cx.complete_step.call((), Arc::clone(&record));
        let held = retry_while_unavailable(place, LEASE, write).await?;
        if held {
            self.cx.counters.post(&self.row.platform, &record);
        }
        self.cx.failpoint.reach("recorded").await;
        if let Some(outcome) = ended.filter(|_| held) {
            let platform = self.platform.spec().id.as_str();
            tracing::info!(outcome, code, "an attempt to publish a post ended");
            self.cx.counters.attempt(platform, self.row.workspace_id, outcome);
            fanfare_metrics::record::publish_attempt(platform, outcome, code);
        } else if held {
            tracing::debug!("a post's progress was written down");
        }
        if !held {
            fanfare_metrics::record::discarded_result("publish_post");
            tracing::info!(
                post.id = self.lease.id,
                "a result was discarded: the post has a newer holder"
            );
        }
        Ok(held)
    }
}
