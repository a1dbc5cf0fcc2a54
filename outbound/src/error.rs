//! Errors of requests, which tell whether the server may have acted on the request.

use std::{error::Error as StdError, io};

use url::Url;

use crate::resolver::NoPublicAddress;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be built because a header or the address is not valid.
    Invalid,
    /// The target address is not allowed.
    Blocked,
    /// The server cannot have received the whole request: name resolution, the connection or TLS failed, or the
    /// connection
    /// was lost before the end of the body.
    NotSent,
    /// The whole request may have arrived, but no complete response came back.
    Lost,
    /// The response is larger than the caller allows.
    TooLarge,
    /// The response is not the expected JSON.
    InvalidJson,
}

/// The error of a failed request. Contains at most the host, because a path or a query may contain a token.
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

    /// Creates the error of a request that failed with `cause`. `withdrawn` is true if the end of the request was never
    /// handed to the connection.
    pub(crate) fn from_transport(url: &Url, withdrawn: bool, cause: &reqwest::Error) -> Self {
        let root = root_cause(cause);
        if let Some(refused) = root.downcast_ref::<NoPublicAddress>() {
            return Self::blocked(url, refused.to_string());
        }
        let kind = match (cause.is_builder(), withdrawn) {
            (true, _) => ErrorKind::Invalid,
            (false, true) => ErrorKind::NotSent,
            (false, false) => ErrorKind::Lost,
        };
        Self::new(kind, url, root_cause_text(cause))
    }

    /// Creates the error of a client that could not be created.
    pub(crate) fn from_setup(cause: &(dyn StdError + 'static)) -> Self {
        let host = "any host".to_owned();
        Self { kind: ErrorKind::Invalid, host, cause: root_cause(cause).to_string() }
    }

    /// Returns true if the server may have acted, because the whole request may have reached it.
    #[must_use]
    pub fn maybe_sent(&self) -> bool {
        match self.kind {
            ErrorKind::Invalid | ErrorKind::Blocked | ErrorKind::NotSent => false,
            ErrorKind::Lost | ErrorKind::TooLarge | ErrorKind::InvalidJson => true,
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
            ErrorKind::InvalidJson => format!("The answer of {host} cannot be read: {cause}."),
        }
    }
}

/// Returns true if an open connection was closed before a response arrived.
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

/// Returns the reason that a response failed, without the address that the HTTP library adds.
pub(crate) fn root_cause_text(cause: &reqwest::Error) -> String {
    if cause.is_timeout() && cause.is_connect() {
        return "no connection in time".to_owned();
    }
    match cause.source() {
        Some(_) => root_cause(cause).to_string(),
        // The text of the library ends with the address.
        None => "the HTTP library refused it".to_owned(),
    }
}

fn root_cause<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}
