//! The guest upload page (`/drop/…`): a person who has its address uploads files for a workspace. It works without
//! scripts; a script sends files one by one and shows how they are doing.

mod form;
mod page;

use fanfare_api::{
    body, media::require_uncompressed, middleware::request::LogFields, query, reply, request_id,
    router_ext::RouterExt as _,
};
use fanfare_core::{Code, Domain, Error, Result};
use fanfare_publishing::media::guest_uploads::{self, GuestUpload};
use maud::Markup;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, async_trait,
    http::{
        HeaderName, HeaderValue, ResBody, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
        },
    },
};

use crate::browser::{self, form::Cookie};

/// The page loads styles and scripts from this service, pictures from the visitor's own files, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
     img-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The page's address is a secret: these headers keep it out of other sites' logs, caches and search engines.
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
];

/// Returns the router of the page.
pub fn router(domain: &Domain) -> Router {
    Router::with_path("drop/{token}")
        .get_and_head(UploadPage(domain.clone()))
        .post(UploadForm(domain.clone()))
        .push(Router::with_path("file").put(UploadFile(domain.clone())))
}

/// Protects the form.
const FORM: Cookie = Cookie { name: "fanfare_drop", path: "/drop", same_site: "Strict" };

/// `GET /drop/{token}`.
struct UploadPage(Domain);

/// `POST /drop/{token}`: the form, as a browser without scripts sends it.
struct UploadForm(Domain);

/// `PUT /drop/{token}/file?name=…`: one file, as the script sends it.
struct UploadFile(Domain);

#[async_trait]
impl Handler for UploadPage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/drop/{token}");
        match session(&self.0, req).await {
            Ok(session) => {
                let csrf = csrf(&self.0, req, res);
                answer(res, 200, page::open(&session, (&action(req), &csrf), &[]));
            }
            Err(error) => refuse(res, &error),
        }
    }
}

#[async_trait]
impl Handler for UploadForm {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/drop/{token}");
        let taken = async {
            let session = session(&self.0, req).await?;
            let outcomes = form::take(&self.0, &session, req).await?;
            Ok::<_, Error>((session, outcomes))
        };
        let (before, outcomes) = match taken.await {
            Ok(taken) => taken,
            Err(error) => return refuse(res, &error),
        };
        let all_in = outcomes.iter().all(|outcome| outcome.error.is_none());
        let status = if all_in { 200 } else { 400 };
        // Read again, since files have arrived: a page with all its files is closed, and shows only the results.
        let shown = session(&self.0, req).await;
        let csrf = csrf(&self.0, req, res);
        let shown = match &shown {
            Ok(now) => page::open(now, (&action(req), &csrf), &outcomes),
            Err(_) => page::full(&before, &outcomes),
        };
        answer(res, status, shown);
    }
}

#[async_trait]
impl Handler for UploadFile {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/drop/{token}/file");
        let (body, mut status) = (req.take_body(), StatusCode::CREATED);
        let mut pieces = Box::pin(body::chunks(body));
        let taken = async {
            let session = session(&self.0, req).await?;
            require_uncompressed(req.headers())?;
            require_fitting(req, &session)?;
            let pairs = query::checked_pairs(req.uri().query().unwrap_or_default().as_bytes())?;
            let name = pairs.iter().find(|(known, _)| known == "name");
            let name = name.map_or("", |(_, name)| name.as_str());
            session.receive(&self.0, request_id::get(req), name, pieces.as_mut()).await
        };
        let answer = match taken.await {
            Ok(said) => fanfare_core::Reply::ok(&said).cast(),
            Err(error) => {
                if !body::drain(pieces.as_mut(), body::MAX_DRAIN).await {
                    body::mark_unread(req);
                }
                let refusal = reply::refusal(&error);
                status = StatusCode::from_u16(refusal.status).unwrap_or(status);
                refusal
            }
        };
        let answer = answer.with_status(status.as_u16());
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}

async fn session(cx: &Domain, req: &Request) -> Result<GuestUpload> {
    let token = req.params().get("token").map(String::as_str).unwrap_or_default();
    guest_uploads::find(cx, token).await
}

/// Returns the token of the page's form.
fn csrf(cx: &Domain, req: &Request, res: &mut Response) -> String {
    browser::form::csrf_token(&browser::form::form_secret(req, res, cx, &FORM))
}

/// Returns the target of the page's form, which is the page itself.
fn action(req: &Request) -> String {
    req.uri().path().to_owned()
}

/// Fails if the announced length exceeds the limit, before the file is read.
fn require_fitting(req: &Request, session: &GuestUpload) -> Result<()> {
    let length = req.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length: Option<u64> = length.and_then(|length| length.parse().ok());
    let limit = session.sizes().video.max(session.sizes().image);
    let Some(length) = length.filter(|length| *length > limit) else { return Ok(()) };
    let message = format!("The file has {length} bytes; {limit} are taken here.");
    Err(Error::field(Code::MediaTooLarge, "file", message, "Send a smaller file."))
}

fn refuse(res: &mut Response, error: &Error) {
    let title =
        if error.code() == Code::NotFound { "This page is closed" } else { "That did not work" };
    answer(res, error.status(), page::closed(title, error));
}

fn answer(res: &mut Response, status: u16, page: Markup) {
    let headers = res.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    res.status_code(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    res.replace_body(ResBody::Once(page.into_string().into()));
}
