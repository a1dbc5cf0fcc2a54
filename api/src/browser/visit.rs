//! A request of somebody who is logged in.

use std::{collections::HashMap, str::FromStr};

use fanfare_domain::{Code, Domain, Error, Result, WorkspaceId, error::excerpt};

use crate::query::Pairs;

/// A request of somebody who is logged in; `S` says who.
#[derive(Clone)]
pub struct Visit<S> {
    /// The rules' context.
    pub cx: Domain,
    /// The session.
    pub session: S,
    /// The token of the log-in, as the cookie has it.
    pub token: secrecy::SecretString,
    /// The address of the client.
    pub address: String,
    /// For logs and what is written down.
    pub request_id: String,
    /// Parameters of the path.
    pub path: HashMap<String, String>,
    /// Parameters of the query.
    pub query: Pairs,
    /// Fields of the form.
    pub form: Pairs,
    /// A person looks at it: it is no prefetch, and no part of another page.
    pub is_document: bool,
    /// The path of the page, as the router writes it.
    pub route: &'static str,
    /// The workspace that was last chosen in this browser; nothing is checked yet.
    pub workspace: Option<WorkspaceId>,
}

impl<S> Visit<S> {
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
        let message = format!("{:?} is not a valid value of {name}.", excerpt(text));
        Error::field(Code::InvalidField, name, message, "Go back and correct it.")
    })
}
