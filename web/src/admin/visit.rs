//! Requests of operators, and their responses.

use fanfare_core::{Code, Error, Result};
use fanfare_ops::ops::{Actor, sessions::OperatorSession};
use futures_util::future::BoxFuture;
use maud::Markup;

use crate::browser::visit;
pub use crate::browser::visit::parse;

/// A request of an operator.
pub type Visit = visit::Visit<OperatorSession>;

/// Renders the live part of a page.
pub type RenderPart = fn(Visit) -> BoxFuture<'static, Result<Markup>>;

/// The response of a page.
pub enum PageResponse {
    /// A page with a title.
    Page(&'static str, Markup),
    /// A page with an error about the request.
    Invalid(&'static str, Markup),
    /// A redirect.
    Redirect(String),
    /// End the session and redirect.
    LogOut(String),
    /// A stream of the live part of a page.
    Live(RenderPart),
}

impl Visit {
    /// Returns the operator who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}

/// Responds to unknown addresses.
pub async fn not_found(visit: Visit) -> Result<PageResponse> {
    let message = format!("There is no page /admin/{}.", visit.path("rest"));
    Err(Error::new(Code::NotFound, message))
}
