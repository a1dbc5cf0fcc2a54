//! The outermost middleware: sets the id of each request, logs it, and gives empty error replies a JSON body.

use std::{panic::AssertUnwindSafe, time::Instant};

use fanfare_core::{Code, Error, access::Caller};
use futures_util::FutureExt;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, StatusCode,
        header::{STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS},
    },
};
use tracing::Instrument;

use crate::{body, reply, request_id};

/// Browsers ask this host over https alone, for a year from the last reply on. Neighbouring hosts are their own affair.
const HTTPS_ONLY: &str = "max-age=31536000";

/// The outermost middleware.
pub struct RequestMiddleware {
    base_url: String,
}

impl RequestMiddleware {
    /// Returns the middleware; `base_url` is the origin of `/docs/errors`.
    #[must_use]
    pub fn new(base_url: String) -> Self {
        Self { base_url }
    }

    fn fill_empty_error(&self, req: &Request, res: &mut Response, id: &str) {
        let answered = !(res.body.is_none() || res.body.is_error());
        let status = res.status_code.unwrap_or(StatusCode::OK);
        let refused = status.is_client_error() || status.is_server_error();
        if answered || !refused {
            return;
        }
        if let Some(error) = error_of_status(status, req) {
            reply::write(res, reply::refusal(&error), id, &self.base_url);
        }
    }
}

#[async_trait]
impl Handler for RequestMiddleware {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let (id, begun) = (request_id::choose(req.headers()), Instant::now());
        request_id::set(req, &id);
        let span = tracing::error_span!("request", request.id = %id);
        let rest = AssertUnwindSafe(ctrl.call_next(req, depot, res)).catch_unwind();
        if rest.instrument(span.clone()).await.is_err() {
            let error = span.in_scope(|| Error::internal("a request panicked"));
            reply::write(res, reply::refusal(&error), &id, &self.base_url);
        }
        self.fill_empty_error(req, res, &id);
        body::drain_unread(req, res).await;
        let headers = res.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.base_url.starts_with("https://") {
            headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HTTPS_ONLY));
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            headers.insert(request_id::HEADER, value);
        }
        log(req, res, &id, begun);
    }
}

/// Returns the error for a status without a body.
fn error_of_status(status: StatusCode, req: &Request) -> Option<Error> {
    let error = match status {
        StatusCode::NOT_FOUND => Error::new(Code::NotFound, "There is nothing at this address."),
        StatusCode::METHOD_NOT_ALLOWED => {
            let message = format!("{} is not possible at this address.", req.method());
            Error::new(Code::MethodNotAllowed, message)
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            Error::new(Code::PayloadTooLarge, "The body is too large.")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            Error::new(Code::UnsupportedMediaType, "This type of body is not taken here.")
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            Error::new(Code::Unavailable, "Not available right now.")
        }
        status if status.is_server_error() => {
            Error::internal(format!("a reply of {status} was empty"))
        }
        _ => return None,
    };
    Some(error)
}

/// Fields of a request's log line that its handler sets.
#[derive(Debug, Clone)]
pub struct LogFields {
    route: &'static str,
    key: Option<String>,
}

impl LogFields {
    /// Sets the route.
    pub fn set_route(req: &mut Request, route: &'static str) -> Self {
        let seen = Self { route, key: None };
        req.extensions_mut().insert(seen.clone());
        seen
    }

    /// Sets the id of the caller's key.
    pub fn set_key(self, req: &mut Request, caller: &Caller) {
        req.extensions_mut().insert(Self { key: Some(caller.key_id.to_string()), ..self });
    }
}

fn log(req: &Request, res: &Response, id: &str, begun: Instant) {
    let seen = req.extensions().get::<LogFields>();
    let route = match seen {
        Some(seen) => seen.route.to_owned(),
        // An unknown path may contain anything, even a secret: only its first segment is logged.
        None => format!("/{}/…", req.uri().path().split('/').nth(1).unwrap_or_default()),
    };
    let took = begun.elapsed();
    let status = res.status_code.map_or(0, |status| status.as_u16());
    fanfare_metrics::record::http_request(seen.map_or("other", |seen| seen.route), status, took);
    tracing::info!(
        method = %req.method(),
        route,
        status,
        ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        request.id = %id,
        key.id = seen.and_then(|seen| seen.key.as_deref()),
        "answered"
    );
}

#[cfg(test)]
mod tests {
    use salvo::{
        Router, Service, handler,
        test::{ResponseExt, TestClient},
    };
    use serde_json::Value;

    use super::*;

    #[handler]
    async fn fine() -> &'static str {
        "fine"
    }

    #[handler]
    async fn broken() {
        panic!("on purpose");
    }

    fn service() -> Service {
        let router = Router::new()
            .push(Router::with_path("fine").get(fine))
            .push(Router::with_path("broken").get(broken));
        Service::new(router).hoop(RequestMiddleware::new("https://f.example".to_owned()))
    }

    async fn error(mut res: Response) -> (u16, String, String) {
        let id = res.headers()["x-request-id"].to_str().unwrap().to_owned();
        let body: Value = res.take_json().await.unwrap();
        assert_eq!(body["request_id"], id.as_str());
        let code = body["code"].as_str().unwrap().to_owned();
        (res.status_code.unwrap().as_u16(), code, id)
    }

    #[tokio::test]
    async fn an_unknown_address_is_answered_in_our_shape() {
        let sent = TestClient::get("http://localhost/nowhere").send(&service()).await;
        let (status, code, id) = error(sent).await;
        assert_eq!((status, code.as_str()), (404, "not_found"));
        assert!(id.starts_with("req_"));
    }

    #[tokio::test]
    async fn a_wrong_method_is_answered_with_the_right_ones() {
        let sent = TestClient::post("http://localhost/fine")
            .add_header("x-request-id", "my-own-id", true)
            .send(&service())
            .await;
        assert_eq!(sent.headers()["allow"], "GET");
        assert_eq!(error(sent).await, (405, "method_not_allowed".into(), "my-own-id".into()));
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_its_words() {
        let mut sent = TestClient::get("http://localhost/broken").send(&service()).await;
        assert_eq!(sent.status_code, Some(StatusCode::INTERNAL_SERVER_ERROR));
        let text = sent.take_string().await.unwrap();
        assert!(text.contains("internal_error") && !text.contains("on purpose"), "{text}");
    }

    #[tokio::test]
    async fn success_carries_the_id_too() {
        let mut sent = TestClient::get("http://localhost/fine").send(&service()).await;
        assert!(sent.headers().contains_key("x-request-id"));
        assert_eq!(sent.headers()["x-content-type-options"], "nosniff");
        assert_eq!(sent.headers()["strict-transport-security"], HTTPS_ONLY);
        assert_eq!(sent.take_string().await.unwrap(), "fine");
    }
}
