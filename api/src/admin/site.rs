//! The pages of operators: finds sessions and writes responses in the layout.

use fanfare_domain::{
    Domain, Error, Result,
    ops::sessions::{self, Session},
};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{
    layout, live,
    login::OPERATORS,
    visit::{Answer, Visit},
};
use crate::{
    browser::{
        answer::{html, see},
        form,
        login::Realm,
    },
    middleware::page::Site,
};

/// The pages of operators.
pub struct Dashboard;

#[async_trait]
impl Site for Dashboard {
    type Session = Session;
    type Answer = Answer;

    fn realm() -> &'static Realm {
        &OPERATORS
    }

    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<Session>> {
        sessions::find(cx, token).await
    }

    async fn write(res: &mut Response, answer: Answer, visit: Visit) {
        match answer {
            Answer::Page(title, main) => {
                let page = layout::page(&visit, title, main).await;
                html(res, StatusCode::OK, page);
            }
            Answer::Wrong(title, main) => {
                let page = layout::page(&visit, title, main).await;
                html(res, StatusCode::BAD_REQUEST, page);
            }
            Answer::See(place) => see(res, &place),
            Answer::Leave(place) => {
                form::set_cookie(res.headers_mut(), &visit.cx, &OPERATORS.session, "", 0);
                see(res, &place);
            }
            Answer::Live(part) => live::stream(res, visit, part),
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
        layout::refusal(error, request_id, visit)
    }
}
