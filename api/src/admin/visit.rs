//! A request of an operator, and what it is answered with.

use fanfare_domain::{
    Code, Domain, Error, Result,
    ops::{
        Actor,
        sessions::{self, Session},
    },
};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{layout, live, login::OPERATORS};
pub use crate::browser::visit::parse;
use crate::browser::{
    answer::{html, see},
    form,
    gate::Place,
    login::Realm,
    visit,
};

/// A request of an operator.
pub type Visit = visit::Visit<Session>;

/// What a page answers.
pub enum Answer {
    /// A page with this title.
    Page(&'static str, Markup),
    /// The same page, which says what is wrong with what was asked of it.
    Wrong(&'static str, Markup),
    /// Go there.
    See(String),
    /// Go there, without a log-in from now on.
    Leave(String),
    /// The page of this name again and again, as it changes.
    Live(live::Part),
}

impl Visit {
    /// Who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}

/// What answers where no page is.
pub async fn nowhere(visit: Visit) -> Result<Answer> {
    let message = format!("There is no page /admin/{}.", visit.path("rest"));
    Err(Error::new(Code::NotFound, message))
}

/// The pages for operators.
pub struct Dashboard;

#[async_trait]
impl Place for Dashboard {
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
