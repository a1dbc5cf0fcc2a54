//! Serves `GET /metrics` on an address of its own, since metrics are only for the operator.

use std::time::Duration;

use anyhow::{Context as _, Result};
use fanfare_core::Domain;
use fanfare_metrics::{MetricsHandle, record};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, Service, async_trait,
    http::{HeaderValue, header::CONTENT_TYPE},
};
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// The interval at which the database and the queue are probed.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// A probe that takes longer has failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Records and serves metrics until `stop`, if `FANFARE_METRICS_LISTEN` is set.
///
/// # Errors
/// The address cannot be listened on.
pub async fn start(
    config: &Config,
    role: &'static str,
    cx: &Domain,
    stop: CancellationToken,
) -> Result<()> {
    let Some(address) = config.metrics_listen else { return Ok(()) };
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("FANFARE_METRICS_LISTEN {address} cannot be listened on"))?;
    let recorded = fanfare_metrics::install()?;
    for platform in fanfare_platforms::all() {
        record::platform(platform.spec().id.as_str());
    }
    tracing::info!(address = %listener.local_addr()?, "metrics are served");
    let page = Router::with_path("metrics").get(MetricsPage(recorded.clone()));
    let alive = Router::with_path("healthz").get(Alive);
    let service = Service::new(Router::new().push(page).push(alive));
    let looking = probe(role, recorded, cx.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = looking => {}
            served = fanfare_api::serve(service, listener, stop) => {
                if let Err(error) = served {
                    tracing::error!(%error, "metrics are no longer served");
                }
            }
        }
    });
    Ok(())
}

/// Updates the gauges periodically.
async fn probe(role: &'static str, recorded: MetricsHandle, cx: Domain) {
    loop {
        record::info(env!("CARGO_PKG_VERSION"), role);
        let (database, queue) = tokio::join!(
            tokio::time::timeout(PROBE_TIMEOUT, cx.db.now()),
            tokio::time::timeout(PROBE_TIMEOUT, cx.queue.ping()),
        );
        record::reachable(matches!(database, Ok(Ok(_))), matches!(queue, Ok(Ok(()))));
        recorded.run_upkeep();
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
}

/// `GET /metrics`: the recorded metrics.
struct MetricsPage(MetricsHandle);

/// The health check of processes without an API.
struct Alive;

#[async_trait]
impl Handler for MetricsPage {
    async fn handle(
        &self,
        _req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        res.headers_mut().insert(CONTENT_TYPE, text);
        res.replace_body(self.0.render().into_bytes().into());
    }
}

#[async_trait]
impl Handler for Alive {
    async fn handle(
        &self,
        _req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        res.render("ok\n");
    }
}
