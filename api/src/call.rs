//! A request that was let in, as its handler sees it.

use std::{collections::HashMap, str::FromStr};

use fanfare_domain::{
    AccountId, Act, BrandId, Code, ConnectSessionId, Error, PostId, Result, SuggestionId,
    WebhookId,
    error::{Violations, excerpt},
    input::strict,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::progress::Progress;

/// A request that was let in.
#[derive(Clone)]
pub struct Call {
    /// The caller and the workspace.
    pub act: Act,
    /// The `Idempotency-Key`, for handlers that cover each item by itself.
    pub idempotency_key: Option<String>,
    /// Tells a caller who listens of the call's progress.
    pub progress: Progress,
    pub(crate) path: HashMap<String, String>,
    pub(crate) query: Value,
    pub(crate) body: Value,
}

impl Call {
    /// The body, read strictly.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn body<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.body.take())
    }

    /// Returns the readable parts of the body, and the violations of the rest, so that one reply names all of them.
    ///
    /// # Errors
    /// Everything that is wrong, if nothing can be read.
    pub fn readable_body<T: DeserializeOwned + JsonSchema + 'static>(
        &mut self,
    ) -> Result<(T, Violations)> {
        strict::read_rest(self.body.take())
    }

    /// The query, read strictly.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn query<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.query.take())
    }

    /// A parameter of the path, decoded; empty if the path has none of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The post in the path.
    ///
    /// # Errors
    /// [`Code::PostNotFound`] if it is no number.
    pub fn post(&self) -> Result<PostId> {
        self.id(Code::PostNotFound).map(PostId)
    }

    /// The account in the path.
    ///
    /// # Errors
    /// [`Code::AccountNotFound`] if it is no number.
    pub fn account(&self) -> Result<AccountId> {
        self.id(Code::AccountNotFound).map(AccountId)
    }

    /// The webhook in the path.
    ///
    /// # Errors
    /// [`Code::WebhookNotFound`] if it is no UUID.
    pub fn webhook(&self) -> Result<WebhookId> {
        self.id(Code::WebhookNotFound).map(WebhookId)
    }

    /// The connect session in the path.
    ///
    /// # Errors
    /// [`Code::ConnectSessionNotFound`] if it is no UUID.
    pub fn connect_session(&self) -> Result<ConnectSessionId> {
        self.id(Code::ConnectSessionNotFound).map(ConnectSessionId)
    }

    /// The brand in the path.
    ///
    /// # Errors
    /// [`Code::BrandNotFound`] if it is no UUID.
    pub fn brand(&self) -> Result<BrandId> {
        self.id(Code::BrandNotFound).map(BrandId)
    }

    /// The film in the path.
    ///
    /// # Errors
    /// [`Code::JobNotFound`] if it is no UUID.
    pub fn video_job(&self) -> Result<Uuid> {
        self.id(Code::JobNotFound)
    }

    /// The file in the path.
    ///
    /// # Errors
    /// [`Code::MediaNotFound`] if it is no UUID.
    pub fn media(&self) -> Result<Uuid> {
        self.id(Code::MediaNotFound)
    }

    /// The suggestion in the path.
    ///
    /// # Errors
    /// [`Code::SuggestionNotFound`] if it is no UUID.
    pub fn suggestion(&self) -> Result<SuggestionId> {
        self.id(Code::SuggestionNotFound).map(SuggestionId)
    }

    /// The delivery in the path.
    ///
    /// # Errors
    /// [`Code::DeliveryNotFound`] if it is no UUID.
    pub fn delivery(&self) -> Result<Uuid> {
        parse(self.path("delivery_id"), Code::DeliveryNotFound)
    }

    /// The platform in the path.
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

/// An id that cannot be one is answered like one that is not there.
pub(crate) fn parse<T: FromStr>(text: &str, absent: Code) -> Result<T> {
    text.parse().map_err(|_| Error::new(absent, absent.entry().cause))
}
