//! `/api/oauth/authorize`: shows the consent page to a user whom a client sent, and redirects back to the client.

use fanfare_api::oauth::requested_origin;
use fanfare_api::{address, middleware::request::LogFields, query::Pairs, request_id};
use fanfare_core::{
    Code, Domain, Error, Result,
    access::Scope,
    limits::{self, Bucket},
    logins::forged_form,
};
use fanfare_people::{
    oauth_provider::{
        self, AuthorizeError, AuthorizeRequest, ConsentDecision, Destination, ErrorRedirect,
        Parameters,
    },
    sign_in::{self, UserSession},
};
use maud::html;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode, header::RETRY_AFTER},
};
use secrecy::SecretString;
use url::form_urlencoded;
use uuid::Uuid;

use super::consent;
use crate::{
    browser::{form, refusal::refusal, response},
    oauth_connect::login::USER_LOGIN,
};

/// Its route in logs.
pub(super) const ROUTE: &str = "/api/oauth/authorize";

/// The longest query, in bytes.
const LONGEST: usize = 16_384;

/// Shows the consent page and handles the decision.
pub(super) struct Authorize(pub Domain);

#[async_trait]
impl Handler for Authorize {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, ROUTE);
        response::protect_external_form(res);
        if let Err(error) = self.answer(req, res).await {
            refuse(res, &error, &request_id::get(req));
        }
    }
}

/// The user who is shown the consent page, and the client's request.
struct ConsentRequest<'a> {
    session: &'a UserSession,
    token: &'a SecretString,
    issuer: &'a str,
    query: &'a str,
    request: &'a AuthorizeRequest,
}

impl Authorize {
    async fn answer(&self, req: &mut Request, res: &mut Response) -> Result<()> {
        let cx = &self.0;
        let address = address::of(req, &cx.settings.trusted_proxies);
        limits::admit_anonymous(cx, &[(Bucket::OauthAuthorize, &address)]).await?;
        let query = req.uri().query().unwrap_or_default().to_owned();
        if query.len() > LONGEST {
            let message = "The address is too long.";
            return Err(Error::new(Code::InvalidField, message));
        }
        let (issuer, sent) =
            (requested_origin(&cx.settings, req), Parameters::of(query.as_bytes())?);
        let token = form::cookie(req.headers(), cx, &USER_LOGIN.session);
        let session = match &token {
            Some(token) => sign_in::find(cx, token).await?,
            None => None,
        };
        let request = match oauth_provider::read_request(cx, &issuer, &sent, &address).await {
            Ok(request) => request,
            Err(AuthorizeError::Page(error)) => return Err(error),
            Err(AuthorizeError::Redirect(back)) => {
                send_back(res, &back, session.is_some());
                return Ok(());
            }
        };
        let (Some(session), Some(token)) = (session, token) else {
            response::redirect(res, &login_url(&query));
            return Ok(());
        };
        let (session, token, issuer) = (&session, &token, issuer.as_str());
        let asked = ConsentRequest { session, token, issuer, query: &query, request: &request };
        if req.method() == Method::POST {
            return self.decide(req, res, asked).await;
        }
        self.show(res, &asked, StatusCode::OK, None).await
    }

    async fn show(
        &self,
        res: &mut Response,
        asked: &ConsentRequest<'_>,
        status: StatusCode,
        wrong: Option<(&Pairs, &Error)>,
    ) -> Result<()> {
        let places = oauth_provider::consent_workspaces(&self.0, asked.session.user_id).await?;
        let page = consent::ConsentPage {
            email: &asked.session.email,
            csrf: form::csrf_token(asked.token),
            action: format!("{ROUTE}?{}", asked.query),
            request: asked.request,
            places: &places,
            asks_password: !asked.session.is_recent(&self.0),
            wrong,
        };
        response::html(res, status, page.markup());
        Ok(())
    }

