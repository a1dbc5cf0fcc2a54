//! An authorized request, as its handler sees it.

use std::{collections::HashMap, str::FromStr};

use fanfare_core::{
    AccountId, Act, BrandId, Code, ConnectSessionId, Error, PostId, PostSetId, Result,
    SuggestionId, WebhookId,
    error::{Violations, excerpt},
    input::strict,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::progress::Progress;

/// An authorized request.
#[derive(Clone)]
pub struct Call {
    /// The caller and the workspace.
    pub act: Act,
    /// The `Idempotency-Key`, for handlers that apply it to each item separately.
    pub idempotency_key: Option<String>,
    /// Reports the progress of the call.
    pub progress: Progress,
    pub(crate) path: HashMap<String, String>,
    pub(crate) query: Value,
    pub(crate) body: Value,
}

impl Call {
    /// Returns the body; unknown fields are errors.
    ///
    /// # Errors
    /// All its violations.
    pub fn body<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.body.take())
    }

    /// Returns the valid parts of the body and the violations of the rest, so that one reply can name all of them.
    ///
    /// # Errors
    /// All violations, if no part is valid.
    pub fn readable_body<T: DeserializeOwned + JsonSchema + 'static>(
        &mut self,
    ) -> Result<(T, Violations)> {
        strict::read_partial(self.body.take())
    }

    /// Returns the query; unknown parameters are errors.
    ///
    /// # Errors
    /// All its violations.
    pub fn query<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.query.take())
    }

    /// Returns a parameter of the path, decoded; empty if there is none of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the post in the path.
    ///
    /// # Errors
    /// [`Code::PostNotFound`] if it is not a number.
    pub fn post(&self) -> Result<PostId> {
        self.id(Code::PostNotFound).map(PostId)
    }

    /// Returns the post set in the path.
    ///
    /// # Errors
    /// [`Code::PostSetNotFound`] if it is not a UUID.
    pub fn post_set(&self) -> Result<PostSetId> {
        self.id(Code::PostSetNotFound).map(PostSetId)
    }

    /// Returns the account in the path.
    ///
    /// # Errors
    /// [`Code::AccountNotFound`] if it is not a number.
    pub fn account(&self) -> Result<AccountId> {
        self.id(Code::AccountNotFound).map(AccountId)
    }

    /// Returns the webhook in the path.
    ///
    /// # Errors
    /// [`Code::WebhookNotFound`] if it is not a UUID.
    pub fn webhook(&self) -> Result<WebhookId> {
        self.id(Code::WebhookNotFound).map(WebhookId)
    }

    /// Returns the connect session in the path.
    ///
    /// # Errors
    /// [`Code::ConnectSessionNotFound`] if it is not a UUID.
    pub fn connect_session(&self) -> Result<ConnectSessionId> {
        self.id(Code::ConnectSessionNotFound).map(ConnectSessionId)
    }

    /// Returns the brand in the path.
    ///
    /// # Errors
    /// [`Code::BrandNotFound`] if it is not a UUID.
    pub fn brand(&self) -> Result<BrandId> {
        self.id(Code::BrandNotFound).map(BrandId)
    }

    /// Returns the video job in the path.
    ///
    /// # Errors
    /// [`Code::JobNotFound`] if it is not a UUID.
    pub fn video_job(&self) -> Result<Uuid> {
        self.id(Code::JobNotFound)
    }

    /// Returns the media file in the path.
    ///
    /// # Errors
    /// [`Code::MediaNotFound`] if it is not a UUID.
    pub fn media(&self) -> Result<Uuid> {
        self.id(Code::MediaNotFound)
    }

    /// Returns the suggestion in the path.
    ///
    /// # Errors
    /// [`Code::SuggestionNotFound`] if it is not a UUID.
    pub fn suggestion(&self) -> Result<SuggestionId> {
        self.id(Code::SuggestionNotFound).map(SuggestionId)
    }

    /// Returns the webhook delivery in the path.
    ///
    /// # Errors
    /// [`Code::DeliveryNotFound`] if it is not a UUID.
    pub fn delivery(&self) -> Result<Uuid> {
        parse(self.path("delivery_id"), Code::DeliveryNotFound)
    }

    /// Returns the platform in the path.
    ///
    /// # Errors
    /// [`Code::PlatformNotFound`].
    pub fn platform<T: FromStr>(&self) -> Result<T> {
        let name = self.path("platform");
        let missing = || format!("There is no platform called {:?}.", excerpt(name));
        name.parse().map_err(|_| Error::new(Code::PlatformNotFound, missing()))
    }

    fn id<T: FromStr>(&self, absent: Code) -> Result<T> {
        parse(self.path("id"), absent)
    }
}

/// Parses an id. A malformed id gives the same error as an unknown one.
pub(crate) fn parse<T: FromStr>(text: &str, absent: Code) -> Result<T> {
    text.parse().map_err(|_| Error::new(absent, absent.entry().cause))
}
