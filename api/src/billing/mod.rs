//! The operations on subscriptions and credits, and Stripe's webhook at `POST /api/stripe/webhook`.

pub mod credits;
pub mod subscription;

use fanfare_core::{Code, Domain, Error, Reply, Result};
use fanfare_people::billing::events;
use salvo::{Depot, FlowCtrl, Handler, Request, Response, Router, async_trait};
use serde_json::json;

use crate::{middleware::request::LogFields, reply, request_id};

/// The largest event, in bytes.
const LARGEST: usize = 1 << 20;

/// Its route in logs.
const ROUTE: &str = "/api/stripe/webhook";

/// Returns the router of the webhook.
pub fn router(domain: &Domain) -> Router {
    Router::with_path(ROUTE.trim_start_matches('/')).post(Webhook(domain.clone()))
}

struct Webhook(Domain);

#[async_trait]
impl Handler for Webhook {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, ROUTE);
        let answer = match self.take(req).await {
            Ok(()) => Reply::ok(&json!({"received": true})).cast(),
            Err(error) => reply::refusal(&error),
        };
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}

impl Webhook {
    async fn take(&self, req: &mut Request) -> Result<()> {
        let signature = req.headers().get("stripe-signature").and_then(|value| value.to_str().ok());
        let signature = signature.unwrap_or_default().to_owned();
        let body = req.payload_with_max_size(LARGEST).await.map_err(|_| {
            Error::new(Code::PayloadTooLarge, "The event is larger than 1 MiB, or was cut off.")
        })?;
        events::receive(&self.0, body, &signature).await
    }
}
