//! Serves HTTP on a socket.

use std::{io, time::Duration};

use salvo::{Server, Service, conn::tcp::TcpAcceptor, fuse::FuseConfig};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections::Connections;

/// The time that running requests may take after shutdown begins.
const GRACE: Duration = Duration::from_secs(10);

/// The longest pause between two chunks of a request's body.
const BODY_PAUSE: Duration = Duration::from_secs(30);

/// Serves until `stop`, then accepts no new requests and gives running ones ten seconds.
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
