//! The sandbox as a standalone server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::conn::{Listener, TcpListener};
use salvo::{Router, Server, Service};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::root_handler::RootHandler;
use crate::{Error, Sandbox};

/// The time that requests in flight may take after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// A running server.
#[derive(Debug)]
pub struct RunningServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl RunningServer {
    /// Returns the address it listens on, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the server has stopped.
    pub async fn stopped(self) {
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the sandbox server ended badly");
        }
    }
}

impl Sandbox {
    /// Listens on `listen` (port 0 chooses a free one), sets that as the base address, and serves until `stop`.
    ///
    /// # Errors
    /// [`Error::Listen`] when it cannot listen on the address.
    pub async fn serve(
        self,
        listen: SocketAddr,
        stop: CancellationToken,
    ) -> Result<RunningServer, Error> {
        let refused = |reason: String| Error::Listen { address: listen, reason };
        let acceptor =
            TcpListener::new(listen).try_bind().await.map_err(|e| refused(e.to_string()))?;
        let address = acceptor.local_addr().map_err(|e| refused(e.to_string()))?;
        let base = Url::parse(&format!("http://{address}")).map_err(|e| refused(e.to_string()))?;
        self.set_base_url(&base);
        tokio::spawn(Arc::clone(&self.stripe).deliver());
        let server = Server::new(acceptor);
        let handle = server.handle();
        let closing = self.env.closing.clone();
        tokio::spawn(async move {
            stop.cancelled().await;
            closing.cancel();
            handle.stop_graceful(GRACE);
        });
        let task = tokio::spawn(async move {
            let router = Router::with_path("{**path}").goal(RootHandler(self));
            if let Err(error) = server.try_serve(Service::new(router)).await {
                tracing::error!(%error, "the sandbox server failed");
            }
        });
        Ok(RunningServer { address, task })
    }
}
