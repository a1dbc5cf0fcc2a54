//! The middleware of pages with a log-in: checks the session and the form's CSRF token, then runs the page.

use std::sync::Arc;

use fanfare_api::{middleware::request::LogFields, query, request_id, router_ext::RouterExt as _};
use fanfare_core::{Domain, Error, Result, logins};
use futures_util::future::BoxFuture;
use maud::Markup;
use salvo::{
    Depot, FlowCtrl, Request, Response, Router, async_trait,
    http::{HeaderMap, StatusCode},
};
use secrecy::SecretString;

use crate::browser::{
    form,
    login::{LoginForm, LoginRealm},
    response::{html, protect, redirect},
    typed,
    visit::Visit,
};

/// A set of pages that share one log-in.
#[async_trait]
pub trait Site: Send + Sync + Sized + 'static {
    /// The session of a visitor.
    type Session: Clone + Send + Sync + 'static;
    /// The response of a page.
    type Answer: Send + 'static;

    /// Returns the log-in of these pages.
    fn realm() -> &'static LoginRealm;

    /// Returns the session of a cookie's token, if it is valid.
    ///
    /// # Errors
    /// The database's.
    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<Self::Session>>;

    /// Writes the response of a page.
    async fn write(res: &mut Response, answer: Self::Answer, visit: Visit<Self::Session>);

    /// Renders the page for an error.
    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit<Self::Session>>) -> Markup;
}

/// The function that renders a page or handles its form.
pub type PageHandler<P> =
    fn(Visit<<P as Site>::Session>) -> BoxFuture<'static, Result<<P as Site>::Answer>>;

/// A page that needs a log-in.
pub struct PageRoute<P: Site> {
    /// Its path, with `{parameters}`.
    pub path: &'static str,
    /// Handles GET.
    pub get: Option<PageHandler<P>>,
    /// Handles the form.
    pub post: Option<PageHandler<P>>,
    /// The largest form, in bytes.
    pub max_form: usize,
}

impl<P: Site> PageRoute<P> {
    /// Returns a page without a form.
    pub const fn get(path: &'static str, get: PageHandler<P>) -> Self {
        Self { path, get: Some(get), post: None, max_form: form::LARGEST }
    }

    /// Returns a form without a page of its own.
    pub const fn post(path: &'static str, post: PageHandler<P>) -> Self {
        Self { path, get: None, post: Some(post), max_form: form::LARGEST }
    }

    /// Sets the largest form, in bytes.
    pub const fn max_form(mut self, largest: usize) -> Self {
        self.max_form = largest;
        self
    }

    /// Adds a form to the page.
    pub const fn with_form(mut self, post: PageHandler<P>) -> Self {
        self.post = Some(post);
        self
    }
}

/// Wraps an async function as a [`Handler`].
macro_rules! page {
    ($function:path) => {
        |visit| Box::pin($function(visit))
    };
}
pub(crate) use page;

/// Returns the router of these pages, with their log-in.
pub fn router<P: Site>(domain: &Domain, pages: &'static [PageRoute<P>]) -> Router {
    let log_in = || LoginForm(domain.clone(), P::realm());
    let form = path_router(P::realm().path).get_and_head(log_in()).post(log_in());
    // The log-in comes before pages whose path has a parameter in the same place.
    Router::new().push(form).push(self::pages(domain, pages))
}

fn path_router(path: &str) -> Router {
    Router::with_path(path.trim_start_matches('/'))
}

/// Returns the router of these pages alone, without their log-in.
pub fn pages<P: Site>(domain: &Domain, pages: &'static [PageRoute<P>]) -> Router {
    let mut router = Router::new();
    for page in pages {
        let middleware = |handler, takes_form| PageMiddleware::<P> {
            cx: domain.clone(),
            route: page.path,
            handler,
            takes_form,
            largest: page.max_form,
        };
        let mut here = path_router(page.path);
        if let Some(handler) = page.get {
            here = here.get_and_head(middleware(handler, false));
        }
        if let Some(handler) = page.post {
            here = here.post(middleware(handler, true));
        }
        router = router.push(here);
    }
    router
}

