//! CORS: scripts of other sites may use paths that need a key, a token or nothing, and the addresses of files and uploads,
//! which are handed out for them; but never those that need a cookie.

use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
        },
    },
};

/// The paths that scripts of all sites may use, with everything below them.
const OPEN: [&str; 10] = [
    "/api/v1",
    "/upload",
    "/media",
    "/mcp",
    "/api/mcp",
    "/.well-known",
    "/openapi.json",
    "/api/oauth/register",
    "/api/oauth/token",
    "/api/oauth/revoke",
];

const EXPOSED: &str = "WWW-Authenticate, MCP-Protocol-Version, Mcp-Session-Id, X-Request-Id, X-RateLimit-Limit, \
     X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Resource, Retry-After, Idempotent-Replayed, ETag, Accept-Ranges, \
     Content-Length, Content-Range";

const SENT: &str = "Authorization, Content-Type, Accept, Idempotency-Key, X-Request-Id, MCP-Protocol-Version, Mcp-Session-Id, \
     Mcp-Method, Mcp-Name, Last-Event-ID, Range, If-Range, If-Match, If-None-Match";

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Adds the CORS headers and answers preflight requests.
pub struct Cors;

#[async_trait]
impl Handler for Cors {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        if !is_open(req.uri().path()) {
            ctrl.call_next(req, depot, res).await;
            return;
        }
        allow(res.headers_mut());
        if answers_preflight(req, res) {
            ctrl.skip_rest();
            return;
        }
        ctrl.call_next(req, depot, res).await;
        // A handler may have replaced all headers; what was set above is for the reply to one that panics.
        allow(res.headers_mut());
    }
}

fn is_open(path: &str) -> bool {
    OPEN.iter().any(|open| {
        path.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Answers a preflight request; returns false if it is none.
pub fn answers_preflight(req: &Request, res: &mut Response) -> bool {
    let asks = req.headers().contains_key("access-control-request-method");
    if req.method() != Method::OPTIONS || !asks {
        return false;
    }
    let headers = res.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    res.status_code(StatusCode::NO_CONTENT);
    true
}

/// Lets scripts of all sites read a reply.
pub fn allow(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn what_a_cookie_opens_is_not_open_to_other_sites() {
        for open in [
            "/api/v1",
            "/api/v1/posts",
            "/mcp",
            "/.well-known/x",
            "/api/oauth/token",
            "/upload/x",
            "/media/x.png",
        ] {
            assert!(is_open(open), "{open}");
        }
        for closed in [
            "/",
            "/login",
            "/drop/x/file",
            "/connect/sessions/x",
            "/dashboard/api",
            "/api/oauth/authorize",
            "/oauth/code",
            "/mcpx",
            "/api",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
