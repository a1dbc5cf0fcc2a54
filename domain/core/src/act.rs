//! The context of one request: who makes it, in which workspace, and the reply that is stored with its change.

use crate::{
    Domain, Reply, Tx,
    access::{Caller, Membership},
    error::{Code, Error, Result, refusal::RefusalDetails},
    idempotency::{self, Reservation},
    limits::Meter,
};

/// An authorized request.
#[derive(Clone)]
pub struct Act {
    /// The domain that it runs in.
    pub cx: Domain,
    /// The caller.
    pub caller: Caller,
    /// The membership that the caller acts with: workspace and role.
    pub membership: Membership,
    /// The id of the request, for logs and events.
    pub request_id: String,
    /// The reserved `Idempotency-Key`, if one was sent.
    pub reservation: Option<Reservation>,
    /// The limits that the request was counted against.
    pub meter: Meter,
    /// The version that `If-Match` names; `None` if any will do.
    pub if_match: Option<i64>,
}

impl Act {
    /// Begins a change.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(&self) -> Result<Tx> {
        Tx::begin(&self.cx).await
    }

    /// Fails unless this is the version that the caller wants to change.
    ///
    /// # Errors
    /// [`Code::StaleVersion`] with the present version.
    pub fn require_version(&self, present: i64) -> Result<()> {
        let Some(wanted) = self.if_match.filter(|wanted| *wanted != present) else {
            return Ok(());
        };
        let message = format!("It is at version {present}; If-Match names {wanted}.");
        let details = RefusalDetails { version: Some(present), ..RefusalDetails::default() };
        Err(Error::new(Code::StaleVersion, message).with_details(details))
    }

    /// Ends a change: stores the answer under the reserved key in the same transaction, commits and enqueues.
    ///
    /// # Errors
    /// The database's; or another request has taken the key over, and then nothing was changed.
    pub async fn finish<T>(&self, tx: Tx, reply: Reply<T>) -> Result<Reply<T>> {
        if let Some(reservation) = &self.reservation {
            idempotency::settle(&self.cx, tx.conn(), &[(reservation, &reply)]).await?;
        }
        tx.commit().await?;
        Ok(reply)
    }
}
