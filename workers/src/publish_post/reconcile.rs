//! Settles a commit call whose answer was lost: asks the network whether it was carried out, and never repeats it
//! blindly.

use fanfare_core::{Result, durable::LEASE};
use fanfare_entities::Millis;
use fanfare_platforms::{self as platforms, ReconcileOutcome, RecoveryClass, Session};
use fanfare_publishing::{
    lost_calls::{CallWindow, Content, LostCall, Owner, Verdict},
    posts::{
        self,
        publishing::{self, CompleteStep},
    },
};

use super::{
    attempt,
    retry_policy::{Failure, millis},
    run::Run,
};
use crate::engine::{self, Finding, Next};

/// The interval at which the network is asked, in ms.
const RECONCILE_INTERVAL: Millis = 5_000;

/// The number of times a commit call is sent again whose answer was lost and that was not carried out.
const MAX_SENDS: i32 = 5;

impl Run<'_> {
    /// Acts on what is known of the unsettled commit call. [`Next::Step`] repeats it under its key.
    pub(super) async fn settle(&mut self, finding: Finding) -> Result<Next> {
        if !matches!(finding, Finding::Blind) {
            self.cx.failpoint.reach("reconcile_called").await;
        }
        if posts::is_asked_after_restore(&self.row) {
            self.settle_after_restore(finding).await?;
            return Ok(Next::Done);
        }
        match finding {
            Finding::Found(progress) => {
                if !matches!(self.go_on(progress).await?, Next::Done) {
                    // The next claim takes the steps that follow, from the state that was just stored.
                    self.make_due_now().await?;
                }
            }
            Finding::NotMade => self.send_again().await?,
            Finding::LookAgain => self.look_again().await?,
            // Until the network answers, the post can neither be changed nor be recorded as failed.
            Finding::Repeat => return self.repeat().await,
            Finding::AskAgain => self.ask_later().await?,
            Finding::Unknown => self.fail_in_doubt().await?,
            Finding::Blind => {
                self.fail_with(Failure::outcome_unknown(&self.row.platform)).await?;
            }
        }
        Ok(Next::Done)
    }

    /// Gives the row back until its network can be asked; later posts of the account pass.
    pub(super) async fn ask_at(&mut self, at: Millis) -> Result<()> {
        let later = CompleteStep {
            status: self.busy_status(),
            out_of_line: true,
            ..self.completed_step(Some(at))
        };
        self.write_result(later).await.map(drop)
    }

    /// Judges what the network shows of a call of this post.
    pub(super) async fn judge_call(
        &self,
        session: &Session,
        outcome: ReconcileOutcome,
        window: CallWindow,
    ) -> Result<Verdict> {
        let (caption, metadata) = (&self.row.caption, &self.row.metadata);
        let call = LostCall {
            account_id: self.row.account_id,
            owner: Owner::Post(self.row.id.0),
            content: Content::Post { caption, metadata },
            window,
        };
        // A backup does not know whether another container took the place of this one.
        let knows_handle = !posts::is_asked_after_restore(&self.row);
        engine::judge(self.cx, session, (outcome, knows_handle), call).await
    }

    /// Returns the time of the unsettled call.
    pub(super) fn call_window(&self) -> CallWindow {
        let now = self.cx.now();
        CallWindow {
            from: self.row.sending_at.unwrap_or(now),
            lost_at: attempt::lost_at(&self.attempt),
            until: self.row.sending_until.unwrap_or(now),
        }
    }

    /// Returns the longest time for which the network's lists may not show what was just made.
    pub(super) fn list_lag(&self) -> Millis {
        millis(self.platform.spec().list_lag)
    }

    /// Notes that the network does not show the post, and asks once more after the time for which its lists lag.
    pub(super) async fn look_again(&mut self) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        let first = *self.row.absent_at.get_or_insert(now);
        self.ask_at((first + self.list_lag()).max(now + RECONCILE_INTERVAL)).await
    }

    /// Handles a refusal because the network has the same content already. It is the post itself only if an earlier
    /// call of it had no answer.
    pub(super) async fn handle_duplicate(
        &mut self,
        session: &Session,
        error: &platforms::Error,
    ) -> Result<()> {
        let (cx, id) = (&self.cx.domain, self.row.id.0);
        let deadline = millis(self.platform.spec().commit_deadline);
        let Some(earlier) = publishing::unanswered_call(cx, id, deadline).await? else {
            let other = publishing::earlier_post(cx, &self.row, error.earlier.as_deref()).await?;
            return self.fail_with(Failure::duplicate(error, other)).await;
        };
        let class = self.platform.recovery_class(&session.account, &self.draft);
        if class != RecoveryClass::Blind
            && let Some(outcome) = engine::question(self, earlier.from, session).await
            && let Verdict::Found(progress) = self.judge_call(session, outcome, earlier).await?
        {
            if !matches!(self.go_on(progress).await?, Next::Done) {
                self.make_due_now().await?;
            }
            return Ok(());
        }
        if class == RecoveryClass::Blind {
            return self.fail_with(Failure::outcome_unknown(&self.row.platform)).await;
        }
        // The network holds it by its own word; its lists may not show it yet.
        self.attempt.error = Some(Failure::in_doubt(&self.row.platform).to_json());
        self.row.sending_at = Some(earlier.from);
        self.row.sending_until = Some(earlier.until);
        self.row.sending_until = Some(earlier.until);
        self.row.reconciling_at = Some(self.cx.now());
        self.row.absent_at = None;
        self.ask_later().await
    }

    /// Makes the post due at once, for the next claim.
    pub(super) async fn make_due_now(&mut self) -> Result<()> {
        let now = self.cx.now();
        let on = CompleteStep { status: self.busy_status(), ..self.completed_step(Some(now)) };
        self.write_result(on).await.map(drop)
    }

    /// Closes the attempt and begins a new one of this worker, which repeats the call.
    async fn repeat(&mut self) -> Result<Next> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        attempt::close(&mut self.attempt, "retry", self.row.error.clone(), now);
        let record = self.completed_step(Some(now + LEASE));
        let status = self.busy_status();
        let going_on = CompleteStep { keep_lease: true, out_of_line: true, status, ..record };
        if !self.write_result(going_on).await? {
            return Ok(Next::Done);
        }
        self.attempt = attempt::new_attempt(self.cx, self.attempt.number);
        Ok(Next::Step)
    }

    /// Makes the post due at once to send the call again, since it was certainly not carried out. A post whose call was
    /// refused fails with the refusal.
    async fn send_again(&mut self) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        let refused = self.refusal().and_then(Failure::read);
        if refused.is_none() {
            attempt::close(&mut self.attempt, "not_sent", None, now);
        }
        self.row.sending_at = None;
        self.row.sending_until = None;
        self.row.reconciling_at = None;
        self.row.absent_at = None;
        if let Some(refusal) = refused {
            return self.fail_with(refusal).await;
        }
        let failures = self.row.attempts + 1;
        if failures > MAX_SENDS {
            return self.fail_with(Failure::unanswered(&self.row.platform)).await;
        }
        let again = CompleteStep {
            status: self.busy_status(),
            attempts: failures,
            ..self.completed_step(Some(now))
        };
        self.write_result(again).await.map(drop)
    }

    /// Asks the network once more after a while.
    pub(super) async fn ask_later(&mut self) -> Result<()> {
        let now = self.cx.now();
        attempt::end_step(&mut self.attempt, None, now);
        self.ask_at(now + RECONCILE_INTERVAL).await
    }

    /// Leaves the post to a person: the network has been asked for so long that nobody can tell.
    async fn fail_in_doubt(&mut self) -> Result<()> {
        attempt::end_step(&mut self.attempt, None, self.cx.now());
        self.fail_with(Failure::in_doubt(&self.row.platform)).await
    }
}
