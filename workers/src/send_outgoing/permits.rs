//! The network's limits for changes: their calls count in the same windows as those of posts.

use fanfare_core::{Domain, Result};
use fanfare_entities::account;
use fanfare_limits::{Decision, Request};
use fanfare_platforms::{Phase, Session, Step};
use fanfare_publishing::network_limits::LimitNames;

use super::run::Run;

/// The permit of a call, which is given back if the call is not made.
#[derive(Debug)]
pub struct Permit(Option<Request>);

impl Permit {
    /// The permit of a call that no limit counts.
    pub(super) const FREE: Self = Self(None);

    /// Gives back the place of a call that is not made.
    pub(super) async fn release(self, cx: &Domain) {
        if let Some(request) = &self.0 {
            cx.limits.release(request).await;
        }
    }
}

impl Run<'_> {
    /// Returns the permit for a step, or `None` if its turn comes later; then the row was given back until that time.
    pub(super) async fn permit(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Permit>> {
        if step.phase == Phase::Confirm {
            return Ok(Some(Permit::FREE));
        }
        let request = self.request(step, account, session);
        match self.cx.domain.limits.acquire(&[&request]).await.first() {
            Some(Decision::After(wait)) => {
                // It has a place in line under its name, and is asked for again when that has come.
                let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX / 4);
                self.defer(wait.max(1)).await?;
                Ok(None)
            }
            Some(Decision::Now) | None => Ok(Some(Permit(Some(request)))),
        }
    }

    /// Returns the request for a permit. A preparing call is not counted, but waits too while its account is blocked.
    fn request(&self, step: &Step, account: &account::Model, session: &Session) -> Request {
        let is_limited =
            !account.sandbox || fanfare_publishing::settings(&self.cx.domain).sandbox_limits;
        let is_counted = step.phase == Phase::Commit && is_limited;
        let limits = if is_counted { self.changes.limits(&self.change) } else { &[] };
        let names = LimitNames::of(self.platform, account, session);
        let id = format!("outgoing:{}", self.row.id);
        let made = self.row.steps.as_array().map_or(0, Vec::len);
        Request {
            call: format!("{id}:{}:{made}", self.row.fencing_token),
            id,
            is_again: false,
            subjects: names.subjects(self.platform, account, limits.iter()),
        }
    }
}
