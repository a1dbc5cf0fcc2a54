//! Rate limits by IP address: counts every request of `/api/v1` and every file sent without a key, and reports the
//! state of the limits in each reply.

use fanfare_domain::{
    Domain,
    limits::{self, Meter},
};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait, http::HeaderValue};

use crate::{address, reply, request_id};

pub use fanfare_domain::limits::Bucket;

/// The headers, in the order of a [`limits::LimitState`].
pub const HEADERS: [(&str, &str); 3] = [
    ("X-RateLimit-Limit", "The requests that the limit nearest to its end allows in its window."),
    ("X-RateLimit-Remaining", "The requests that are left of it."),
    ("X-RateLimit-Reset", "The time at which its window starts anew, in Unix seconds."),
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
        if !is_limited(req.uri().path()) {
            ctrl.call_next(req, depot, res).await;
            return;
        }
        let (meter, settings) = (Meter::default(), &self.0.settings);
        let address = address::of(req.remote_addr(), req.headers(), &settings.trusted_proxies);
        let admitted = limits::admit_address(&self.0, &address, &meter).await;
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
fn is_limited(path: &str) -> bool {
    ["/api/v1", "/api/mcp", "/mcp", "/upload", "/drop"].iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn write_headers(meter: &Meter, res: &mut Response) {
    let Some(standing) = meter.nearest() else { return };
    let values = [standing.limit, standing.remaining, standing.reset];
    for ((name, _), value) in HEADERS.iter().zip(values) {
        if let Ok(name) = name.parse::<salvo::http::header::HeaderName>() {
            res.headers_mut().insert(name, HeaderValue::from(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_limited;

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
            assert!(is_limited(path), "{path}");
        }
        for path in ["/", "/docs", "/api/v10/posts", "/healthz", "/media/api/v1/x", "/dropped"] {
            assert!(!is_limited(path), "{path}");
        }
    }
}
