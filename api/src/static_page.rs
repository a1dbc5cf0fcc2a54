//! Static pages, each rendered once.

use std::sync::{Arc, LazyLock};

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

/// A page that stays the same while the process runs. It is rendered when somebody first asks for it: most processes are
/// never asked for most pages.
#[derive(Clone)]
pub struct StaticPage {
    route: &'static str,
    content_type: &'static str,
    body: Arc<LazyLock<Bytes, Render>>,
}

/// The function that renders a page.
type Render = Box<dyn FnOnce() -> Bytes + Send>;

impl StaticPage {
    /// Returns an HTML page at `route`.
    #[must_use]
    pub fn html(route: &'static str, html: impl FnOnce() -> String + Send + 'static) -> Self {
        Self::new(route, "text/html; charset=utf-8", html)
    }

    /// Returns a Markdown page at `route`.
    #[must_use]
    pub fn markdown(route: &'static str, text: impl FnOnce() -> String + Send + 'static) -> Self {
        Self::new(route, "text/markdown; charset=utf-8", text)
    }

    /// Returns an Atom feed at `route`.
    #[must_use]
    pub fn feed(route: &'static str, xml: impl FnOnce() -> String + Send + 'static) -> Self {
        Self::new(route, "application/atom+xml", xml)
    }

    /// Returns a JSON document at `route`; scripts of any origin may read it.
    #[must_use]
    pub fn json(route: &'static str, json: impl FnOnce() -> String + Send + 'static) -> Self {
        Self::new(route, "application/json", json)
    }

    fn new(
        route: &'static str,
        content_type: &'static str,
        text: impl FnOnce() -> String + Send + 'static,
    ) -> Self {
        let render: Render = Box::new(|| text().into());
        Self { route, content_type, body: Arc::new(LazyLock::new(render)) }
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
        res.replace_body(ResBody::Once(Bytes::clone(&self.body)));
    }
}
