//! Health checks: liveness and readiness.

use fanfare_domain::{Code, Domain, Error, RefusalDetails, Reply, health};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{middleware::request::LogFields, reply, request_id};

/// The health of a process.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// `ok` or `ready`.
    status: &'static str,
}

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
        LogFields::set_route(req, "/healthz");
        reply::write(res, Reply::ok(&Health { status: "ok" }), "", "");
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
        LogFields::set_route(req, "/readyz");
        let troubles = health::problems(&self.0).await;
        let answer = if troubles.is_empty() {
            Reply::ok(&Health { status: "ready" }).cast()
        } else {
            let message = format!("Not ready: {}", troubles.join(" "));
            let error = Error::new(Code::Unavailable, message).with_details(RefusalDetails {
                reasons: Some(troubles),
                ..RefusalDetails::default()
            });
            reply::refusal(&error.with_retry_after(1))
        };
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}
