//! Before a call: its permit first, and then a slot.

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
        if !self.may(step, account, session).await? {
            return Ok(None);
        }
        let clock = &self.cx.domain.clock;
        let asked = clock.passed();
        let Some(calling) = self.calling().await? else { return Ok(None) };
        // Asked again a call has a new place in the line, and loses the old one.
        let may = clock.passed() - asked <= FRESH || self.may(step, account, session).await?;
        Ok(may.then_some(calling))
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

    /// Asks whether the call may be made now. If not, the row is given back without an attempt, to be taken at its turn.
    async fn may(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<bool> {
        if step.phase == Phase::Confirm {
            return Ok(true);
        }
        let limited = self.cx.domain.settings.sandbox_limits;
        let (post, phase) = ((self.hold.id, self.row.post_type.as_str()), step.phase);
        let named = || Lines::of(self.platform, account, session);
        let lines = self.lines.get_or_insert_with(named);
        let wanted = Wanted::of(post, phase, self.platform, account, lines, limited);
        match self.cx.permit.call(self.lane, wanted).await? {
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
