//! Requests of logged-in visitors.

use std::{
    collections::HashMap,
    str::FromStr,
    sync::{Arc, OnceLock},
};

use fanfare_api::query::Pairs;
use fanfare_core::{Code, Domain, Error, Result, WorkspaceId, error::excerpt};

/// A request of a logged-in visitor, with a session of type `S`.
#[derive(Clone)]
pub struct Visit<S> {
    /// The domain.
    pub cx: Domain,
    /// The session.
    pub session: S,
    /// The session token from the cookie.
    pub token: secrecy::SecretString,
    /// The id of the request.
    pub request_id: String,
    /// Parameters of the path.
    pub path: HashMap<String, String>,
    /// Parameters of the query.
    pub query: Pairs,
    /// Fields of the form.
    pub form: Pairs,
    /// True if a person navigates to the page: it is neither a prefetch nor a part of another page.
    pub is_document: bool,
    /// True unless the browser says that a page of another site led here.
    pub is_from_here: bool,
    /// The path of the page, with `{parameters}`.
    pub route: &'static str,
    /// The workspace that was last chosen in this browser, not checked yet.
    pub workspace: Option<WorkspaceId>,
    /// The time zone of the page, once its workspace is known.
    pub zone: Arc<OnceLock<String>>,
}

impl<S> Visit<S> {
    /// Has the page show its times in this zone.
    pub fn show_zone(&self, zone: &str) {
        self.zone.get_or_init(|| zone.to_owned());
    }

    /// Returns the one time zone in which the page shows and takes times.
    #[must_use]
    pub fn zone(&self) -> &str {
        self.zone.get().map_or("UTC", String::as_str)
    }

    /// Returns the address of the page or form: its path, without a query.
    #[must_use]
    pub fn address(&self) -> String {
        self.path.iter().fold(self.route.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value)
        })
    }

    /// Returns a parameter of the path; empty if there is none.
    #[must_use]
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns a parameter of the query, if it is not empty.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        first(&self.query, name)
    }

    /// Returns a field of the form, if it is not empty.
    #[must_use]
    pub fn form(&self, name: &str) -> Option<&str> {
        first(&self.form, name)
    }

    /// Parses a parameter of the query as a number or an id.
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

/// Parses a value as a number or an id.
///
/// # Errors
/// [`Code::InvalidField`].
pub fn parse<T: FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| {
        let message = format!("{:?} is not a valid value of {name}.", excerpt(text));
        Error::field(Code::InvalidField, name, message, "Go back and correct it.")
    })
}
