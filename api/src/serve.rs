//! The service on a socket.

use std::{io, time::Duration};

use salvo::{Server, Service, conn::tcp::TcpAcceptor, fuse::FuseConfig};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections::Connections;

/// The time requests that are running may take after a stop was asked for.
const GRACE: Duration = Duration::from_secs(10);

/// The longest pause between two pieces of a request's body.
const BODY_PAUSE: Duration = Duration::from_secs(30);

/// Serves until `stop`; then takes no new request and gives those that are running ten seconds.
///
/// # Errors
/// The socket cannot be used.
pub async fn serve(
    service: Service,
    listener: TcpListener,
    stop: CancellationToken,
) -> io::Result<()> {
    let fuse = FuseConfig::default().with_request_body_timeout(BODY_PAUSE);
    let connections = Connections::new(fuse);
    let service = service.hoop(connections.clone());
    let server = Server::new(TcpAcceptor::try_from(listener)?).fuse_policy(connections);
    let handle = server.handle();
    let mut serving = std::pin::pin!(server.try_serve(service));
    tokio::select! {
        ended = &mut serving => return ended,
        () = stop.cancelled() => handle.stop_graceful(GRACE),
    }
    serving.await
}
