//! Asks for the password again before serious changes, unless it was given recently.

use fanfare_core::{Code, Error, Result};
use fanfare_people::sign_in;
use maud::{Markup, html};
use secrecy::SecretString;

use crate::oauth_connect::Visit;

/// Fails unless the password was given recently, or is in the form and correct.
///
/// # Errors
/// [`Code::FieldRequired`] or [`Code::InvalidField`], [`Code::RateLimited`] if too many were tried.
pub async fn require_password(visit: &mut Visit) -> Result<()> {
    if visit.session.is_recent(&visit.cx) {
        return Ok(());
    }
    let Some(password) = visit.form("password") else {
        let message = "You logged in a while ago, so this needs your password.";
        return Err(Error::field(Code::FieldRequired, "password", message, "Enter it below."));
    };
    let password = SecretString::from(password);
    let who = (&visit.session, &visit.token);
    sign_in::confirm_password(&visit.cx, who, password).await?;
    visit.session.confirmed_at = visit.cx.clock.now();
    Ok(())
}

/// Renders the password field if it is needed; `id` distinguishes several on a page.
pub fn password_field(visit: &Visit, id: &str) -> Markup {
    let id = format!("password-{id}");
    html! {
        @if !visit.session.is_recent(&visit.cx) {
            div.field {
                label for=(id) { "Your password" }
                input id=(id) type="password" name="password" autocomplete="current-password" required;
            }
        }
    }
}
