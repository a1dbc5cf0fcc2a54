//! Rate limits by IP address: counts every request but those for our own styles and scripts, and those of the API
//! and of files that are sent without a key once more, and reports the state of the limits in each reply to these.

use fanfare_core::{
    Domain,
    limits::{self, Meter},
};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait, http::HeaderValue};

use crate::{address, reply, request_id};

pub use fanfare_core::limits::Bucket;

/// The header with the name of the limit; the others are numbers.
pub const RESOURCE: &str = "X-RateLimit-Resource";

/// The headers, in the order of a [`limits::LimitState`].
pub const HEADERS: [(&str, &str); 4] = [
    ("X-RateLimit-Limit", "The requests that the limit nearest to its end allows in its window."),
    ("X-RateLimit-Remaining", "The requests that are left of it."),
    ("X-RateLimit-Reset", "The time at which its window starts anew, in Unix seconds."),
    (
        RESOURCE,
        "The name of this limit in `GET /api/v1/rate-limits`, or `address` for that of your address.",
    ),
];

/// Counts requests by address, before the key is checked.
pub struct RateLimitMiddleware(pub Domain);

#[async_trait]
impl Handler for RateLimitMiddleware {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let path = req.uri().path();
        if path.starts_with("/assets/") {
            ctrl.call_next(req, depot, res).await;
            return;
        }
        let is_api = is_of_api(path);
        let (meter, settings) = (Meter::default(), &self.0.settings);
        let address = address::of(req, &settings.trusted_proxies);
        let admitted = limits::admit_address(&self.0, &address, is_api, &meter).await;
        if !is_api && admitted.is_ok() {
            ctrl.call_next(req, depot, res).await;
            return;
        }
        // Written before the other handlers run too, for the reply if one of them panics.
        write_headers(&meter, res);
        match admitted {
            Ok(()) => {
                req.extensions_mut().insert(meter.clone());
                ctrl.call_next(req, depot, res).await;
            }
            Err(refusal) => {
                let id = request_id::get(req);
                reply::write(res, reply::refusal(&refusal), &id, &settings.base_url);
                ctrl.skip_rest();
            }
        }
        write_headers(&meter, res);
    }
}

/// Returns the meter of a request that was admitted.
pub fn meter(req: &Request) -> Meter {
    req.extensions().get::<Meter>().cloned().unwrap_or_default()
}

/// Returns true for the API, and for paths that accept files without a key.
fn is_of_api(path: &str) -> bool {
    ["/api/v1", "/api/mcp", "/mcp", "/upload", "/drop"].iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn write_headers(meter: &Meter, res: &mut Response) {
    let Some((bucket, standing)) = meter.nearest() else { return };
    let numbers = [standing.limit, standing.remaining, standing.reset].map(HeaderValue::from);
    let values = numbers.into_iter().chain([HeaderValue::from_static(bucket.as_str())]);
    for ((name, _), value) in HEADERS.iter().zip(values) {
        if let Ok(name) = name.parse::<salvo::http::header::HeaderName>() {
            res.headers_mut().insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_api;

    #[test]
    fn all_of_the_api_is_limited_and_what_takes_files_without_a_key() {
        for path in [
            "/api/v1",
            "/api/v1/",
            "/api/v1/posts",
            "/api/v1/nowhere",
            "/upload/x",
            "/drop/x/file",
            "/mcp",
            "/mcp/signup",
        ] {
            assert!(is_of_api(path), "{path}");
        }
        for path in ["/", "/docs", "/api/v10/posts", "/healthz", "/media/api/v1/x", "/dropped"] {
            assert!(!is_of_api(path), "{path}");
        }
    }
}
