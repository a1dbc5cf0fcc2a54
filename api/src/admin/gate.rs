//! What happens to every request of the dashboard: log-in, then the form's token, then the page.

use fanfare_domain::{
    Domain, Error, Result,
    ops::sessions::{self, Session},
};
use salvo::{
    Depot, FlowCtrl, Request, Response, async_trait,
    http::{
        HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY},
    },
};
use secrecy::SecretString;
use url::form_urlencoded;

use super::{
    Handler,
    form::{self, SESSION},
    layout, live,
    visit::{Answer, Visit},
};
use crate::{front::Seen, query, request_id};

/// Pages take style and script from this service alone, and none that stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

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
            return Err(sessions::forged());
        }
        (self.handler)(visit).await
    }

    async fn log_in(&self, req: &Request) -> Result<Option<(Session, SecretString)>> {
        let Some(token) = form::cookie(req.headers(), SESSION) else { return Ok(None) };
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
            Ok(None) => return see(res, &to_log_in(req)),
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
                form::set_cookie(res.headers_mut(), &visit.cx, (SESSION, ""), 0);
                see(res, &place);
            }
            Ok(Answer::Live(part)) => live::stream(res, visit, part),
            Err(error) => refuse(res, &error, &visit.request_id, Some(&visit)),
        }
    }
}

/// Where a visitor logs in, and comes back from if the page can be asked for again.
fn to_log_in(req: &Request) -> String {
    if req.method() != salvo::http::Method::GET {
        return "/admin/login".to_owned();
    }
    let page = req.uri().path_and_query().map_or("/admin", |page| page.as_str());
    let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
    format!("/admin/login?next={next}")
}

/// Headers that every answer of the dashboard has.
pub fn protect(res: &mut Response) {
    let headers = res.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Answers with a page.
pub fn html(res: &mut Response, status: StatusCode, page: maud::Markup) {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    res.headers_mut().insert(CONTENT_TYPE, kind);
    res.status_code(status);
    res.replace_body(ResBody::Once(page.into_string().into()));
}

/// Sends the visitor to another page.
pub fn see(res: &mut Response, place: &str) {
    if let Ok(place) = HeaderValue::from_str(place) {
        res.headers_mut().insert(LOCATION, place);
    }
    res.status_code(StatusCode::SEE_OTHER);
    res.replace_body(ResBody::Once(Default::default()));
}

/// Answers with what is wrong.
pub fn refuse(res: &mut Response, error: &Error, request_id: &str, visit: Option<&Visit>) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    html(res, status, layout::refusal(error, request_id, visit));
}
