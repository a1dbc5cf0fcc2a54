//! The work on one claimed change, and how it ends or waits.

use std::time::Duration;

use fanfare_conversations::outgoing::{
    self as changes, FittedPhoto, OutgoingOutcome, failure_json,
};
use fanfare_core::{
    Code, Error, Result,
    durable::{self, LEASE, Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, account, outgoing};
use fanfare_jobs::JobKind;
use fanfare_platforms::{self as platforms, Platform, Progress, RemoteChange, RemoteChanges};
use fanfare_publishing::lost_calls::{CallWindow, Content, LostCall, Owner};

use super::ledger;
use crate::{
    Context,
    engine::Next,
    lease::{lost, renewing},
};

/// The interval at which a change checks whether its photo is ready, in ms.
const PHOTO_INTERVAL: Millis = 1_000;

/// The longest pause between two steps that is waited for without giving the row back.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// The work on one claimed change.
pub(super) struct Run<'a> {
    pub cx: &'a Context,
    pub platform: &'static dyn Platform,
    pub changes: &'static dyn RemoteChanges,
    pub change: RemoteChange,
    pub row: outgoing::Model,
}

impl<'a> Run<'a> {
    /// Starts work on a claimed row.
    pub fn open(cx: &'a Context, row: outgoing::Model, account: &account::Model) -> Result<Self> {
        let change = changes::change_of(&row)?;
        let platform = (cx.connector)(fanfare_publishing::platforms::from_row(&account.platform)?);
        let changes = connector(platform, &change)
            .ok_or_else(|| Error::internal("a change that the network does not take"))?;
        Ok(Self { cx, platform, changes, change, row })
    }

    /// Returns true if too many leases of this row have expired in a row.
    pub fn has_too_many_expirations(&self) -> bool {
        self.row.lease_expirations > MAX_LEASE_EXPIRATIONS
            && mutation::is_off(Mutation::TooManyExpirations)
    }

    /// Ends a change whose lease expired too many times in a row.
    pub async fn abandon(&self) -> Result<()> {
        let message = "Its workers ended before it was made.";
        self.fail(failure_json(Code::ProviderUnreachable, message, None)).await
    }

    /// Replaces the photo of the change by one that the network takes. Returns false if the row was given back or has
    /// ended.
    pub async fn fit(&mut self) -> Result<bool> {
        let (cx, platform) = (&self.cx.domain, self.platform.spec().id);
        match changes::fit_photo(cx, &self.row, platform, &self.change).await? {
            FittedPhoto::AsIs => return Ok(true),
            FittedPhoto::Changed(change) => {
                self.change = change;
                return changes::save_change(cx, &mut self.row, &self.change).await;
            }
            FittedPhoto::Later => self.defer(PHOTO_INTERVAL).await?,
            FittedPhoto::Broken(error) => self.complete(OutgoingOutcome::Failed(error)).await?,
        }
        Ok(false)
    }

    pub async fn fail_unreadable(&self) -> Result<()> {
        let message = "The stored credentials of the account cannot be opened; connect it again.";
        self.fail(failure_json(Code::AccountReconnectRequired, message, None)).await
    }

    pub async fn fail_disconnected(&self) -> Result<()> {
        let message = "The account must be connected again first.";
        self.fail(failure_json(Code::AccountReconnectRequired, message, None)).await
    }

    /// Ends the change. If a call may have been carried out, its outcome is unknown, whatever the reason.
    pub async fn fail(&self, error: serde_json::Value) -> Result<()> {
        self.complete(match self.row.sending_at {
            Some(_) => OutgoingOutcome::Unknown,
            None => OutgoingOutcome::Failed(error),
        })
        .await
    }

    pub async fn complete(&self, known: OutgoingOutcome) -> Result<()> {
        changes::complete(&self.cx.domain, &self.row, known).await
    }

    /// Gives the row back for some time, in ms.
    pub async fn defer(&self, after: Millis) -> Result<()> {
        changes::defer(&self.cx.domain, &self.row, self.cx.now() + after).await
    }

    /// Runs a call and renews the lease after each third of its time. A lost lease does not stop the call, which is
    /// already in flight; the fencing token discards its result.
    pub async fn renew_during<T>(&self, call: impl Future<Output = T>) -> T {
        let third = Duration::from_millis(LEASE.unsigned_abs() / 3);
        renewing(call, || self.cx.domain.clock.sleep(third), || self.renew()).await
    }

    async fn renew(&self) {
        if mutation::is_on(Mutation::LeaseRenewed) {
            return;
        }
        let (cx, kind) = (self.cx, JobKind::SendOutgoing);
        cx.failpoint.reach("renewing").await;
        let lease = Lease::new(self.row.id.0, self.row.fencing_token);
        let renewed = durable::renew(&cx.domain, kind, &[lease], cx.now() + LEASE).await;
        if !renewed.is_ok_and(|kept| kept.contains(&lease)) {
            lost(cx, kind, lease).await;
        }
        cx.failpoint.reach("renewed").await;
    }

    /// Handles the success of a call: completes the change, or goes on with the next step.
    pub async fn go_on(&mut self, progress: Progress) -> Result<Next> {
        let (state, after) = match progress {
            Progress::Done(made) => {
                self.complete(OutgoingOutcome::Sent(made.id)).await?;
                return Ok(Next::Done);
            }
            Progress::Continue { state, after, .. } => (state, after),
        };
        self.row.state = Some(state);
        self.row.sending_at = None;
        self.row.sending_until = None;
        if after > SHORT_WAIT {
            self.defer(i64::try_from(after.as_millis()).unwrap_or(i64::MAX / 4)).await?;
            return Ok(Next::Done);
        }
        if !after.is_zero() {
            if !changes::save_progress(&self.cx.domain, &mut self.row).await? {
                return Ok(Next::Done);
            }
            tokio::time::sleep(after).await;
        }
        Ok(Next::Step)
    }

    /// Returns true if the change sets a state, so that a refusal because it is done already counts as success.
    pub const fn is_state(&self) -> bool {
        matches!(
            self.change,
            RemoteChange::Delete { .. }
                | RemoteChange::Hide { .. }
                | RemoteChange::DeleteReviewReply { .. }
                | RemoteChange::DeleteMedia { .. }
        )
    }

    /// Returns true if a refusal may have used up the one allowed answer.
    pub const fn is_used_up_by(&self, error: &platforms::Error) -> bool {
        matches!(self.change, RemoteChange::PrivateReply { .. }) && error.reply.is_some()
    }

    /// Returns the unsettled call, for a judgement of what the network shows.
    pub fn lost_call(&self) -> LostCall<'_> {
        let row = &self.row;
        let from = row.sending_at.unwrap_or_else(|| self.cx.now());
        LostCall {
            account_id: row.account_id,
            owner: Owner::Outgoing(row.id.0),
            content: Content::Change { scope: &row.scope, fingerprint: &row.fingerprint },
            window: CallWindow {
                from,
                lost_at: ledger::lost_at(row),
                until: row.sending_until.unwrap_or(from),
            },
        }
    }
}

/// Returns the connector of a network's changes.
fn connector(
    platform: &'static dyn Platform,
    change: &RemoteChange,
) -> Option<&'static dyn RemoteChanges> {
    match change {
        RemoteChange::ReviewReply { .. }
        | RemoteChange::DeleteReviewReply { .. }
        | RemoteChange::AddMedia { .. }
        | RemoteChange::DeleteMedia { .. } => {
            platform.business_profile().map(|business| business as &dyn RemoteChanges)
        }
        _ => platform.inbox().map(|inbox| inbox as &dyn RemoteChanges),
    }
}
