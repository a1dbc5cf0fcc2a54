//! Acquires what a call needs: a slot, and then the network's rate limit.

use std::sync::Arc;

use fanfare_core::Result;
use fanfare_entities::account;
use fanfare_platforms::{Phase, Session, Step};
use fanfare_publishing::network_limits::LimitNames;

use super::{
    rate_limit::{RateLimitDecision, RateLimitRequest},
    retry_policy::Failure,
    run::Run,
};
use crate::dispatcher::{Line, Request, SLOT_TIMEOUT, Slot, deferred_until};

impl Run<'_> {
    /// Waits for a slot, and then for the rate limit. Returns `None` if the row was deferred.
    pub(super) async fn acquire_slot_and_limit(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Slot>> {
        let Some(slot) = self.acquire_slot(step).await? else { return Ok(None) };
        let wanted = self.rate_limit_request(step, account, session);
        if !self.check_rate_limit(wanted.as_ref()).await? {
            return Ok(None);
        }
        self.rate_limit = wanted;
        Ok(Some(slot))
    }

    /// Releases the rate limit of a call that is not made after all.
    pub(super) async fn release_rate_limit(&mut self) {
        if let Some(wanted) = self.rate_limit.take() {
            wanted.release(&self.cx.domain).await;
        }
    }

    /// Acquires a slot for a call; a publishing call also waits for the earlier posts of its account. Returns `None` if
    /// there was none for too long and the row was deferred.
    pub(super) async fn acquire_slot(&mut self, step: &Step) -> Result<Option<Slot>> {
        let line = self.waits_in_line(step).then(|| self.line_position());
        let tenant = self.row.workspace_id;
        let platform = Some(self.row.platform.clone());
        let mut wish = self.cx.post_dispatcher.request(Request { tenant, platform, line });
        if let Some(slot) = wish.granted() {
            return Ok(Some(slot));
        }
        self.cx.failpoint.reach("queued").await;
        let slot = wish.wait(self.cx.domain.clock.sleep(SLOT_TIMEOUT)).await;
        self.cx.failpoint.reach("dequeued").await;
        if slot.is_some() {
            return Ok(slot);
        }
        let now = self.cx.now();
        // Behind a slow post of its account it stays due, and leaves its place in this worker to others.
        self.defer(if line.is_some() { now } else { deferred_until(now) }).await?;
        Ok(None)
    }

    /// Returns its position among the posts of its account; enters the line if it is not in it.
    fn line_position(&mut self) -> (Line, (i64, i64)) {
        let order = (self.row.scheduled_at.unwrap_or(self.row.created_at), self.row.id.0);
        let (calls, account) = (&self.cx.post_dispatcher, self.row.account_id);
        self.line_entry.get_or_insert_with(|| calls.join(account, order)).position()
    }

    /// Returns the rate limits that the next call counts against; confirming calls are not counted.
    fn rate_limit_request(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Option<Arc<RateLimitRequest>> {
        if step.phase == Phase::Confirm {
            return None;
        }
        // Unique, because each claim has its own fencing token and makes one call after the other.
        self.calls += 1;
        let call = format!("{}:{}:{}", self.lease.id, self.lease.fencing_token, self.calls);
        let post = (self.lease.id, self.row.post_type.as_str(), call);
        let named = || LimitNames::of(self.platform, account, session);
        let lines = self.limit_names.get_or_insert_with(named);
        let limited = fanfare_publishing::settings(&self.cx.domain).sandbox_limits;
        Some(Arc::new(RateLimitRequest::of(
            post,
            step.phase,
            self.platform,
            account,
            lines,
            limited,
        )))
    }

    /// Returns whether the rate limits allow the call now. If not, the row is deferred without an attempt.
    async fn check_rate_limit(&mut self, wanted: Option<&Arc<RateLimitRequest>>) -> Result<bool> {
        let Some(wanted) = wanted else { return Ok(true) };
        match self.cx.rate_limit.call((), Arc::clone(wanted)).await? {
            RateLimitDecision::Now => return Ok(true),
            RateLimitDecision::At(at) => self.wait_for_rate_limit(at, None).await?,
            RateLimitDecision::Exhausted(at) => {
                let why = Failure::quota_exhausted(self.platform.spec().label);
                self.wait_for_rate_limit(at, Some(why.to_json())).await?;
            }
        }
        Ok(false)
    }
}
