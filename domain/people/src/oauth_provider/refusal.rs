//! Errors of the OAuth protocol.

use fanfare_core::error::Error;
use sea_orm::DbErr;

/// The error codes of RFC 6749, 7591, 8707 and OpenID Connect that are in use here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the code of the same name")]
pub enum OauthError {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidScope,
    InvalidTarget,
    AccessDenied,
    InteractionRequired,
    InvalidRedirectUri,
    InvalidClientMetadata,
}

impl OauthError {
    /// Returns its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::InteractionRequired => "interaction_required",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
        }
    }

    /// Returns the HTTP status of a reply to the client itself.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            _ => 400,
        }
    }
}

/// The fault of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthFlaw {
    /// Its kind.
    pub error: OauthError,
    /// The parameter it is about.
    pub parameter: &'static str,
    /// A sentence for developers: what is wrong, and what to send.
    pub description: String,
}

impl OauthFlaw {
    pub(super) fn new(
        error: OauthError,
        parameter: &'static str,
        description: impl Into<String>,
    ) -> Self {
        Self { error, parameter, description: description.into() }
    }
}

/// The reason why a client's request is refused.
#[derive(Debug)]
pub enum OauthRefusal {
    /// The request is wrong, as an error of the protocol.
    Flaw(OauthFlaw),
    /// A limit is reached, or the service has an error.
    Service(Error),
}

/// The result of a request of a client.
pub type OauthResult<T> = std::result::Result<T, OauthRefusal>;

impl OauthRefusal {
    pub(super) fn new(
        error: OauthError,
        parameter: &'static str,
        description: impl Into<String>,
    ) -> Self {
        Self::Flaw(OauthFlaw::new(error, parameter, description))
    }
}

impl From<OauthFlaw> for OauthRefusal {
    fn from(flaw: OauthFlaw) -> Self {
        Self::Flaw(flaw)
    }
}

impl From<Error> for OauthRefusal {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<DbErr> for OauthRefusal {
    fn from(error: DbErr) -> Self {
        Self::Service(error.into())
    }
}
