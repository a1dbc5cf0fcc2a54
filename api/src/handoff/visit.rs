//! A request of a person, and what it is answered with.

use fanfare_domain::{
    Domain, Error, Result,
    sign_in::{self, Session},
};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;
use url::Url;

use super::{layout, login::PEOPLE};
use crate::browser::{
    answer::{html, see},
    form,
    gate::{self, Place},
    login::Realm,
    visit,
};

/// A request of a person.
pub type Visit = visit::Visit<Session>;

/// What a page answers.
pub enum Answer {
    /// A page with this title.
    Page(&'static str, Markup),
    /// The same with something that was wrong with a form.
    Wrong(&'static str, Markup, Error),
    /// A page that loads itself again every few seconds.
    Waiting(&'static str, Markup),
    /// Go there.
    See(String),
    /// A page that leads to a network. No redirect: browsers hold one that follows a form to the form's own site.
    Away(&'static str, Url),
    /// Go to the log-in, without one from now on.
    LogOut,
}

/// The pages for everybody who has a log-in.
pub struct Handoff;

#[async_trait]
impl Place for Handoff {
    type Session = Session;
    type Answer = Answer;

    fn realm() -> &'static Realm {
        &PEOPLE
    }

    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<Session>> {
        sign_in::find(cx, token).await
    }

    async fn write(res: &mut Response, answer: Answer, visit: Visit) {
        let ok = StatusCode::OK;
        match answer {
            Answer::Page(title, main) => html(res, ok, layout::page(&visit, title, &main)),
            Answer::Wrong(title, main, error) => {
                html(res, gate::status(&error), layout::page(&visit, title, &main));
            }
            Answer::Waiting(title, main) => html(res, ok, layout::waiting(&visit, title, &main)),
            Answer::See(place) => see(res, &place),
            Answer::Away(label, url) => html(res, ok, layout::away(&visit, label, &url)),
            Answer::LogOut => {
                form::set_cookie(res.headers_mut(), &visit.cx, &PEOPLE.session, "", 0);
                see(res, PEOPLE.path);
            }
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
        layout::refusal(error, request_id, visit)
    }
}
