//! Refuses what the page of another site sends to the pages of this service: no foreign form starts or ends a session or
//! changes anything. The token of the form is checked besides, for browsers that do not say where a form comes from.

use fanfare_core::{Domain, logins::forged_form};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderMap, Method,
        header::{HOST, ORIGIN},
    },
};
use url::Url;

use crate::{reply, request_id};

/// The doors of programs: no cookie counts there, so that nothing is gained by sending a browser to them.
const PROGRAMS: [&str; 11] = [
    "/api/v1",
    "/api/mcp",
    "/mcp",
    "/upload",
    "/openapi.json",
    "/.well-known",
    "/api/oauth/register",
    "/api/oauth/token",
    "/api/oauth/revoke",
    "/api/stripe",
    "/api/hooks",
];

/// Refuses requests that change something and come from another origin.
pub struct SameOrigin(pub Domain);

#[async_trait]
impl Handler for SameOrigin {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(req.method());
        let base_url = &self.0.settings.base_url;
        let authority = req.uri().authority().map(|authority| authority.as_str().to_owned());
        if is_safe
            || is_for_programs(req.uri().path())
            || is_ours(req.headers(), authority, base_url)
        {
            ctrl.call_next(req, depot, res).await;
            return;
        }
        let id = request_id::get(req);
        reply::write(res, reply::refusal(&forged_form()), &id, base_url);
        ctrl.skip_rest();
    }
}

fn is_for_programs(path: &str) -> bool {
    PROGRAMS.iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns true unless the browser says that a page of another origin sent the request. `null` is what it says of pages
/// that keep their address to themselves, ours among them.
fn is_ours(headers: &HeaderMap, authority: Option<String>, base_url: &str) -> bool {
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if said("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site)) {
        return false;
    }
    let Some(origin) = said(ORIGIN.as_str()).filter(|origin| *origin != "null") else {
        return true;
    };
    let Ok(origin) = Url::parse(origin).map(|url| url.origin()) else { return false };
    if Url::parse(base_url).is_ok_and(|base| base.origin() == origin) {
        return true;
    }
    // The service may have more than one name. A browser sends the one it was asked by, which no page can change.
    let host = said(HOST.as_str()).map(str::to_owned).or(authority).unwrap_or_default();
    let named = |scheme: &str| Url::parse(&format!("{scheme}://{host}")).map(|url| url.origin());
    ["http", "https"].into_iter().any(|scheme| named(scheme).is_ok_and(|named| named == origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(said: &[(&str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            let name: salvo::http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        is_ours(&headers, None, "https://f.example")
    }

    #[test]
    fn what_another_site_sends_is_not_ours() {
        for ours in [
            &[][..],
            &[("origin", "https://f.example")],
            &[("origin", "null"), ("sec-fetch-site", "same-origin")],
            &[("origin", "http://localhost:8080"), ("host", "localhost:8080")],
            &[("sec-fetch-site", "none")],
        ] {
            assert!(judged(ours), "{ours:?}");
        }
        for foreign in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "https://f.example.evil.example")],
            &[("origin", "http://f.example")],
            &[("origin", "https://f.example:8443")],
            &[("origin", "nonsense")],
            &[("origin", "null"), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "https://evil.example"), ("host", "f.example")],
        ] {
            assert!(!judged(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn only_the_doors_of_programs_are_left_out() {
        assert!(is_for_programs("/api/v1/posts") && is_for_programs("/mcp"));
        for page in ["/login", "/api/oauth/authorize", "/dashboard/posts/new", "/drop/x", "/mcpx"] {
            assert!(!is_for_programs(page), "{page}");
        }
    }
}