    async fn decide(
        &self,
        req: &mut Request,
        res: &mut Response,
        asked: ConsentRequest<'_>,
    ) -> Result<()> {
        let (cx, person) = (&self.0, asked.session.user_id);
        let fields = form::fields(req).await?;
        if !form::has_csrf_token(asked.token, &fields) {
            return Err(forged_form());
        }
        limits::admit_anonymous(cx, &[(Bucket::OauthConsent, &person.to_string())]).await?;
        if form::field(&fields, "decision") != "allow" {
            response::redirect(res, &denied_url(&asked));
            return Ok(());
        }
        let decision = decision(&fields);
        let let_in = async {
            require_password(cx, &asked, &fields).await?;
            oauth_provider::allow(cx, asked.issuer, asked.request, person, &decision).await
        };
        match let_in.await {
            Ok(place) => response::redirect(res, &place),
            Err(error) if [Code::InvalidField, Code::FieldRequired].contains(&error.code()) => {
                return self
                    .show(res, &asked, StatusCode::BAD_REQUEST, Some((&fields, &error)))
                    .await;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Sends a user back with an error. Anybody can register a client with any address, so somebody who has not logged in is
/// sent to the own machine alone, and else sees where the way leads (RFC 9700 section 4.11.2).
fn send_back(res: &mut Response, back: &ErrorRedirect, is_logged_in: bool) {
    let to = match &back.destination {
        Destination::ThisComputer => None,
        Destination::Site(host) => Some(host.clone()),
        Destination::Program(scheme) => Some(format!("the program for {scheme}")),
    };
    let Some(to) = to.filter(|_| !is_logged_in) else {
        return response::redirect(res, &back.url);
    };
    let said = html! {
        h1 { "This tool cannot be let in" }
        p.flash.bad role="alert" { (back.description) }
        p.soft { "Nothing was given away." }
        p { a href=(back.url) rel="noreferrer" { "Go back to " (to) } }
    };
    response::html(
        res,
        StatusCode::BAD_REQUEST,
        (USER_LOGIN.frame)("This tool cannot be let in", said),
    );
}

/// Fails unless the user gave the password recently, or it is in the form: a tool gets in for good, as with a key.
async fn require_password(cx: &Domain, asked: &ConsentRequest<'_>, fields: &Pairs) -> Result<()> {
    if asked.session.is_recent(cx) {
        return Ok(());
    }
    let password = form::field(fields, "password");
    if password.is_empty() {
        let message = "You logged in a while ago, so this needs your password.";
        return Err(Error::field(Code::FieldRequired, "password", message, "Enter it below."));
    }
    sign_in::confirm_password(cx, (asked.session, asked.token), password.into()).await
}

/// Returns the decision in the form.
fn decision(fields: &Pairs) -> ConsentDecision {
    let ticked = fields.iter().filter(|(name, _)| name == "scope");
    let workspace = Uuid::parse_str(&form::field(fields, "workspace_id")).unwrap_or_default();
    ConsentDecision {
        scopes: ticked.filter_map(|(_, scope)| Scope::named(scope)).collect(),
        workspace_id: fanfare_core::WorkspaceId(workspace),
    }
}

/// Returns the redirect after the user denied access.
fn denied_url(asked: &ConsentRequest<'_>) -> String {
    let request = asked.request;
    let answer = [
        ("error", "access_denied"),
        ("error_description", "The person did not let the client in."),
    ];
    oauth_provider::callback_url(
        &request.redirect_uri,
        asked.issuer,
        request.state.as_deref(),
        &answer,
    )
}

/// Returns the URL of the log-in page, which leads back here.
fn login_url(query: &str) -> String {
    let page = format!("{ROUTE}?{query}");
    let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
    format!("{}?next={next}", USER_LOGIN.path)
}

fn refuse(res: &mut Response, error: &Error, request_id: &str) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = error.retry_after_seconds() {
        res.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    let said = html! {
        h1 { "This tool cannot be let in" }
        (refusal(error))
        p.soft { "Nothing was given away. Request " code { (request_id) } }
    };
    response::html(res, status, (USER_LOGIN.frame)("This tool cannot be let in", said));
}