/// Serves one page.
struct PageMiddleware<P: Site> {
    cx: Domain,
    route: &'static str,
    handler: PageHandler<P>,
    /// True if it handles a form, whose CSRF token is checked.
    takes_form: bool,
    largest: usize,
}

impl<P: Site> PageMiddleware<P> {
    async fn answer(&self, visit: Visit<P::Session>) -> Result<P::Answer> {
        if self.takes_form && !form::has_csrf_token(&visit.token, &visit.form) {
            return Err(logins::forged_form());
        }
        (self.handler)(visit).await
    }

    async fn log_in(&self, req: &Request) -> Result<Option<(P::Session, SecretString)>> {
        let Some(token) = form::cookie(req.headers(), &self.cx, &P::realm().session) else {
            return Ok(None);
        };
        Ok(P::find(&self.cx, &token).await?.map(|session| (session, token)))
    }
}

impl<P: Site> PageMiddleware<P> {
    /// Leads to the log-in. What was typed into a form of ours is shown, since the session ended before it was sent.
    async fn refuse_ended(&self, req: &mut Request, res: &mut Response) {
        let login = P::realm().login_url(req);
        if !self.takes_form || !is_from_here(req.headers()) {
            return redirect(res, &login);
        }
        let form = form::raw_fields(req, self.largest).await;
        if !typed::is_any(&form) {
            return redirect(res, &login);
        }
        let main = maud::html! {
            h1 { "Your session had expired" }
            p.flash.bad role="alert" { "Nothing was done. Log in, then send it again." }
            p.actions { a.button.strong href=(login) { "Log in" } }
            (typed::beside(&form, ""))
        };
        html(res, StatusCode::UNAUTHORIZED, (P::realm().frame)("Your session had expired", main));
    }
}

#[async_trait]
impl<P: Site> salvo::Handler for PageMiddleware<P> {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, self.route);
        let request_id = request_id::get(req);
        protect(res);
        let (session, token) = match self.log_in(req).await {
            Ok(Some(known)) => known,
            Ok(None) => return self.refuse_ended(req, res).await,
            Err(error) => return refuse::<P>(res, &error, &request_id, None),
        };
        let (form, refused) = if self.takes_form {
            form::fields_or_refusal(req, self.largest).await
        } else {
            (Vec::new(), None)
        };
        let asked = query::checked_pairs(req.uri().query().unwrap_or_default().as_bytes());
        let (query, broken) = match (asked, refused) {
            (Ok(query), refused) => (query, refused),
            (Err(error), refused) => (Vec::new(), refused.or(Some(error))),
        };
        let path = req.params().iter().map(|(name, value)| (name.clone(), value.clone()));
        let visit = Visit {
            cx: self.cx.clone(),
            session,
            token,
            request_id,
            path: path.collect(),
            query,
            form,
            is_document: is_document(req.headers()),
            is_from_here: is_from_here(req.headers()),
            route: self.route,
            workspace: form::workspace(req.headers(), &self.cx),
            zone: Arc::default(),
        };
        if let Some(error) = broken {
            return refuse::<P>(res, &error, &visit.request_id, Some(&visit));
        }
        match self.answer(visit.clone()).await {
            Ok(answer) => P::write(res, answer, visit).await,
            Err(error) => refuse::<P>(res, &error, &visit.request_id, Some(&visit)),
        }
    }
}

/// Returns true if a person navigates to the page. A browser that does not say counts as one, unless it prefetches.
fn is_document(headers: &HeaderMap) -> bool {
    let says = |name: &str, word: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).map(|value| value.contains(word))
    };
    let ahead = ["purpose", "sec-purpose"].iter().any(|name| says(name, "prefetch") == Some(true));
    !ahead && says("sec-fetch-dest", "document") != Some(false)
}

/// Returns true unless the browser says that a page of another site led here. One that does not say counts as ours.
fn is_from_here(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
    site.is_none_or(|site| ["same-origin", "none"].contains(&site))
}

/// Returns the HTTP status of an error.
pub fn status(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn refuse<P: Site>(
    res: &mut Response,
    error: &Error,
    request_id: &str,
    visit: Option<&Visit<P::Session>>,
) {
    html(res, status(error), P::refusal(error, request_id, visit));
}
