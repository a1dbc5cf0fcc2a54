//! Detects whether a request used a new connection or one that had been used before.

use std::cell::Cell;

use tower::util::MapRequestLayer;

tokio::task_local! {
    static OPENED: Cell<bool>;
}

/// Runs `sending` and also returns whether a connection was opened meanwhile. This is also true if a connection was
/// opened but an idle one was used in the end.
pub(crate) async fn watch<T>(sending: impl Future<Output = T>) -> (T, bool) {
    OPENED.scope(Cell::new(false), async { (sending.await, OPENED.with(Cell::get)) }).await
}

/// Returns a layer around the connector that records each call.
pub(crate) fn layer<T>() -> MapRequestLayer<fn(T) -> T> {
    MapRequestLayer::new(note::<T>)
}

fn note<T>(request: T) -> T {
    // A connection that is opened after its request has ended belongs to no request.
    let _ = OPENED.try_with(|opened| opened.set(true));
    request
}
