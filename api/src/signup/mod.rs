//! Signing up: the two operations and the pages.

mod form;
mod pages;

use fanfare_domain::{
    Reply, Result,
    signup::{self, NewSignup, OneSignup, StartedSignup},
};
use secrecy::ExposeSecret;

use crate::{PublicCall, wait};

pub use pages::router;

/// Starts a signup.
pub async fn begin(mut call: PublicCall) -> Result<Reply<StartedSignup>> {
    signup::require_open(&call.cx)?;
    let new: NewSignup = call.body()?;
    let made = signup::begin(&call.cx, new, &call.address).await?;
    let started = StartedSignup::of(&call.cx, made.session_id.expose_secret(), &made.row);
    Ok(Reply::ok(&started).with_status(201).secret())
}

/// Shows the state of a signup.
pub async fn poll(mut call: PublicCall) -> Result<Reply<OneSignup>> {
    let wait = call.query()?;
    let session_id = call.path("session_id");
    wait::for_change(wait, &call.progress, || async {
        let row = signup::poll(&call.cx, session_id).await?;
        let mut reply = Reply::ok(&OneSignup::of(&call.cx, session_id, &row));
        reply.poll_after = Some(2);
        Ok(reply)
    })
    .await
}
