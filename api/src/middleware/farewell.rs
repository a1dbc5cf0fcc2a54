//! Asks callers to come by another connection, while this process is being stopped.

use fanfare_core::stopping::Stopping;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{HeaderValue, Version, header::CONNECTION},
};

/// Adds `Connection: close` to every reply of a process that is being stopped: a connection that is kept open would lead
/// the next request to a process that is gone.
pub struct Farewell(pub Stopping);

#[async_trait]
impl Handler for Farewell {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        ctrl.call_next(req, depot, res).await;
        // HTTP/2 has no such header; its connections are told when the listener closes.
        if self.0.begun.is_cancelled() && req.version() < Version::HTTP_2 {
            res.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}
