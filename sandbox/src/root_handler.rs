//! The root handler: decides by host name what a request may access, and routes it by its path.
//!
//! Paths are compared as sent, not decoded or normalized, so each path has exactly one spelling.

use percent_encoding::percent_decode_str;
use salvo::http::header::HOST;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};
use url::{Host, Url};

use crate::call::Call;
use crate::reply::Reply;
use crate::{Sandbox, ai, control, page, stripe};

/// Headers that proxies add.
const PROXIED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/// The parts of the simulator that a request may access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestAccess {
    /// The control API and the networks' APIs.
    pub programs: bool,
    /// Pages for people.
    pub pages: bool,
}

/// The handler of all requests.
pub(crate) struct RootHandler(pub Sandbox);

#[async_trait]
impl Handler for RootHandler {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let Some(reach) = self.access_of(req) else {
            return Reply::raw(421, "The simulator is not known by this name.".into()).write(res);
        };
        let path = req.uri().path().to_owned();
        let path = path.strip_prefix('/').unwrap_or_default();
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        if first == control::NAME {
            return control::serve(&self.0, req, rest, reach).await.write(res);
        }
        if first == stripe::NAME {
            let reply = self.0.stripe.serve(req, rest, reach, &self.0.secret).await;
            return reply.write(res);
        }
        if first == ai::NAME {
            let way = (reach, ctrl.conn());
            return self.0.ai.serve(req, rest, way, &self.0.secret, res).await;
        }
        let (network, below) = rest.split_once('/').unwrap_or((rest, ""));
        if network.is_empty() && below.is_empty() {
            return self.realm_page(first, reach).write(res);
        }
        let Some(network) = self.0.realms.find(first, network) else {
            return page::no_such_page().write(res);
        };
        let below = percent_decode_str(below).decode_utf8_lossy();
        let below = below.trim_start_matches('/').to_owned();
        network.serve(NetworkRequest { req, path: below, access: reach }, ctrl.conn(), res).await;
    }
}

/// A request to a network, with its path relative to the network's root.
pub(crate) struct NetworkRequest<'a> {
    pub req: &'a mut Request,
    pub path: String,
    pub access: RequestAccess,
}

impl NetworkRequest<'_> {
    /// Reads the request, with a body of at most `most` bytes.
    pub async fn read(self, most: usize) -> Result<Call, crate::call::ReadError> {
        Call::read(self.req, self.path, most).await
    }
}

impl RootHandler {
    /// Returns what a request may access, by its host name. A loopback name allows everything; the operator's name for
    /// pages, or a proxy, allows only pages. Any other name is refused, because it may be a DNS rebinding attack by a
    /// page in somebody's browser.
    fn access_of(&self, req: &Request) -> Option<RequestAccess> {
        let host = req.headers().get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| req.uri().authority().map(|authority| authority.as_str()))?;
        let named = Url::parse(&format!("http://{host}")).ok()?;
        let is = |url: &str| Url::parse(url).is_ok_and(|url| authority(&url) == authority(&named));
        let (base, pages) = (self.0.env.base(), self.0.env.pages());
        let is_here = match named.host()? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.to_canonical().is_loopback(),
        };
        let is_proxied = PROXIED.iter().any(|name| req.headers().contains_key(*name));
        let reach = RequestAccess {
            programs: (is_here || is(&base)) && !is_proxied,
            pages: is_here || is(&pages),
        };
        (reach.programs || reach.pages).then_some(reach)
    }

    fn realm_page(&self, realm: &str, reach: RequestAccess) -> Reply {
        let networks = self.0.realms.networks(realm);
        if networks.is_empty() || !reach.pages {
            return page::no_such_page();
        }
        page::realm(&self.0.env.pages(), realm, &networks)
    }
}

/// Returns the host and port; the default ports of HTTP and HTTPS count as none.
fn authority(url: &Url) -> (Option<&str>, Option<u16>) {
    (url.host_str(), url.port().filter(|port| !matches!(port, 80 | 443)))
}
