//! Whatever answers GET answers HEAD, as RFC 9110 asks in section 9.3.2.

use salvo::{Handler, Router};

/// A router with handlers that change nothing.
pub(crate) trait Reads {
    /// Answers GET and HEAD; for HEAD the connection leaves the body away.
    fn reads(self, handler: impl Handler) -> Self;
}

impl Reads for Router {
    fn reads(self, handler: impl Handler) -> Self {
        let handler = handler.arc();
        self.get(handler.clone()).head(handler)
    }
}
