//! Webhooks of Meta's networks, at `/api/hooks/meta/{network}`.

use fanfare_conversations::inbox::inbound;
use fanfare_core::{Code, Domain, Error, PlatformId, Result};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, Router, async_trait, writing::Text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{middleware::request::LogFields, reply, request_id, router_ext::RouterExt as _};

/// The largest body, in bytes.
const LARGEST: usize = 1 << 20;

/// Its route in logs.
const ROUTE: &str = "/api/hooks/meta/{network}";

/// The networks.
const NETWORKS: [&str; 3] = ["facebook", "instagram", "threads"];

/// Returns the router.
pub fn router(domain: &Domain) -> Router {
    let path = ROUTE.trim_start_matches('/');
    Router::with_path(path)
        .get_and_head(VerifySubscription(domain.clone()))
        .post(ReceiveEvent(domain.clone()))
}

/// The body of a success.
#[derive(Serialize, JsonSchema)]
struct Received {
    received: bool,
}

struct VerifySubscription(Domain);

#[async_trait]
impl Handler for VerifySubscription {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, ROUTE);
        let query = |name: &str| req.query::<String>(name).unwrap_or_default();
        let (mode, token) = (query("hub.mode"), query("hub.verify_token"));
        let answer = network(req)
            .and_then(|_| inbound::challenge(&self.0, &mode, &token, &query("hub.challenge")));
        match answer {
            Ok(text) => res.render(Text::Plain(text)),
            Err(error) => {
                let refusal = reply::refusal(&error);
                reply::write(res, refusal, &request_id::get(req), &self.0.settings.base_url);
            }
        }
    }
}

struct ReceiveEvent(Domain);

#[async_trait]
impl Handler for ReceiveEvent {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, ROUTE);
        let answer = match self.take(req).await {
            Ok(()) => fanfare_core::Reply::ok(&Received { received: true }).cast(),
            Err(error) => reply::refusal(&error),
        };
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}

impl ReceiveEvent {
    async fn take(&self, req: &mut Request) -> Result<()> {
        let platform = network(req)?;
        let signature = req.headers().get("x-hub-signature-256");
        let signature = signature.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let signature = signature.to_owned();
        let body = req.payload_with_max_size(LARGEST).await.map_err(|_| {
            Error::new(Code::PayloadTooLarge, "The body is larger than 1 MiB, or was cut off.")
        })?;
        inbound::receive(&self.0, platform, body, &signature).await
    }
}

/// Returns the network in the path.
fn network(req: &Request) -> Result<PlatformId> {
    let name = req.param::<String>("network").unwrap_or_default();
    let known = NETWORKS.contains(&name.as_str());
    let platform = name.parse().ok().filter(|_| known);
    platform
        .ok_or_else(|| Error::new(Code::PlatformNotFound, "No such network sends webhooks here."))
}
