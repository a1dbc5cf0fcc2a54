//! Requests of operators, and their responses.

use fanfare_domain::{
    Code, Error, Result,
    ops::{Actor, sessions::Session},
};
use futures_util::future::BoxFuture;
use maud::Markup;

use crate::browser::visit;
pub use crate::browser::visit::parse;

/// A request of an operator.
pub type Visit = visit::Visit<Session>;

/// Renders the live part of a page.
pub type Part = fn(Visit) -> BoxFuture<'static, Result<Markup>>;

/// The response of a page.
pub enum Answer {
    /// A page with a title.
    Page(&'static str, Markup),
    /// A page with an error about the request.
    Wrong(&'static str, Markup),
    /// A redirect.
    See(String),
    /// End the session and redirect.
    Leave(String),
    /// A stream of the live part of a page.
    Live(Part),
}

impl Visit {
    /// Returns the operator who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}

/// Responds to unknown addresses.
pub async fn nowhere(visit: Visit) -> Result<Answer> {
    let message = format!("There is no page /admin/{}.", visit.path("rest"));
    Err(Error::new(Code::NotFound, message))
}
