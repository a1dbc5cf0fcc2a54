//! Pages to set a password: `/forgot`, the link in the e-mail, and the e-mails themselves if the service runs on the
//! visitor's own machine.

mod forgot;
mod letters;
mod set;

use fanfare_domain::{Domain, Error};
use maud::html;
use salvo::{Response, Router, http::StatusCode};

use crate::{
    browser::{answer, form::Cookie},
    oauth_connect::login::PEOPLE,
    reads::Reads as _,
};

/// The cookie that protects the forms of these pages.
static FORM: Cookie = Cookie { name: "fanfare_form", path: "/", same_site: "Strict" };

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    Router::new()
        .push(
            Router::with_path("forgot")
                .reads(forgot::Forgot(domain.clone()))
                .post(forgot::Forgot(domain.clone())),
        )
        .push(
            Router::with_path("set-password/{token}")
                .reads(set::SetPassword(domain.clone()))
                .post(set::SetPassword(domain.clone())),
        )
        .push(Router::with_path("dev/mail").reads(letters::Letters(domain.clone())))
}

/// Responds with an error page and a link.
fn refuse(res: &mut Response, error: &Error, request_id: &str, (way, label): (&str, &str)) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let said = html! {
        h1 { "That did not work" }
        p.flash.bad role="alert" { (error.message()) }
        p.soft { "Request " code { (request_id) } }
        p { a href=(way) { (label) } }
    };
    answer::html(res, status, (PEOPLE.frame)("That did not work", said));
}
