//! For whoever watches over the process: is it alive, and can it work?

use fanfare_domain::{Code, Domain, Error, Reply, health};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use serde_json::json;

use crate::{middleware::request::Seen, reply, request_id};

/// `GET /healthz`: the process answers.
pub struct Alive;

/// `GET /readyz`: checks the database, the queue and the scheduler.
pub struct Ready(pub Domain);

#[async_trait]
impl Handler for Alive {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        Seen::route(req, "/healthz");
        reply::write(res, Reply::ok(json!({"status": "ok"})), "", "");
    }
}

#[async_trait]
impl Handler for Ready {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        Seen::route(req, "/readyz");
        let troubles = health::troubles(&self.0).await;
        let answer = if troubles.is_empty() {
            Reply::ok(json!({"status": "ready"}))
        } else {
            let message = format!("Not ready: {}", troubles.join(" "));
            let error = Error::new(Code::Unavailable, message).with("reasons", troubles);
            reply::refusal(&error.retry_after(1))
        };
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}
