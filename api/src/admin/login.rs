//! The operators' log-in.

use fanfare_domain::{
    Error, Result,
    ops::sessions::{self, LASTS},
};
use maud::html;

use super::{
    layout,
    visit::{Answer, Visit},
};
use crate::browser::{form::Cookie, login::Realm};

/// The log-in of the people who run the service.
pub static OPERATORS: Realm = Realm {
    path: "/admin/login",
    session: Cookie { name: "fanfare_operator", path: "/admin", same_site: "Strict" },
    before: Cookie { name: "fanfare_login", path: "/admin", same_site: "Strict" },
    home: "/admin",
    also: &[],
    intro: |_| {
        html! { "For the operators of this service. " code { "fanfare admin create EMAIL" } " makes a log-in." }
    },
    frame: layout::bare,
    log_in: |tried| {
        Box::pin(async move {
            let who = (tried.email.as_str(), tried.password);
            sessions::log_in(&tried.cx, who, &tried.address, &tried.request_id).await
        })
    },
    lasts: LASTS / 1_000,
};

/// Ends the session.
pub async fn log_out(visit: Visit) -> Result<Answer, Error> {
    sessions::log_out(&visit.cx, &visit.token).await?;
    Ok(Answer::Leave(OPERATORS.path.to_owned()))
}
