//! Health checks: liveness and readiness.

use fanfare_core::{Code, Domain, Error, RefusalDetails, Reply};
use fanfare_ops::health::{self, Problems};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{middleware::request::LogFields, reply, request_id};

/// The health of a process.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// `ok` or `ready`.
    status: &'static str,
    /// With `ready`: what does not work as it should, though this process can do its part; one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    degraded: Vec<String>,
}

/// `GET /healthz`: the process answers.
pub struct Alive;

/// `GET /readyz`: this process can do what it is for. Checks the database, the queue and the workers.
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
        reply::write(res, Reply::ok(&Health { status: "ok", degraded: Vec::new() }), "", "");
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
        let Problems { unready, degraded } = health::problems(&self.0).await;
        let answer = if unready.is_empty() {
            Reply::ok(&Health { status: "ready", degraded }).cast()
        } else {
            let message = format!("Not ready: {}", unready.join(" "));
            let error = Error::new(Code::Unavailable, message).with_details(RefusalDetails {
                reasons: Some(unready),
                ..RefusalDetails::default()
            });
            reply::refusal(&error.with_retry_after(1))
        };
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}
