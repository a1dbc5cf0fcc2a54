//! Pages to set a password: `/forgot`, the link in the e-mail, and the e-mails themselves if the service runs on the
//! visitor's own machine.

mod forgot;
mod letters;
mod set;

use fanfare_api::router_ext::RouterExt as _;
use fanfare_core::{Domain, Error};
use maud::html;
use salvo::{Response, Router, http::StatusCode};

use crate::{
    browser::{refusal::refusal, response},
    oauth_connect::login::USER_LOGIN,
};

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    Router::new()
        .push(
            Router::with_path("forgot")
                .get_and_head(forgot::Forgot(domain.clone()))
                .post(forgot::Forgot(domain.clone())),
        )
        .push(
            Router::with_path("set-password/{token}")
                .get_and_head(set::SetPassword(domain.clone()))
                .post(set::SetPassword(domain.clone())),
        )
        .push(Router::with_path("dev/mail").get_and_head(letters::Letters(domain.clone())))
}

/// Responds with an error page and a link.
pub(crate) fn refuse(
    res: &mut Response,
    error: &Error,
    request_id: &str,
    (way, label): (&str, &str),
) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let said = html! {
        h1 { "That did not work" }
        (refusal(error))
        p.soft { "Request " code { (request_id) } }
        p { a href=(way) { (label) } }
    };
    response::html(res, status, (USER_LOGIN.frame)("That did not work", said));
}
