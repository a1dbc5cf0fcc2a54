//! True if a request went over a connection that was opened for it, or over one that had been used before.

use std::cell::Cell;

use tower::util::MapRequestLayer;

tokio::task_local! {
    static OPENED: Cell<bool>;
}

/// Runs the sending of one request; says besides whether a connection was opened meanwhile. Where one is opened although
/// an older one is taken in the end, it says so too.
pub(crate) async fn watched<T>(sending: impl Future<Output = T>) -> (T, bool) {
    OPENED.scope(Cell::new(false), async { (sending.await, OPENED.with(Cell::get)) }).await
}

/// Lies around the connector and notes that it is asked.
pub(crate) fn layer<T>() -> MapRequestLayer<fn(T) -> T> {
    MapRequestLayer::new(note::<T>)
}

fn note<T>(request: T) -> T {
    // A connection that is opened after its request has gone belongs to nobody.
    let _ = OPENED.try_with(|opened| opened.set(true));
    request
}
