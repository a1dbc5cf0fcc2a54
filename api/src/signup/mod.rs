//! Signing up: the two routes of the API, and the pages that a person sees.

mod pages;

use fanfare_domain::{
    Reply, Result,
    signup::{self, NewSignup},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::PublicCall;

pub use pages::router;

/// Begins a signup.
pub async fn begin(mut call: PublicCall) -> Result<Reply> {
    signup::require_open(&call.cx)?;
    let new: NewSignup = call.body()?;
    let made = signup::begin(&call.cx, new, &call.address).await?;
    let mut said = signup::view(&call.cx, made.session_id.expose_secret(), &made.row);
    // The creator knows these; the poll shows them.
    if let Value::Object(said) = &mut said {
        for name in ["email", "tier", "api_addon", "created_at"] {
            said.remove(name);
        }
    }
    let mut reply = Reply::ok(said).with_status(201);
    reply.secret = true;
    Ok(reply)
}

/// Says how far a signup is.
pub async fn poll(call: PublicCall) -> Result<Reply> {
    let session_id = call.path("session_id");
    let row = signup::poll(&call.cx, session_id).await?;
    let mut reply =
        Reply::ok(json!({ "signup_session": signup::view(&call.cx, session_id, &row) }));
    reply.poll_after = Some(2);
    Ok(reply)
}
