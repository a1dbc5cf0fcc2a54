//! One request's work: who does it, where, and the answer that is stored with the change.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Domain, Tx,
    access::{Caller, Membership},
    error::Result,
    idempotency::{self, Reservation},
    limits::Meter,
};

/// A request that has been let in.
#[derive(Clone)]
pub struct Act {
    /// The rules' context.
    pub cx: Domain,
    /// The caller.
    pub caller: Caller,
    /// In which workspace, with which role.
    pub membership: Membership,
    /// For logs and events.
    pub request_id: String,
    /// The reserved `Idempotency-Key`, if one was sent.
    pub reservation: Option<Reservation>,
    /// The limits that the request was counted against.
    pub meter: Meter,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Value,
    /// It holds a secret and is kept for replay only encrypted.
    pub secret: bool,
    /// It is the stored answer of an earlier request.
    pub replayed: bool,
    /// When it is worth asking again, in seconds; for answers that change.
    pub poll_after: Option<u64>,
}

impl Reply {
    /// 200 with this body.
    #[must_use]
    pub fn ok(body: Value) -> Self {
        Self { status: 200, body, secret: false, replayed: false, poll_after: None }
    }

    /// 200 with `{name: value}`.
    pub fn of(name: &str, value: impl Serialize) -> Self {
        Self::ok(json!({ name: value }))
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

impl Act {
    /// Begins a change.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(&self) -> Result<Tx> {
        Tx::begin(&self.cx).await
    }

    /// Ends a change: stores the answer under the reserved key in the same transaction, commits and enqueues.
    ///
    /// # Errors
    /// The database's; or another request has taken the key over, and then nothing was changed.
    pub async fn finish(&self, tx: Tx, reply: Reply) -> Result<Reply> {
        if let Some(reservation) = &self.reservation {
            idempotency::settle(&self.cx, tx.conn(), &[(reservation, &reply)]).await?;
        }
        tx.commit().await?;
        Ok(reply)
    }
}
