//! Before a call: its permit first, and then a slot.

use std::sync::Arc;

use fanfare_domain::{Error, Result};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{Phase, Session, Step};

use super::{
    permit::{Lines, Turn, Wanted},
    run::Run,
    verdict::Failure,
};
use crate::shares::Share;

/// A permit is for a call that is made at once, in ms: a network counts calls when they come.
const FRESH: Millis = 100;

impl Run<'_> {
    /// Waits until the call may be made: for its permit, and then for a slot, which is not kept while the permit is asked
    /// for. `None` if the row was given back.
    pub(super) async fn come_to_call(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Share>> {
        let clock = self.cx.domain.clock.clone();
        let wanted = self.wanted(step, account, session);
        if !self.may(wanted.as_ref()).await? {
            return Ok(None);
        }
        let asked = clock.passed();
        self.permit = wanted;
        let Some(calling) = self.calling().await? else {
            self.give_permit_back().await;
            return Ok(None);
        };
        if clock.passed() - asked <= FRESH {
            return Ok(Some(calling));
        }
        let again = self.permit.take().map(|wanted| Arc::new(wanted.again()));
        if !self.may(again.as_ref()).await? {
            return Ok(None);
        }
        self.permit = again;
        Ok(Some(calling))
    }

    /// Gives the permit back of a call that is not made after all.
    pub(super) async fn give_permit_back(&mut self) {
        if let Some(wanted) = self.permit.take() {
            wanted.give_back(&self.cx.domain).await;
        }
    }

    /// A slot for a call; `None` if there was none for too long, and the row was parked.
    pub(super) async fn calling(&mut self) -> Result<Option<Share>> {
        let Some(seeker) = self.slot.as_ref().map(|slot| slot.seeker().clone()) else {
            return Err(Error::internal("a call without a slot"));
        };
        match self.cx.call_shares.enter(self.lane, seeker).await {
            Ok(calling) => Ok(Some(calling)),
            Err(full) => self.park(full).await.map(|()| None),
        }
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
        match self.cx.permit.call(self.lane, Arc::clone(wanted)).await? {
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
