//! A request of an operator who is logged in, and what it is answered with.

use std::{collections::HashMap, str::FromStr};

use fanfare_domain::{
    Code, Domain, Error, Result,
    ops::{Actor, sessions::Session},
};
use maud::Markup;

use crate::query::Pairs;

/// A request of an operator.
#[derive(Clone)]
pub struct Visit {
    /// The rules' context.
    pub cx: Domain,
    /// Whose log-in it is.
    pub session: Session,
    /// The token of the log-in, as the cookie has it.
    pub token: secrecy::SecretString,
    /// For logs and the audit log.
    pub request_id: String,
    /// Parameters of the path.
    pub path: HashMap<String, String>,
    /// Parameters of the query.
    pub query: Pairs,
    /// Fields of the form.
    pub form: Pairs,
}

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
    /// A parameter of the path; empty if there is none.
    #[must_use]
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A parameter of the query that was filled in.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        first(&self.query, name)
    }

    /// A field of the form that was filled in.
    #[must_use]
    pub fn form(&self, name: &str) -> Option<&str> {
        first(&self.form, name)
    }

    /// A parameter of the query as a number or an id.
    ///
    /// # Errors
    /// [`Code::InvalidField`].
    pub fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>> {
        self.query(name).map(|text| parse(name, text)).transpose()
    }

    /// Who acts.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.session.email.clone(), request_id: self.request_id.clone() }
    }
}

fn first<'a>(pairs: &'a Pairs, name: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// A value as a number or an id.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn parse<T: FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| {
        let message = format!("{text:?} is no {name}.");
        Error::field(Code::InvalidField, name, message, "Correct it, or leave it empty.")
    })
}
