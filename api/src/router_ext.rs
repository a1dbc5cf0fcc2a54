//! Routes that answer GET also answer HEAD, as section 9.3.2 of RFC 9110 requires.

use salvo::{Handler, Router};

/// Adds [`RouterExt::get_and_head`] to the router.
pub trait RouterExt {
    /// Answers GET and HEAD with this handler; the connection omits the body of HEAD replies.
    fn get_and_head(self, handler: impl Handler) -> Self;
}

impl RouterExt for Router {
    fn get_and_head(self, handler: impl Handler) -> Self {
        let handler = handler.arc();
        self.get(handler.clone()).head(handler)
    }
}
