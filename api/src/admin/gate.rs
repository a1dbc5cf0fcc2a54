//! What happens to every request of the dashboard: log-in, then the form's token, then the page.

use fanfare_domain::{
    Domain, Error, Result, logins,
    ops::sessions::{self, Session},
};
use salvo::{Depot, FlowCtrl, Request, Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{
    Handler, layout, live,
    login::OPERATORS,
    visit::{Answer, Visit},
};
use crate::{
    browser::{
        answer::{html, protect, see},
        form,
    },
    front::Seen,
    query, request_id,
};

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
        let Some(token) = form::cookie(req.headers(), OPERATORS.session.name) else {
            return Ok(None);
        };
        Ok(sessions::find(&self.cx, &token).await?.map(|session| (session, token)))
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
            Ok(None) => return see(res, &OPERATORS.way_in(req)),
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
            Ok(Answer::Page(title, main)) => {
                let page = layout::page(&visit, title, main).await;
                html(res, StatusCode::OK, page);
            }
            Ok(Answer::See(place)) => see(res, &place),
            Ok(Answer::Leave(place)) => {
                form::set_cookie(res.headers_mut(), &visit.cx, &OPERATORS.session, "", 0);
                see(res, &place);
            }
            Ok(Answer::Live(part)) => live::stream(res, visit, part),
            Err(error) => refuse(res, &error, &visit.request_id, Some(&visit)),
        }
    }
}

/// Answers with what is wrong.
fn refuse(res: &mut Response, error: &Error, request_id: &str, visit: Option<&Visit>) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    html(res, status, layout::refusal(error, request_id, visit));
}
