//! Static pages, rendered once at startup.

use bytes::Bytes;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, ResBody,
        header::{
            ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
        },
    },
};

use crate::middleware::request::LogFields;

/// Pages load and run nothing: their style is inline, and their forms post to this service only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A static page.
#[derive(Debug, Clone)]
pub struct StaticPage {
    route: &'static str,
    content_type: &'static str,
    body: Bytes,
}

impl StaticPage {
    /// Returns an HTML page at `route`.
    #[must_use]
    pub fn html(route: &'static str, html: String) -> Self {
        Self { route, content_type: "text/html; charset=utf-8", body: html.into() }
    }

    /// Returns a Markdown page at `route`.
    #[must_use]
    pub fn markdown(route: &'static str, text: String) -> Self {
        Self { route, content_type: "text/markdown; charset=utf-8", body: text.into() }
    }

    /// Returns an Atom feed at `route`.
    #[must_use]
    pub fn feed(route: &'static str, xml: String) -> Self {
        Self { route, content_type: "application/atom+xml", body: xml.into() }
    }

    /// Returns a JSON document at `route`; scripts of any origin may read it.
    #[must_use]
    pub fn json(route: &'static str, json: String) -> Self {
        Self { route, content_type: "application/json", body: json.into() }
    }
}

#[async_trait]
impl Handler for StaticPage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, self.route);
        self.write(res);
    }
}

impl StaticPage {
    /// Writes the page into a response.
    pub fn write(&self, res: &mut Response) {
        let headers = res.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        if self.content_type == "application/json" {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        res.replace_body(ResBody::Once(self.body.clone()));
    }
}
