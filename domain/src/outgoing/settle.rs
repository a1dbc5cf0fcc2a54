//! Finds out whether a call whose answer was lost was carried out.

use std::time::Duration;

use fanfare_entities::{Millis, business_media, inbox_comment, inbox_message};
use fanfare_platforms::{Class, Found, Lost, Progress, Session};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::{
    carry_out::{Next, Run},
    failure::stored,
    ledger,
    target::{Now, Target},
};
use crate::{
    clock::date,
    error::{Code, Result},
};

/// How long after its deadline a network may still be carrying a call out, in ms.
pub(super) const SETTLED: Millis = 10_000;

/// How long after the call the network is asked, in ms.
const ASKED: Millis = 120_000;

/// The interval at which the network is asked, in ms.
const AGAIN: Millis = 5_000;

/// The longest time that asking the network may take.
const QUESTION: Duration = Duration::from_secs(15);

impl Run<'_> {
    /// Asks whether the unsettled call was carried out. Returns [`StepOutcome::Step`] if it is to be repeated, which is
    /// harmless then.
    pub(super) async fn settle(&mut self, session: &Session) -> Result<Next> {
        let now = self.cx.clock.now();
        if matches!(self.changes.class(&self.change), Class::Key { .. }) {
            if let Some(found) = self.look(session).await {
                return self.advance(found).await;
            }
            self.row.repeated += 1;
            return Ok(Next::Step);
        }
        let settled_at = self.row.sending_until.unwrap_or(now) + SETTLED;
        if now < settled_at {
            self.defer(settled_at - now).await?;
            return Ok(Next::Over);
        }
        let sent_at = self.row.sending_at.unwrap_or(now);
        match self.ask(session, sent_at).await {
            Some(Found::There(progress)) => {
                self.advance(progress).await?;
            }
            Some(Found::Absent) => {
                self.row.sending_at = None;
                let message = "The network did not get it; it is safe to send it again.";
                let error = stored(Code::ProviderUnreachable, message, None);
                ledger::complete(self.cx, &mut self.row, Now::Failed(error)).await?;
            }
            Some(Found::Unknown) | None if now - sent_at < ASKED => self.defer(AGAIN).await?,
            Some(Found::Unknown) | None => {
                ledger::complete(self.cx, &mut self.row, Now::Unknown).await?;
            }
        }
        Ok(Next::Over)
    }

    /// Reads the outcome of a lost call, if it can be read now.
    pub(super) async fn look(&self, session: &Session) -> Option<Progress> {
        let sent_at = self.row.sending_at.unwrap_or_else(|| self.cx.clock.now());
        match self.ask(session, sent_at).await? {
            Found::There(progress) => Some(progress),
            Found::Absent | Found::Unknown => None,
        }
    }

    async fn ask(&self, session: &Session, sent_at: Millis) -> Option<Found> {
        let known = self.known().await.ok()?;
        let lost = Lost { sent_at: date(sent_at), known };
        let state = self.row.state.clone();
        let question = self.changes.find(session, &self.change, state, &lost);
        tokio::time::timeout(QUESTION, question).await.ok()?.ok()
    }

    /// Returns the ids that are known to be the results of other calls.
    async fn known(&self) -> Result<Vec<String>> {
        let account = self.row.account_id;
        let ids: Vec<Option<String>> = match Target::of(&self.row)? {
            Target::Message(id) => {
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
            Target::Review(_) | Target::MediaGone(_) => Vec::new(),
            Target::Media(id) => {
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
            Target::Reply(id) | Target::Comment(id) => {
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
