//! Finds out whether a call whose answer was lost was carried out.

use std::time::Duration;

use fanfare_entities::{Millis, business_media, inbox_comment, inbox_message};
use fanfare_platforms::{LostCall, Progress, ReconcileOutcome, RecoveryClass, Session};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::{
    carry_out::{Run, StepOutcome},
    failure::failure_json,
    ledger,
    target::{OutgoingOutcome, OutgoingTarget},
};
use crate::{
    clock::date,
    error::{Code, Result},
};

/// The time after its deadline for which a network may still be carrying a call out, in ms.
pub(super) const SETTLE_TIME: Millis = 10_000;

/// The time after the call for which the network is asked, in ms.
const MAX_SETTLE_TIME: Millis = 120_000;

/// The interval at which the network is asked, in ms.
const SETTLE_INTERVAL: Millis = 5_000;

/// The longest time that asking the network may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);

impl Run<'_> {
    /// Asks whether the unsettled call was carried out. Returns [`StepOutcome::Step`] if it is to be repeated, which is
    /// harmless then.
    pub(super) async fn settle(&mut self, session: &Session) -> Result<StepOutcome> {
        let now = self.cx.clock.now();
        if matches!(self.changes.class(&self.change), RecoveryClass::Key { .. }) {
            if let Some(found) = self.try_settle(session).await {
                return self.advance(found).await;
            }
            self.row.repeated += 1;
            return Ok(StepOutcome::Step);
        }
        let settled_at = self.row.sending_until.unwrap_or(now) + SETTLE_TIME;
        if now < settled_at {
            self.defer(settled_at - now).await?;
            return Ok(StepOutcome::Done);
        }
        let sent_at = self.row.sending_at.unwrap_or(now);
        match self.ask(session, sent_at).await {
            Some(ReconcileOutcome::Committed(progress)) => {
                self.advance(progress).await?;
            }
            Some(ReconcileOutcome::NotCommitted) => {
                self.row.sending_at = None;
                let message = "The network did not get it; it is safe to send it again.";
                let error = failure_json(Code::ProviderUnreachable, message, None);
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Failed(error)).await?;
            }
            Some(ReconcileOutcome::Unknown) | None if now - sent_at < MAX_SETTLE_TIME => {
                self.defer(SETTLE_INTERVAL).await?
            }
            Some(ReconcileOutcome::Unknown) | None => {
                ledger::complete(self.cx, &mut self.row, OutgoingOutcome::Unknown).await?;
            }
        }
        Ok(StepOutcome::Done)
    }

    /// Reads the outcome of a lost call, if it can be read now.
    pub(super) async fn try_settle(&self, session: &Session) -> Option<Progress> {
        let sent_at = self.row.sending_at.unwrap_or_else(|| self.cx.clock.now());
        match self.ask(session, sent_at).await? {
            ReconcileOutcome::Committed(progress) => Some(progress),
            ReconcileOutcome::NotCommitted | ReconcileOutcome::Unknown => None,
        }
    }

    async fn ask(&self, session: &Session, sent_at: Millis) -> Option<ReconcileOutcome> {
        let known = self.known_ids().await.ok()?;
        let lost = LostCall { sent_at: date(sent_at), known };
        let state = self.row.state.clone();
        let question = self.changes.find_result(session, &self.change, state, &lost);
        tokio::time::timeout(CALL_TIMEOUT, question).await.ok()?.ok()
    }

    /// Returns the ids that are known to be the results of other calls.
    async fn known_ids(&self) -> Result<Vec<String>> {
        let account = self.row.account_id;
        let ids: Vec<Option<String>> = match OutgoingTarget::of(&self.row)? {
            OutgoingTarget::Message(id) => {
                inbox_message::Entity::find()
                    .select_only()
                    .column(inbox_message::Column::RemoteId)
                    .filter(inbox_message::Column::AccountId.eq(account))
                    .filter(inbox_message::Column::Outbound.eq(true))
                    .filter(inbox_message::Column::Id.ne(id))
                    .filter(inbox_message::Column::RemoteId.is_not_null())
                    .filter(inbox_message::Column::CreatedAt.gte(self.row.created_at - 86_400_000))
                    .into_tuple()
                    .all(&self.cx.db.write)
                    .await?
            }
            OutgoingTarget::Review(_) | OutgoingTarget::MediaGone(_) => Vec::new(),
            OutgoingTarget::Media(id) => {
                business_media::Entity::find()
                    .select_only()
                    .column(business_media::Column::Name)
                    .filter(business_media::Column::AccountId.eq(account))
                    .filter(business_media::Column::Id.ne(id))
                    .filter(business_media::Column::Name.is_not_null())
                    .into_tuple()
                    .all(&self.cx.db.write)
                    .await?
            }
            OutgoingTarget::Reply(id) | OutgoingTarget::Comment(id) => {
                inbox_comment::Entity::find()
                    .select_only()
                    .column(inbox_comment::Column::RemoteId)
                    .filter(inbox_comment::Column::AccountId.eq(account))
                    .filter(inbox_comment::Column::Own.eq(true))
                    .filter(inbox_comment::Column::Id.ne(id))
                    .filter(inbox_comment::Column::RemoteId.is_not_null())
                    .filter(inbox_comment::Column::CreatedAt.gte(self.row.created_at - 86_400_000))
                    .into_tuple()
                    .all(&self.cx.db.write)
                    .await?
            }
        };
        Ok(ids.into_iter().flatten().collect())
    }
}
