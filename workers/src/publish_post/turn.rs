//! Before a call: a slot, and then its permit.

use std::sync::Arc;

use fanfare_domain::Result;
use fanfare_entities::account;
use fanfare_platforms::{Phase, Session, Step};

use super::{
    permit::{Lines, Turn, Wanted},
    run::Run,
    verdict::Failure,
};
use crate::dispatcher::{Line, PATIENCE, Request, Slot, back_at};

impl Run<'_> {
    /// Waits until the call may be made: for a slot, and then for its permit. `None` if the row was given back.
    pub(super) async fn come_to_call(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Slot>> {
        let Some(slot) = self.slot(step).await? else { return Ok(None) };
        let wanted = self.wanted(step, account, session);
        if !self.may(wanted.as_ref()).await? {
            return Ok(None);
        }
        self.permit = wanted;
        Ok(Some(slot))
    }

    /// Gives the permit back of a call that is not made after all.
    pub(super) async fn give_permit_back(&mut self) {
        if let Some(wanted) = self.permit.take() {
            wanted.give_back(&self.cx.domain).await;
        }
    }

    /// A slot for a call; a publishing one waits for its turn among those of its account. `None` if there was none for too
    /// long, and the row was given back.
    pub(super) async fn slot(&mut self, step: &Step) -> Result<Option<Slot>> {
        let line = self.waits_in_line(step).then(|| self.place());
        let tenant = self.row.workspace_id;
        let platform = Some(self.row.platform.clone());
        let mut wish = self.cx.calls.request(Request { tenant, platform, line });
        if let Some(slot) = wish.granted() {
            return Ok(Some(slot));
        }
        self.cx.failpoint.reach("queued").await;
        let slot = wish.within(self.cx.domain.clock.sleep(PATIENCE)).await;
        self.cx.failpoint.reach("dequeued").await;
        if slot.is_some() {
            return Ok(slot);
        }
        let now = self.cx.now();
        // Behind a slow post of its account it is due, but lets others have its place in this worker.
        self.defer(if line.is_some() { now } else { back_at(now) }).await?;
        Ok(None)
    }

    /// Its place in the line of its account, which it enters if it does not stand there.
    fn place(&mut self) -> (Line, (i64, i64)) {
        let order = (self.row.scheduled_at.unwrap_or(self.row.created_at), self.row.id.0);
        let (calls, account) = (&self.cx.calls, self.row.account_id);
        self.membership.get_or_insert_with(|| calls.join(account, order)).place()
    }

    /// What the next call needs a permit for; questions need none.
    fn wanted(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Option<Arc<Wanted>> {
        if step.phase == Phase::Confirm {
            return None;
        }
        // A fence is of one claim alone, and a claim makes one call after the other.
        self.calls += 1;
        let call = format!("{}:{}:{}", self.hold.id, self.hold.fence, self.calls);
        let post = (self.hold.id, self.row.post_type.as_str(), call);
        let named = || Lines::of(self.platform, account, session);
        let lines = self.lines.get_or_insert_with(named);
        let limited = self.cx.domain.settings.sandbox_limits;
        Some(Arc::new(Wanted::of(post, step.phase, self.platform, account, lines, limited)))
    }

    /// Asks whether the call may be made now. If not, the row is given back without an attempt, to be taken at its turn.
    async fn may(&mut self, wanted: Option<&Arc<Wanted>>) -> Result<bool> {
        let Some(wanted) = wanted else { return Ok(true) };
        match self.cx.permit.call((), Arc::clone(wanted)).await? {
            Turn::Now => return Ok(true),
            Turn::At(at) => self.wait_for_turn(at, None).await?,
            Turn::Exhausted(at) => {
                let why = Failure::quota_exhausted(self.platform.spec().label);
                self.wait_for_turn(at, Some(why.to_json())).await?;
            }
        }
        Ok(false)
    }
}
