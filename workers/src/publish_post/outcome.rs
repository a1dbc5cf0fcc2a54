//! Writes the results of steps.

use std::{sync::Arc, time::Duration};

use fanfare_domain::{
    Result, accounts,
    durable::LEASE,
    posts::{PostStatus, publishing::CompleteStep},
};
use fanfare_entities::Millis;
use fanfare_platforms::{self as platforms, Class, Progress, Published, Session};
use serde_json::{Value, json};

use super::{
    attempt,
    db_retry::until_answered,
    retry_policy::{Failure, after_wait, next_try},
    run::{Next, Run},
};

/// A post that came before its turn looks again after this time, in ms; usually the one before it enqueues it.
const BEHIND: Millis = 250;

impl Run<'_> {
    /// A step that went well.
    pub(super) async fn advance(&mut self, progress: Progress) -> Result<Next> {
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        let now = self.cx.now();
        match progress {
            Progress::Done(published) => {
                self.finish(published).await?;
                Ok(Next::Over)
            }
            Progress::Continue { state, after, remote_id, public } => {
                attempt::end(&mut self.attempt, remote_id.as_deref(), now);
                self.state = Some(state);
                self.partly_public |= public;
                if after.is_zero() {
                    let going_on =
                        CompleteStep { keep: true, ..self.completed_step(Some(now + LEASE)) };
                    return Ok(if self.write(going_on).await? { Next::Step } else { Next::Over });
                }
                let waiting = CompleteStep {
                    status: self.waiting_status(),
                    out_of_line: true,
                    ..self.completed_step(Some(now + super::retry_policy::millis(after)))
                };
                self.write(waiting).await?;
                Ok(Next::Over)
            }
        }
    }

    async fn finish(&mut self, published: Published) -> Result<()> {
        let now = self.cx.now();
        attempt::end(&mut self.attempt, Some(&published.id), now);
        if published.id.is_empty() {
            // A post without an id is never called published: it is not known to be public.
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        attempt::close(&mut self.attempt, "published", None, now);
        (self.state, self.row.error) = (None, None);
        let warnings = (!published.warnings.is_empty()).then(|| json!(published.warnings));
        let url = published.url.map(|url| accounts::shown_url(&self.cx.domain, url));
        let record = CompleteStep {
            status: PostStatus::Published,
            published: Some((published.id, url)),
            warnings,
            next_attempt_at: None,
            ended: Some(self.row.clone()),
            ..self.completed_step(None)
        };
        if self.write(record).await? {
            self.cx.note_published(self.row.account_id);
        }
        Ok(())
    }

    /// A transient failure: the next try, or the end if there is none left.
    pub(super) async fn retry(&mut self, error: &platforms::Error) -> Result<()> {
        let failures = self.row.attempts + 1;
        let failure = Failure::of(error);
        let now = self.cx.now();
        let Some(at) = next_try(self.lease.id, failures, error.retry_after, now) else {
            return self.fail_with(failure).await;
        };
        if self.is_too_late(at) {
            return self.miss(&error.message).await;
        }
        attempt::close(&mut self.attempt, "retry", Some(failure.to_json()), now);
        let record = CompleteStep {
            status: self.idle_status(),
            attempts: failures,
            error: Some(failure.to_json()),
            next_attempt_at: Some(at),
            ..self.completed_step(Some(at))
        };
        self.write(record).await.map(drop)
    }

    /// A limit of the network: wait as it says, at no cost, and every other post of the account, or of the app if the
    /// network says so, with it.
    pub(super) async fn wait_as_asked(&mut self, error: &platforms::Error) -> Result<()> {
        let failure = Failure::of(error);
        let now = self.cx.now();
        let waits = self.attempt.number - 1;
        let at = after_wait(self.lease.id, waits, error.retry_after, now);
        if let Some(lines) = &self.limit_names {
            let line = if error.of_app { &lines.app } else { &lines.account };
            let time = Duration::from_millis((at - now).unsigned_abs());
            self.cx.domain.limits.block(line, time).await;
        }
        if self.is_too_late(at) {
            return self.miss(&error.message).await;
        }
        attempt::close(&mut self.attempt, "rate_limited", Some(failure.to_json()), now);
        self.wait(at, Some(failure.to_json())).await
    }

    /// Gives the row up until `at`, without a failure.
    pub(super) async fn wait(&mut self, at: Millis, why: Option<Value>) -> Result<()> {
        let record = CompleteStep {
            status: self.idle_status(),
            next_attempt_at: why.is_some().then_some(at),
            error: why,
            ..self.completed_step(Some(at))
        };
        self.write(record).await.map(drop)
    }

    /// Gives the row up until `at`: there is nothing to do for it before.
    pub async fn rest(mut self, at: Millis) -> Result<()> {
        self.wait(at, None).await
    }

    /// Gives the row up until its turn, which callers can see.
    pub(super) async fn wait_for_rate_limit(
        &mut self,
        at: Millis,
        why: Option<Value>,
    ) -> Result<()> {
        if self.is_too_late(at) {
            let asked = why.as_ref().and_then(|why| why["message"].as_str());
            return self.miss(asked.unwrap_or("the platform asks to wait longer.")).await;
        }
        let record = CompleteStep {
            status: self.idle_status(),
            next_attempt_at: Some(at),
            error: why,
            ..self.completed_step(Some(at))
        };
        self.write(record).await.map(drop)
    }

    /// Gives the row back without a step taken.
    pub(super) async fn defer(&mut self, at: Millis) -> Result<()> {
        let back = CompleteStep {
            status: self.idle_status(),
            out_of_line: self.row.out_of_line,
            next_attempt_at: self.row.next_attempt_at,
            ..self.completed_step(Some(at))
        };
        self.write(back).await.map(drop)
    }

    /// Gives the row back before a step that was not written down: it is another's now, which is known only by trying, or
    /// an earlier post of its account has to go out first.
    pub(super) async fn step_back(&mut self) -> Result<()> {
        attempt::withdraw(&mut self.attempt);
        self.row.sending_at = self.row.sending_at.filter(|_| self.is_repeated());
        self.row.sending_until = self.row.sending_until.filter(|_| self.is_repeated());
        self.defer(self.cx.now() + BEHIND).await
    }

    /// Gives the row up until its files are ready, or it is time to look again; later posts of the account pass.
    pub async fn wait_for_media(mut self, at: Millis) -> Result<()> {
        let waiting = CompleteStep {
            status: self.idle_status(),
            out_of_line: true,
            ..self.completed_step(Some(at))
        };
        self.write(waiting).await.map(drop)
    }

    /// It would be tried again only after the latest time at which it may still go out. What may be public waits all the
    /// same.
    fn is_too_late(&self, at: Millis) -> bool {
        let latest = self.latest().filter(|_| !self.partly_public && self.row.sending_at.is_none());
        latest.is_some_and(|latest| at > latest)
    }

    async fn miss(&mut self, reason: &str) -> Result<()> {
        let missed = Failure::missed(self.cx.domain.settings.max_lateness);
        self.fail_with(missed.because(reason)).await
    }

    /// The end without success.
    pub async fn fail(mut self, failure: Failure) -> Result<()> {
        self.fail_with(failure).await
    }

    /// The end without success; an unsettled call may have made the post public, for any reason.
    pub(super) async fn fail_with(&mut self, mut failure: Failure) -> Result<()> {
        let now = self.cx.now();
        if self.row.sending_at.is_some() && !failure.is_risky() {
            failure = Failure::outcome_unknown(&self.row.platform);
        }
        attempt::close(&mut self.attempt, failure.outcome(), Some(failure.to_json()), now);
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        let record = CompleteStep {
            status: PostStatus::Failed,
            error: Some(failure.to_json()),
            next_attempt_at: None,
            duplicate_risk: failure.is_risky(),
            ended: Some(self.row.clone()),
            // A chain that is partly public resumes where it stopped; anything else starts anew when it is retried.
            state: self.state.clone().filter(|_| self.partly_public),
            ..self.completed_step(None)
        };
        self.write(record).await.map(drop)
    }

    /// The account's tokens are dead.
    pub(super) async fn lose_account(&mut self, error: &platforms::Error) -> Result<()> {
        accounts::needs_reconnect(&self.cx.domain, self.row.account_id).await?;
        self.fail_with(Failure::token_expired(error)).await
    }

    /// The tokens could not be exchanged: for good only if the network said so.
    pub(super) async fn refresh_failed(&mut self, error: &platforms::Error) -> Result<()> {
        use platforms::Kind;
        match error.kind {
            Kind::Reconnect | Kind::InvalidCredentials | Kind::TokenExpired => {
                self.lose_account(error).await
            }
            Kind::RateLimited | Kind::QuotaExhausted => self.wait_as_asked(error).await,
            _ => self.retry(error).await,
        }
    }

    /// A commit call without an answer that can be read.
    pub(super) async fn lost(&mut self, session: &Session, error: &platforms::Error) -> Result<()> {
        if self.platform.class(&session.account, &self.draft) == Class::Blind {
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        let now = self.cx.now();
        let mut at = self.settled_from(&session.account).max(now + 1_000);
        if self.is_repeated() {
            self.row.attempts += 1;
            match next_try(self.lease.id, self.row.attempts, None, now) {
                Some(later) => at = at.max(later),
                None => return self.fail_with(Failure::of(error)).await,
            }
        }
        let record = CompleteStep {
            status: self.busy_status(),
            out_of_line: true,
            error: Some(Failure::of(error).to_json()),
            ..self.completed_step(Some(at))
        };
        self.write(record).await.map(drop)
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

    /// The row as it is now, due at `due_at`.
    pub(super) fn completed_step(&self, due_at: Option<Millis>) -> CompleteStep {
        // An attempt without a step never was one.
        let began = self.attempt.steps.as_array().is_some_and(|steps| !steps.is_empty());
        let told = began || self.attempt.ended_at.is_some();
        CompleteStep {
            lease: self.lease,
            keep: false,
            status: if self.partly_public { PostStatus::Processing } else { self.row.status },
            due_at,
            out_of_line: false,
            state: self.state.clone(),
            partly_public: self.partly_public,
            attempts: self.row.attempts,
            sending: self.sending(),
            reconciling_at: self.row.reconciling_at,
            published: None,
            warnings: None,
            error: self.row.error.clone(),
            next_attempt_at: None,
            duplicate_risk: false,
            attempt: told.then(|| self.attempt.clone()),
            ended: None,
        }
    }

    pub(super) async fn write(&mut self, record: CompleteStep) -> Result<bool> {
        let ended = record.attempt.as_ref().and_then(|attempt| attempt.outcome);
        let code =
            record.error.as_ref().and_then(|error| error["code"].as_str().map(str::to_owned));
        let (clock, failpoint) = (&self.cx.domain.clock, &self.cx.failpoint);
        let record = Arc::new(record);
        let write = || self.cx.complete_step.call((), Arc::clone(&record));
        let held = until_answered(clock, failpoint, write).await?;
        if held {
            self.cx.counters.post(&self.row.platform, &record);
        }
        self.cx.failpoint.reach("recorded").await;
        if let Some(outcome) = ended.filter(|_| held) {
            let platform = self.platform.spec().id.as_str();
            tracing::info!(outcome, code, "an attempt to publish a post ended");
            fanfare_metrics::record::attempt(platform, outcome, code);
        } else if held {
            tracing::debug!("a post's progress was written down");
        }
        if !held {
            fanfare_metrics::record::discarded("publish_post");
            tracing::info!(
                post.id = self.lease.id,
                "a result was discarded: the post has a newer holder"
            );
        }
        Ok(held)
    }
}
