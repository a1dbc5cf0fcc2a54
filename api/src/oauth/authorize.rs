//! `/api/oauth/authorize`: shows the consent page to a user whom a client sent, and redirects back to the client.

use fanfare_domain::{
    Code, Domain, Error, Result,
    access::Scope,
    limits::{self, Bucket},
    logins::forged,
    oauth_provider::{self, AuthorizeRequest, Decision, NoRequest, Parameters},
    sign_in::{self, Session},
};
use maud::html;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode, header::RETRY_AFTER},
};
use secrecy::SecretString;
use url::form_urlencoded;
use uuid::Uuid;

use super::{asked, consent};
use crate::{
    address,
    browser::{answer, form},
    middleware::request::Seen,
    oauth_connect::login::PEOPLE,
    query::Pairs,
    request_id,
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
        Seen::route(req, ROUTE);
        answer::protect_leading_away(res);
        if let Err(error) = self.answer(req, res).await {
            refuse(res, &error, &request_id::get(req));
        }
    }
}

/// The user who is shown the consent page, and the client's request.
struct Asked<'a> {
    session: &'a Session,
    token: &'a SecretString,
    issuer: &'a str,
    query: &'a str,
    request: &'a AuthorizeRequest,
}

impl Authorize {
    async fn answer(&self, req: &mut Request, res: &mut Response) -> Result<()> {
        let cx = &self.0;
        let address = address::of(req.remote_addr(), req.headers(), &cx.settings.trusted_proxies);
        limits::admit_anybody(cx, &[(Bucket::OauthAuthorize, &address)]).await?;
        let query = req.uri().query().unwrap_or_default().to_owned();
        if query.len() > LONGEST {
            let message = "The address is too long.";
            return Err(Error::new(Code::InvalidField, message));
        }
        let (issuer, sent) = (asked(&cx.settings, req), Parameters::of(query.as_bytes()));
        let request = match oauth_provider::read_request(cx, &issuer, &sent, &address).await {
            Ok(request) => request,
            Err(NoRequest::Page(error)) => return Err(error),
            Err(NoRequest::Back(place)) => {
                answer::see(res, &place);
                return Ok(());
            }
        };
        let token = form::cookie(req.headers(), cx, &PEOPLE.session);
        let session = match &token {
            Some(token) => sign_in::find(cx, token).await?,
            None => None,
        };
        let (Some(session), Some(token)) = (session, token) else {
            answer::see(res, &way_in(&query));
            return Ok(());
        };
        let (session, token, issuer) = (&session, &token, issuer.as_str());
        let asked = Asked { session, token, issuer, query: &query, request: &request };
        if req.method() == Method::POST {
            return self.decide(req, res, asked).await;
        }
        self.show(res, &asked, StatusCode::OK, None).await
    }

    async fn show(
        &self,
        res: &mut Response,
        asked: &Asked<'_>,
        status: StatusCode,
        wrong: Option<&Error>,
    ) -> Result<()> {
        let places = oauth_provider::places(&self.0, asked.session.user_id).await?;
        let page = consent::Page {
            email: &asked.session.email,
            csrf: form::token_of(asked.token),
            action: format!("{ROUTE}?{}", asked.query),
            request: asked.request,
            places: &places,
            wrong,
        };
        answer::html(res, status, page.markup());
        Ok(())
    }

    async fn decide(&self, req: &mut Request, res: &mut Response, asked: Asked<'_>) -> Result<()> {
        let (cx, person) = (&self.0, asked.session.user_id);
        let fields = form::fields(req).await?;
        if !form::is_ours(asked.token, &fields) {
            return Err(forged());
        }
        limits::admit_anybody(cx, &[(Bucket::OauthConsent, &person.to_string())]).await?;
        if form::field(&fields, "decision") != "allow" {
            answer::see(res, &denied(&asked));
            return Ok(());
        }
        let decision = decision(&fields);
        let let_in =
            oauth_provider::allow(cx, asked.issuer, asked.request, person, &decision).await;
        match let_in {
            Ok(place) => answer::see(res, &place),
            Err(error) if error.code() == Code::InvalidField => {
                return self.show(res, &asked, StatusCode::BAD_REQUEST, Some(&error)).await;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns the decision in the form.
fn decision(fields: &Pairs) -> Decision {
    let ticked = fields.iter().filter(|(name, _)| name == "scope");
    let workspace = Uuid::parse_str(&form::field(fields, "workspace_id")).unwrap_or_default();
    Decision {
        scopes: ticked.filter_map(|(_, scope)| Scope::named(scope)).collect(),
        workspace_id: fanfare_domain::WorkspaceId(workspace),
    }
}

/// Returns the redirect after the user denied access.
fn denied(asked: &Asked<'_>) -> String {
    let request = asked.request;
    let answer = [
        ("error", "access_denied"),
        ("error_description", "The person did not let the client in."),
    ];
    oauth_provider::back(&request.redirect_uri, asked.issuer, request.state.as_deref(), &answer)
}

/// Returns the URL of the log-in page, which leads back here.
fn way_in(query: &str) -> String {
    let page = format!("{ROUTE}?{query}");
    let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
    format!("{}?next={next}", PEOPLE.path)
}

fn refuse(res: &mut Response, error: &Error, request_id: &str) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = error.seconds() {
        res.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    let said = html! {
        h1 { "This tool cannot be let in" }
        p.flash.bad role="alert" { (error.message()) }
        @for broken in error.violations() { p { (broken.remedy) } }
        p.soft { "Nothing was given away. Request " code { (request_id) } }
    };
    answer::html(res, status, (PEOPLE.frame)("This tool cannot be let in", said));
}
