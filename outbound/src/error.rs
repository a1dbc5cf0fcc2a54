//! Errors of requests, and whether the server may have acted on the request.

use std::{error::Error as StdError, io};

use url::Url;

use crate::resolver::Refused;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be built: a header or an address that is not valid.
    Invalid,
    /// The guard refuses the target.
    Blocked,
    /// The server cannot have had the whole request: name resolution, connection or TLS failed, or it broke off before
    /// the end of the body.
    NotSent,
    /// The whole request may have arrived, and no complete answer came back.
    Lost,
    /// The answer is larger than the caller wants.
    TooLarge,
    /// The answer is not the JSON asked for.
    Nonsense,
}

/// A failed request. Names the host at most: a path or a query may hold a token.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Error {
    /// The kind of the failure.
    pub kind: ErrorKind,
    host: String,
    cause: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, url: &Url, cause: impl Into<String>) -> Self {
        let host = url.host_str().unwrap_or("the address").to_owned();
        Self { kind, host, cause: cause.into() }
    }

    pub(crate) fn blocked(url: &Url, cause: impl Into<String>) -> Self {
        Self::new(ErrorKind::Blocked, url, cause)
    }

    pub(crate) fn lost(url: &Url, cause: impl Into<String>) -> Self {
        Self::new(ErrorKind::Lost, url, cause)
    }

    /// The error for a request that `cause` ended. `withdrawn`: the end of the request never left our hands.
    pub(crate) fn from_transport(url: &Url, withdrawn: bool, cause: &reqwest::Error) -> Self {
        let root = root(cause);
        if let Some(refused) = root.downcast_ref::<Refused>() {
            return Self::blocked(url, refused.to_string());
        }
        let kind = match (cause.is_builder(), withdrawn) {
            (true, _) => ErrorKind::Invalid,
            (false, true) => ErrorKind::NotSent,
            (false, false) => ErrorKind::Lost,
        };
        Self::new(kind, url, root_text(cause))
    }

    /// The error for a client that could not be made at all.
    pub(crate) fn from_setup(cause: &reqwest::Error) -> Self {
        let host = "any host".to_owned();
        Self { kind: ErrorKind::Invalid, host, cause: root_text(cause) }
    }

    /// True when the server may have acted: the whole request may have reached it.
    #[must_use]
    pub fn maybe_sent(&self) -> bool {
        match self.kind {
            ErrorKind::Invalid | ErrorKind::Blocked | ErrorKind::NotSent => false,
            ErrorKind::Lost | ErrorKind::TooLarge | ErrorKind::Nonsense => true,
        }
    }

    fn sentence(&self) -> String {
        let Self { kind, host, cause } = self;
        match kind {
            ErrorKind::Invalid => format!("No request to {host} can be made: {cause}."),
            ErrorKind::Blocked => format!("{host} is not allowed as a target: {cause}."),
            ErrorKind::NotSent => format!("The request did not reach {host}: {cause}."),
            ErrorKind::Lost => format!("The answer of {host} was lost: {cause}."),
            ErrorKind::TooLarge => format!("The answer of {host} is larger than {cause}."),
            ErrorKind::Nonsense => format!("The answer of {host} cannot be read: {cause}."),
        }
    }
}

/// True if a connection that stood was closed before an answer came.
pub(crate) fn is_closed(cause: &reqwest::Error) -> bool {
    if cause.is_connect() || cause.is_timeout() || cause.is_builder() {
        return false;
    }
    let mut next = cause.source();
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message() || error.is_closed() || error.is_canceled())
        {
            return true;
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof
            );
        }
        next = error.source();
    }
    false
}

/// Returns the reason a response broke off, without the address that the HTTP library would print along.
pub(crate) fn root_text(cause: &reqwest::Error) -> String {
    if cause.is_timeout() && cause.is_connect() {
        return "no connection in time".to_owned();
    }
    match cause.source() {
        Some(_) => root(cause).to_string(),
        // The library's own sentence ends with the address.
        None => "the HTTP library refused it".to_owned(),
    }
}

fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}
