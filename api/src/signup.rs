//! Signing up: the two operations.

use fanfare_core::{Reply, Result, notices::Awaited};
use fanfare_people::signup::{self, NewSignup, OneSignup, StartedSignup};
use secrecy::ExposeSecret;

use crate::{
    PublicCall,
    wait::{self, Pauses, Wait},
};

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
    let wait: Wait = call.query()?;
    let session_id = call.path("session_id");
    let notices = call.cx.notices.subscribe();
    let row = Awaited::Signup(signup::find(&call.cx, session_id).await?.id);
    let waits = wait.wait.is_some_and(|seconds| seconds > 0);
    let _waiting = waits.then(|| call.cx.waits.enter(&call.address)).transpose()?;
    let pauses = Pauses::Until(notices, row);
    wait::for_change_after(wait, (&call.progress, &call.cx.stopping), pauses, || async {
        let row = signup::poll(&call.cx, session_id).await?;
        let mut reply = Reply::ok(&OneSignup::of(&call.cx, session_id, &row));
        reply.poll_after = Some(2);
        Ok(reply)
    })
    .await
}
