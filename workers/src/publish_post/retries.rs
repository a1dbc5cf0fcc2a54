//! Gives posts back until there is something to do: after failures that may pass, limits, and waits for others.

use std::time::Duration;

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_platforms as platforms;
use fanfare_publishing::posts::publishing::{CompleteStep, aside_until};
use serde_json::Value;

use super::{
    attempt,
    retry_policy::{Failure, grown, next_attempt_at, wait_until},
    run::Run,
};

/// The number of failures from which on later posts of the account pass.
const FAILURES_IN_LINE: i32 = 1;

impl Run<'_> {
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
}
