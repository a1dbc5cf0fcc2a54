//! What happens to every request of these pages: log-in, then the form's token, then the page.

use fanfare_domain::{
    Domain, Error, Result, logins,
    sign_in::{self, Session},
};
use maud::Markup;
use salvo::{Depot, FlowCtrl, Request, Response, async_trait, http::StatusCode};
use secrecy::SecretString;
use url::Url;

use super::{Handler, layout, login::PEOPLE};
use crate::{
    browser::{
        answer::{html, protect, see},
        form, visit,
    },
    front::Seen,
    query, request_id,
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

/// A page at work.
pub struct Gate {
    cx: Domain,
    route: &'static str,
    handler: Handler,
    /// It answers a form, so the form's token is looked at.
    takes_form: bool,
}

impl Gate {
    /// A page, ready to answer.
    pub const fn new(cx: Domain, route: &'static str, handler: Handler, takes_form: bool) -> Self {
        Self { cx, route, handler, takes_form }
    }

    async fn answer(&self, visit: Visit) -> Result<Answer> {
        if self.takes_form && !form::is_ours(&visit.token, &visit.form) {
            return Err(logins::forged());
        }
        (self.handler)(visit).await
    }

    async fn log_in(&self, req: &Request) -> Result<Option<(Session, SecretString)>> {
        let Some(token) = form::cookie(req.headers(), PEOPLE.session.name) else {
            return Ok(None);
        };
        Ok(sign_in::find(&self.cx, &token).await?.map(|session| (session, token)))
    }
}

#[async_trait]
impl salvo::Handler for Gate {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        Seen::route(req, self.route);
        let request_id = request_id::get(req);
        protect(res);
        let (session, token) = match self.log_in(req).await {
            Ok(Some(known)) => known,
            Ok(None) => return see(res, &PEOPLE.way_in(req)),
            Err(error) => return refuse(res, &error, &request_id, None),
        };
        let form = if self.takes_form { form::fields(req).await } else { Vec::new() };
        let path = req.params().iter().map(|(name, value)| (name.clone(), value.clone()));
        let visit = Visit {
            cx: self.cx.clone(),
            session,
            token,
            request_id,
            path: path.collect(),
            query: query::pairs(req.uri().query()),
            form,
        };
        match self.answer(visit.clone()).await {
            Ok(answer) => write(res, answer, &visit),
            Err(error) => refuse(res, &error, &visit.request_id, Some(&visit)),
        }
    }
}

fn write(res: &mut Response, answer: Answer, visit: &Visit) {
    match answer {
        Answer::Page(title, main) => html(res, StatusCode::OK, layout::page(visit, title, &main)),
        Answer::Wrong(title, main, error) => {
            html(res, status(&error), layout::page(visit, title, &main));
        }
        Answer::Waiting(title, main) => {
            html(res, StatusCode::OK, layout::waiting(visit, title, &main));
        }
        Answer::See(place) => see(res, &place),
        Answer::Away(label, url) => html(res, StatusCode::OK, layout::away(visit, label, &url)),
        Answer::LogOut => {
            form::set_cookie(res.headers_mut(), &visit.cx, &PEOPLE.session, "", 0);
            see(res, PEOPLE.path);
        }
    }
}

fn status(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn refuse(res: &mut Response, error: &Error, request_id: &str, visit: Option<&Visit>) {
    html(res, status(error), layout::refusal(error, request_id, visit));
}
