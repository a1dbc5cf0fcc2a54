//! A request of an operator, and what it is answered with.

use fanfare_domain::ops::{Actor, sessions::Session};
use maud::Markup;

use crate::browser::visit;
pub use crate::browser::visit::parse;

/// A request of an operator.
pub type Visit = visit::Visit<Session>;

/// What a page answers.
pub enum Answer {
    /// A page with this title.
    Page(&'static str, Markup),
    /// Go there.
    See(String),
    /// Go there, without a log-in from now on.
    Leave(String),
    /// The page of this name again and again, as it changes.
    Live(super::live::Part),
}

impl Visit {
    /// Who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}
