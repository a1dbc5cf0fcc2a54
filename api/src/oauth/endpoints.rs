//! Endpoints that clients call directly: registration, token and revocation. Errors have the form of RFC 6749 section
//! 5.2.

use bytes::Bytes;
use fanfare_core::{
    Code, Domain, Error,
    limits::{self, Bucket},
};
use fanfare_entities::Millis;
use fanfare_people::oauth_provider::{
    self, ClientRegistration, OauthError, OauthFlaw, OauthRefusal, OauthResult, Parameters,
    RegisteredClient, join_scopes,
};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE},
    },
};
use serde_json::{Value, json};

use super::exchange;
use crate::{address, json as strict_json, middleware::request::LogFields, request_id};

/// The largest body, in bytes.
const LARGEST: usize = 64 * 1024;

/// Which of the endpoints.
#[derive(Debug, Clone, Copy)]
pub(super) enum EndpointKind {
    Register,
    Token,
    Revoke,
}

/// One of the endpoints.
pub(super) struct OauthEndpoint {
    pub cx: Domain,
    pub kind: EndpointKind,
}

#[async_trait]
impl Handler for OauthEndpoint {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let arrived = self.cx.clock.now();
        LogFields::set_route(req, self.kind.path());
        match self.answer(req, arrived).await {
            Ok((status, body)) => write(res, status, &body),
            Err(refused) => refuse(res, &refused, &request_id::get(req)),
        }
    }
}

impl EndpointKind {
    const fn path(self) -> &'static str {
        match self {
            Self::Register => "/api/oauth/register",
            Self::Token => "/api/oauth/token",
            Self::Revoke => "/api/oauth/revoke",
        }
    }
}

impl OauthEndpoint {
    async fn answer(&self, req: &mut Request, arrived: Millis) -> OauthResult<(StatusCode, Value)> {
        let cx = &self.cx;
        let address = address::of(req, &cx.settings.trusted_proxies);
        let limit = match self.kind {
            EndpointKind::Register => None,
            EndpointKind::Token => Some(Bucket::OauthToken),
            EndpointKind::Revoke => Some(Bucket::OauthRevoke),
        };
        if let Some(bucket) = limit {
            limits::admit_anonymous(cx, &[(bucket, &address)]).await?;
        }
        match self.kind {
            EndpointKind::Register => {
                let asked = registration(req).await?;
                let made = oauth_provider::register(cx, asked, &address).await?;
                Ok((StatusCode::CREATED, registered(&made)))
            }
            EndpointKind::Token => {
                let tokens = exchange::token(cx, &form(req).await?, arrived).await?;
                Ok((StatusCode::OK, tokens))
            }
            EndpointKind::Revoke => {
                exchange::revoke(cx, &form(req).await?).await?;
                Ok((StatusCode::OK, json!({})))
            }
        }
    }
}

async fn body(req: &mut Request, kind: &str, error: OauthError) -> Result<Bytes, OauthFlaw> {
    let flaw = |description: String| OauthFlaw { error, parameter: "body", description };
    let sent = req.headers().get(CONTENT_TYPE).and_then(|sent| sent.to_str().ok());
    let sent = sent.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_owned();
    if !sent.eq_ignore_ascii_case(kind) {
        return Err(flaw(format!("The body must be sent as {kind}.")));
    }
    let read = req.payload_with_max_size(LARGEST).await;
    read.cloned().map_err(|_| flaw("The body is larger than 64 KiB, or was cut off.".to_owned()))
}

async fn form(req: &mut Request) -> Result<Parameters, OauthFlaw> {
    let kind = "application/x-www-form-urlencoded";
    let error = OauthError::InvalidRequest;
    let sent = Parameters::of(&body(req, kind, error).await?);
    sent.map_err(|why| OauthFlaw {
        error,
        parameter: "body",
        description: why.message().to_owned(),
    })
}

async fn registration(req: &mut Request) -> Result<ClientRegistration, OauthFlaw> {
    let error = OauthError::InvalidClientMetadata;
    let body = body(req, "application/json", error).await?;
    let flaw = |description: String| OauthFlaw { error, parameter: "body", description };
    let value = strict_json::parse(&body).map_err(flaw)?;
    let read = Some(value).filter(Value::is_object).map(serde_json::from_value);
    read.and_then(Result::ok).ok_or_else(|| {
        let form = "redirect_uris, grant_types and response_types are lists of text, client_name and scope are texts";
        flaw(format!("The body must be an object in which {form}."))
    })
}

fn registered(made: &RegisteredClient) -> Value {
    let mut said = json!({
        "client_id": made.client_id,
        "client_id_issued_at": made.issued_at / 1_000,
        "client_name": made.client_name,
        "redirect_uris": made.redirect_uris,
        "grant_types": made.grant_types,
        "response_types": ["code"],
        "scope": join_scopes(&made.scopes),
        "token_endpoint_auth_method": "none",
    });
    if let Some(kind) = &made.application_type {
        said["application_type"] = kind.clone().into();
    }
    said
}

fn write(res: &mut Response, status: StatusCode, body: &Value) {
    let headers = res.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    res.status_code(status);
    res.replace_body(ResBody::Once(body.to_string().into()));
}

fn refuse(res: &mut Response, refused: &OauthRefusal, request_id: &str) {
    let (status, error, description) = match refused {
        OauthRefusal::Flaw(flaw) => {
            (flaw.error.status(), flaw.error.as_str(), flaw.description.as_str())
        }
        OauthRefusal::Service(error) => (error.status(), service_error(error), error.message()),
    };
    if let OauthRefusal::Service(error) = refused
        && let Some(seconds) = error.retry_after_seconds()
    {
        res.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    if status == 401 {
        let challenge = HeaderValue::from_static(r#"Bearer realm="fanfare""#);
        res.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = json!({"error": error, "error_description": description, "request_id": request_id});
    write(res, status, &body);
}

fn service_error(error: &Error) -> &'static str {
    match error.code() {
        Code::RateLimited | Code::Unavailable => "temporarily_unavailable",
        _ => "server_error",
    }
}
