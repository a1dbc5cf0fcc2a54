//! Checks requests before MCP: host, origin, key and method.

use std::sync::{Arc, OnceLock};

use fanfare_core::{
    Code, Domain, Error, Result,
    access::{Caller, Scope},
    limits::Meter,
};
use futures_util::StreamExt as _;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderMap, HeaderValue, Method, ReqBody, ResBody,
        body::BytesFrame,
        header::{ACCEPT, ALLOW, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE},
    },
};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::{Host, Url};

use super::arguments;
use crate::{
    address::{self, ClientAddress},
    body::{self, RequestBody},
    keys,
    middleware::{rate_limit, request::LogFields},
    oauth::{self, challenge},
    reply, request_id,
    static_page::StaticPage,
};

/// The callers of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Only callers with a key.
    Members,
    /// All callers, with a key or without.
    Anybody,
}

/// The facts of the HTTP request of a tool call that the request to the route needs.
#[derive(Debug, Clone)]
pub struct OuterRequest {
    /// The id of the request.
    pub request_id: String,
    /// The rate limits it was counted against.
    pub meter: Meter,
    /// The address of the client, as rate limits count it.
    pub address: ClientAddress,
    /// The caller, if a key was needed.
    pub caller: Option<Caller>,
    /// The tool, once it is known, for the log line.
    pub tool: Arc<OnceLock<&'static str>>,
    /// The scope that the caller's token lacks for the tool.
    pub missing_scope: Arc<OnceLock<Scope>>,
    /// Cancelled once the caller has the whole answer, or has gone.
    pub ended: CancellationToken,
}

/// The middleware that admits requests.
pub struct AdmissionMiddleware {
    domain: Domain,
    audience: Audience,
    card: StaticPage,
}

impl AdmissionMiddleware {
    /// Returns the middleware; `card` is the reply to a plain GET.
    #[must_use]
    pub const fn new(domain: Domain, audience: Audience, card: StaticPage) -> Self {
        Self { domain, audience, card }
    }

    async fn admit(&self, req: &mut Request) -> Result<OuterRequest> {
        let route = match self.audience {
            Audience::Members => "/mcp",
            Audience::Anybody => "/mcp/signup",
        };
        let seen = LogFields::set_route(req, route);
        require_host(req, &self.domain.settings.base_url)?;
        require_origin(req.headers(), &self.domain.settings.base_url)?;
        let caller = match self.audience {
            Audience::Members => {
                let path = req.uri().path().to_owned();
                let caller = keys::caller(&self.domain, req.headers(), &path).await?;
                seen.set_key(req, &caller);
                Some(caller)
            }
            Audience::Anybody => None,
        };
        if req.method() != Method::POST {
            let message = "MCP is spoken with POST here; there are no sessions.";
            return Err(Error::new(Code::MethodNotAllowed, message));
        }
        require_message(req).await?;
        let outer = OuterRequest {
            request_id: request_id::get(req),
            meter: rate_limit::meter(req),
            address: ClientAddress(address::of(req, &self.domain.settings.trusted_proxies)),
            caller,
            tool: Arc::default(),
            missing_scope: Arc::default(),
            ended: CancellationToken::new(),
        };
        req.extensions_mut().insert(outer.clone());
        Ok(outer)
    }
}

/// The parts of a request that error replies need.
struct RefusalWriter {
    /// The methods in the reply to another one.
    allowed: &'static str,
    base_url: String,
    path: String,
    request_id: String,
}

impl RefusalWriter {
    /// Refuses a request; a 401 names the metadata document with which an OAuth client begins.
    fn refuse(&self, res: &mut Response, error: &Error) {
        reply::write(res, reply::refusal(error), &self.request_id, &self.base_url);
        if error.code() == Code::MethodNotAllowed {
            res.headers_mut().insert(ALLOW, HeaderValue::from_static(self.allowed));
        }
        if error.status() == 401 {
            let is_bad = error.code() != Code::MissingApiKey;
            let value = challenge::unauthorized(&self.base_url, &self.path, is_bad);
            res.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }

    /// Refuses a token that lacks a scope with a 403, so that the client requests the scope.
    fn challenge_scope(&self, res: &mut Response, scope: Scope) {
        let error = keys::token_lacks_scope(scope);
        reply::write(res, reply::refusal(&error), &self.request_id, &self.base_url);
        oauth::challenge_scope(res, &self.base_url, &self.path, scope);
    }
}

#[async_trait]
impl Handler for AdmissionMiddleware {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let looks = [Method::GET, Method::HEAD].contains(req.method());
        if looks && !accepts_stream(req.headers()) {
            LogFields::set_route(req, "/mcp");
            self.card.write(res);
            ctrl.skip_rest();
            return;
        }
        // Read before the MCP server consumes the request.
        let around = RefusalWriter {
            // A reading request that gets here asks for a stream, which there is none of.
            allowed: if looks { "POST" } else { "GET, HEAD, POST" },
            base_url: oauth::requested_origin(&self.domain.settings, req),
            path: req.uri().path().to_owned(),
            request_id: request_id::get(req),
        };
        match self.admit(req).await {
            Ok(outer) => {
                let ended = outer.ended.drop_guard();
                ctrl.call_next(req, depot, res).await;
                end_with_body(res, ended);
                if let Some(scope) = outer.missing_scope.get() {
                    around.challenge_scope(res, *scope);
                }
            }
            Err(error) => {
                around.refuse(res, &error);
                ctrl.skip_rest();
            }
        }
    }
}

