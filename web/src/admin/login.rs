//! The operators' log-in.

use fanfare_core::{Error, Result, logins::LoginKind};
use fanfare_ops::ops::sessions::{self, LIFETIME};
use maud::html;

use super::{
    layout,
    visit::{PageResponse, Visit},
};
use crate::browser::{form::Cookie, login::LoginRealm};

/// The log-in of the people who run the service.
pub static OPERATOR_LOGIN: LoginRealm = LoginRealm {
    path: "/admin/login",
    session: Cookie { name: "fanfare_operator", path: "/admin", same_site: "Strict" },
    form_cookie: Cookie { name: "fanfare_login", path: "/admin", same_site: "Strict" },
    known_cookie: Cookie { name: "fanfare_known_operator", path: "/admin", same_site: "Strict" },
    kind: LoginKind::Operators,
    home: "/admin",
    other_paths: &[],
    intro: |_, _| {
        html! {
            p.soft { "For the operators of this service. " code { "fanfare admin create EMAIL" } " makes a log-in." }
            p.soft { "To write posts and connect accounts, " a href="/login" { "log in to your dashboard" } "." }
        }
    },
    frame: layout::bare,
    log_in: |tried| {
        Box::pin(async move {
            let who = (tried.email.as_str(), tried.password.clone());
            sessions::log_in(&tried.cx, who, tried.source(), &tried.request_id).await
        })
    },
    lifetime: LIFETIME / 1_000,
};

/// Ends the session.
pub async fn log_out(visit: Visit) -> Result<PageResponse, Error> {
    sessions::log_out(&visit.cx, &visit.token).await?;
    Ok(PageResponse::LogOut(OPERATOR_LOGIN.path.to_owned()))
}
