//! The request of an operator, and its response.

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
    /// A page with this title.
    Page(&'static str, Markup),
    /// The same page, which says what is wrong with what was asked of it.
    Wrong(&'static str, Markup),
    /// Go there.
    See(String),
    /// Go there, without a log-in from now on.
    Leave(String),
    /// The page of this name again and again, as it changes.
    Live(Part),
}

impl Visit {
    /// Returns the operator who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}

/// Answers for addresses without a page.
pub async fn nowhere(visit: Visit) -> Result<Answer> {
    let message = format!("There is no page /admin/{}.", visit.path("rest"));
    Err(Error::new(Code::NotFound, message))
}