/// Keeps the guard until the body has been sent, or the caller has gone.
fn end_with_body(res: &mut Response, guard: DropGuard) {
    let kind = res.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return;
    }
    let body = res.take_body();
    res.replace_body(ResBody::stream(body.map(move |piece| {
        let _held = &guard;
        piece.map(BytesFrame)
    })));
}

/// Refuses a body that is no JSON-RPC message with an ordinary error reply; leaves any other body for the server to
/// read, with the arguments of a tool as an object where the client wrote them as something else.
async fn require_message(req: &mut Request) -> Result<()> {
    let raw = body::read_bytes(req, body::LARGEST, Code::PayloadTooLarge).await??;
    if raw.trim_ascii_start().starts_with(b"[") {
        let message = "A body is one message of JSON-RPC 2.0 here; batches are not taken. Send each message by itself.";
        return Err(Error::new(Code::InvalidJson, message));
    }
    let RequestBody { mut raw, value, refusal } = body::parse(req.headers(), raw).await?;
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    let is_message = value.as_ref().is_some_and(|value| {
        let says = ["method", "result", "error"].iter().any(|name| value.get(name).is_some());
        value["jsonrpc"] == "2.0" && says
    });
    if !is_message {
        let message = "The body is no message of JSON-RPC 2.0: an object with jsonrpc and method.";
        return Err(Error::new(Code::InvalidJson, message));
    }
    if let Some(readable) = value.and_then(with_arguments_as_object) {
        raw = readable.to_string().into();
    }
    *req.body_mut() = ReqBody::Once(raw);
    Ok(())
}

/// Returns a call of a tool with its arguments as an object, if they can be read as one and are none.
fn with_arguments_as_object(mut message: Value) -> Option<Value> {
    if message["method"] != "tools/call" {
        return None;
    }
    let sent = message.get_mut("params")?.get_mut("arguments").filter(|sent| !sent.is_object())?;
    *sent = arguments::as_object(sent.take())?.into();
    Some(message)
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains("text/event-stream"))
}

/// Fails unless the `Host` is the service's own: this prevents DNS rebinding.
fn require_host(req: &Request, base_url: &str) -> Result<()> {
    let sent = req.headers().get(HOST).and_then(|host| host.to_str().ok());
    let sent = sent.or_else(|| req.uri().authority().map(|authority| authority.as_str()));
    let named = sent.and_then(|host| Url::parse(&format!("http://{host}")).ok());
    let ours = Url::parse(base_url).ok();
    let same = ours.zip(named).is_some_and(|(ours, named)| {
        let both_local = is_loopback(&ours) && is_loopback(&named);
        let ports = (ours.port_or_known_default(), named.port().or(ours.port_or_known_default()));
        (both_local || ours.host_str() == named.host_str()) && ports.0 == ports.1
    });
    if same {
        return Ok(());
    }
    let message = "This service does not answer under this host name.";
    Err(Error::new(Code::MisdirectedRequest, message))
}

/// Fails for scripts of other sites if the service is local. A public service needs no check, since cookies do not
/// count here.
fn require_origin(headers: &HeaderMap, base_url: &str) -> Result<()> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let sent = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok());
    let ours = Url::parse(base_url).ok();
    let fine = ours.zip(sent).is_some_and(|(ours, sent)| {
        sent.origin() == ours.origin()
            || (is_loopback(&ours) && is_loopback(&sent))
            || (ours.scheme() == "https" && sent.scheme() == "https")
    });
    if fine {
        return Ok(());
    }
    Err(Error::new(Code::OriginNotAllowed, "Pages of this origin may not call the service."))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(base: &str, sent: &str) -> bool {
        let mut req = Request::new();
        req.headers_mut().insert(HOST, sent.parse().unwrap());
        require_host(&req, base).is_ok()
    }

    #[test]
    fn only_the_services_own_name_is_answered() {
        assert!(host("https://fanfare.example", "fanfare.example"));
        assert!(host("https://fanfare.example", "FANFARE.example:443"));
        assert!(host("http://127.0.0.1:8080", "localhost:8080"));
        for (base, sent) in [
            ("https://fanfare.example", "evil.example"),
            ("https://fanfare.example", "fanfare.example:8443"),
            ("https://fanfare.example", "localhost"),
            ("http://127.0.0.1:8080", "rebound.example:8080"),
            ("http://127.0.0.1:8080", "localhost:9090"),
        ] {
            assert!(!host(base, sent), "{sent} on {base}");
        }
    }

    #[test]
    fn foreign_pages_reach_a_public_service_only() {
        let allowed = |base: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, origin.parse().unwrap());
            require_origin(&headers, base).is_ok()
        };
        assert!(allowed("https://fanfare.example", "https://claude.ai"));
        assert!(allowed("http://127.0.0.1:8080", "http://localhost:6274"));
        assert!(!allowed("https://fanfare.example", "http://claude.ai"));
        assert!(!allowed("http://127.0.0.1:8080", "https://evil.example"));
        assert!(!allowed("http://127.0.0.1:8080", "null"));
    }
}
