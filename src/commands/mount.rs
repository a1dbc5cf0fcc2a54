//! The simulated networks inside this process, below `/sandbox`.

use fanfare_sandbox::Sandbox;
use salvo::{Depot, FlowCtrl, Handler, Request, Response, Router, async_trait, http::StatusCode};

/// The networks' router. What the networks themselves answer is open like a real network's; their control, which gives
/// out credentials, is for this machine alone.
pub fn router(networks: &Sandbox) -> Router {
    Router::with_path("sandbox").hoop(ControlFromHere).push(networks.router())
}

/// Hides `/_control/…` from callers elsewhere, also from those who come through a proxy on this machine.
struct ControlFromHere;

#[async_trait]
impl Handler for ControlFromHere {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let is_control = req.uri().path().contains("/_control");
        let is_here = req.remote_addr().ip().is_some_and(|ip| ip.to_canonical().is_loopback());
        let is_proxied = ["forwarded", "x-forwarded-for", "x-real-ip"]
            .iter()
            .any(|name| req.headers().contains_key(*name));
        if is_control && (!is_here || is_proxied) {
            res.status_code(StatusCode::NOT_FOUND);
            ctrl.skip_rest();
        }
    }
}
