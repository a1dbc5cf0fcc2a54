//! Writes the results of steps.

use std::{sync::Arc, time::Duration};

use fanfare_core::{Result, db_retry::retry_while_unavailable, durable::LEASE};
use fanfare_entities::Millis;
use fanfare_platforms::{
    self as platforms, Phase, Progress, PublishedPost, RecoveryClass, Session,
};
use fanfare_publishing::{
    accounts,
    posts::{
        PostPart, PostStatus,
        publishing::{CompleteStep, aside_until},
    },
};
use serde_json::{Value, json};

use super::{
    attempt,
    retry_policy::{Failure, grown, next_attempt_at, wait_until},
    run::Run,
};
use crate::engine::{Next, RemoteWork};

/// The longest time that a post whose network works on it stays in the line of its account, in ms. Later posts of the
/// account are prepared meanwhile; then they pass it.
const PROCESSING_IN_LINE: Millis = 30_000;

/// The number of failures from which on later posts of the account pass.
const FAILURES_IN_LINE: i32 = 1;

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

    /// Handles a transient failure: schedules the next attempt, or fails the post if no attempts are left.
    pub(super) async fn retry_later(&mut self, error: &platforms::Error) -> Result<()> {
        let failures = self.row.attempts + 1;
        let failure = Failure::of(error);
        let now = self.cx.now();
        let Some(at) = next_attempt_at(self.lease.id, failures, error.retry_after, now) else {
            let is_open = self.is_accepted();
            let untold = || Failure::not_told(&self.row.platform, error);
            let failure = if is_open { untold() } else { failure };
            return self.fail_with(failure).await;
        };
        if self.is_too_late(at) {
            return self.fail_missed(&error.message).await;
        }
        attempt::close(&mut self.attempt, "retry", Some(failure.to_json()), now);
        if let Some(next) = &error.next_state {
            self.state = Some(next.clone());
        }
        let record = CompleteStep {
            status: self.idle_status(),
            attempts: failures,
            out_of_line: failures > FAILURES_IN_LINE,
            error: Some(failure.to_json()),
            next_attempt_at: Some(at),
            ..self.completed_step(Some(at))
        };
        self.write_result(record).await.map(drop)
    }

    /// Handles a limit of the network: waits as long as the network asks without counting a failure, and blocks the
    /// account, or the app if the network says so, for every other post. A limit that concerns this post alone lets the
    /// others pass.
    pub(super) async fn wait_as_asked(&mut self, error: &platforms::Error) -> Result<()> {
        let failure = Failure::of(error);
        let now = self.cx.now();
        let waits = self.attempt.number - 1;
        let named = if error.is_app_wide {
            tracing::warn!(
                platform = %self.row.platform, reason = %error.message,
                "a network limits all of the service's accounts"
            );
            grown(error.retry_after, waits)
        } else {
            error.retry_after
        };
        let at = wait_until(self.lease.id, waits, named, now);
        if let Some(lines) = self.limit_names.as_ref().filter(|_| !error.is_of_post_alone) {
            let line = if error.is_app_wide { &lines.app } else { &lines.account };
            let time = Duration::from_millis((at - now).unsigned_abs());
            self.cx.domain.limits.block(line, time).await;
        }
        if self.is_too_late(at) {
            return match error.is_of_post_alone {
                true => self.fail_with(failure).await,
                false => self.fail_missed(&error.message).await,
            };
        }
        attempt::close(&mut self.attempt, "rate_limited", Some(failure.to_json()), now);
        let record = CompleteStep {
            status: self.idle_status(),
            out_of_line: error.is_of_post_alone,
            next_attempt_at: Some(at),
            error: Some(failure.to_json()),
            ..self.completed_step(Some(at))
        };
        self.write_result(record).await.map(drop)
    }

    /// Gives the row back until `at`, without a failure.
    pub(super) async fn wait_until(&mut self, at: Millis, why: Option<Value>) -> Result<()> {
        let record = CompleteStep {
            status: self.idle_status(),
            next_attempt_at: why.is_some().then_some(at),
            error: why,
            ..self.completed_step(Some(at))
        };
        self.write_result(record).await.map(drop)
    }

    /// Gives the row back until `at`, because there is nothing to do before.
    pub async fn defer_until(mut self, at: Millis) -> Result<()> {
        self.wait_until(at, None).await
    }

    /// Gives the row back until the rate limit allows the call; callers see this time as `next_attempt_at`.
    pub(super) async fn wait_for_rate_limit(
        &mut self,
        at: Millis,
        why: Option<Value>,
    ) -> Result<()> {
        if self.is_too_late(at) {
            let asked = why.as_ref().and_then(|why| why["message"].as_str());
            return self.fail_missed(asked.unwrap_or("the platform asks to wait longer.")).await;
        }
        let record = CompleteStep {
            status: self.idle_status(),
            next_attempt_at: Some(at),
            error: why,
            ..self.completed_step(Some(at))
        };
        self.write_result(record).await.map(drop)
    }

    /// Gives the row back without having taken a step.
    pub(super) async fn defer(&mut self, at: Millis) -> Result<()> {
        let back = CompleteStep {
            status: self.idle_status(),
            out_of_line: self.row.out_of_line,
            next_attempt_at: self.row.next_attempt_at,
            ..self.completed_step(Some(at))
        };
        self.write_result(back).await.map(drop)
    }

    /// Gives the row back if the begin of a step was not recorded: another worker has the row, or an earlier post of
    /// the account has to go out first, which makes this one due.
    pub(super) async fn withdraw_step(&mut self) -> Result<()> {
        attempt::withdraw_step(&mut self.attempt);
        self.row.sending_at = self.row.sending_at.filter(|_| self.is_repeated());
        self.row.sending_until = self.row.sending_until.filter(|_| self.is_repeated());
        let aside = CompleteStep {
            status: self.idle_status(),
            behind: true,
            next_attempt_at: self.row.next_attempt_at,
            ..self.completed_step(Some(aside_until(&self.row, self.cx.now())))
        };
        self.write_result(aside).await.map(drop)
    }

    /// Gives the row back until its files are ready, or until it is time to check them again. Later posts of the
    /// account may pass it.
    pub async fn wait_for_media(mut self, at: Millis) -> Result<()> {
        let waiting = CompleteStep {
            status: self.idle_status(),
            out_of_line: true,
            ..self.completed_step(Some(at))
        };
        self.write_result(waiting).await.map(drop)
    }

    /// Returns true if `at` is after the latest time at which the post may still go out. A post that may be public is
    /// never too late.
    fn is_too_late(&self, at: Millis) -> bool {
        let latest =
            self.latest_start().filter(|_| !self.partly_public && self.row.sending_at.is_none());
        latest.is_some_and(|latest| at > latest)
    }

    async fn fail_missed(&mut self, reason: &str) -> Result<()> {
        let missed = Failure::missed(fanfare_publishing::settings(&self.cx.domain).max_lateness);
        self.fail_with(missed.because(reason)).await
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
    fn is_accepted(&self) -> bool {
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

    /// Returns the status while no step is under way; a post that must be reconciled cannot be changed.
    fn idle_status(&self) -> PostStatus {
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
