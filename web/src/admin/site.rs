//! The pages of operators: finds sessions and writes responses in the layout.

use fanfare_core::{Domain, Error, Result};
use fanfare_ops::ops::sessions::{self, OperatorSession};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{
    layout, live,
    login::OPERATOR_LOGIN,
    visit::{PageResponse, Visit},
};
use crate::{
    browser::{
        form,
        login::LoginRealm,
        response::{html, redirect},
    },
    page::Site,
};

/// The pages of operators.
pub struct AdminSite;

#[async_trait]
impl Site for AdminSite {
    type Session = OperatorSession;
    type Answer = PageResponse;

    fn realm() -> &'static LoginRealm {
        &OPERATOR_LOGIN
    }

    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<OperatorSession>> {
        sessions::find(cx, token).await
    }

    async fn write(res: &mut Response, answer: PageResponse, visit: Visit) {
        match answer {
            PageResponse::Page(title, main) => {
                let page = layout::page(&visit, title, main).await;
                html(res, StatusCode::OK, page);
            }
            PageResponse::Invalid(title, main) => {
                let page = layout::page(&visit, title, main).await;
                html(res, StatusCode::BAD_REQUEST, page);
            }
            PageResponse::Redirect(place) => redirect(res, &place),
            PageResponse::LogOut(place) => {
                form::set_cookie(res.headers_mut(), &visit.cx, &OPERATOR_LOGIN.session, "", 0);
                redirect(res, &place);
            }
            PageResponse::Live(part) => live::stream(res, visit, part),
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
        layout::refusal(error, request_id, visit)
    }
}
