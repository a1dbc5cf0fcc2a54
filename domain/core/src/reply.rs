//! Successful replies: a view, serialized once.

use std::{fmt, marker::PhantomData};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    error::{Error, Result},
    offload::offload,
};

/// A reply whose body is a `T`, which the OpenAPI document describes. `Reply` without a parameter has a body of any
/// type.
pub struct Reply<T = ()> {
    /// HTTP status.
    pub status: u16,
    /// True if it contains a secret and must be stored encrypted for replay.
    pub secret: bool,
    /// True if it is the stored reply of an earlier request.
    pub replayed: bool,
    /// True if the request changed something: only such replies are stored under an `Idempotency-Key`.
    pub changed: bool,
    /// The seconds after which to ask again, for replies that change.
    pub poll_after: Option<u64>,
    body: String,
    view: PhantomData<fn() -> T>,
}

impl<T: Serialize> Reply<T> {
    /// Creates a reply with status 200 and this body.
    pub fn ok(view: &T) -> Self {
        // Views have text keys and only values that JSON has, so they can always be serialized.
        Self::from_json(serde_json::to_string(view).unwrap_or_default())
    }

    /// Creates a reply with status 200 and a body of about this many bytes, which is made on a blocking thread if it is
    /// large.
    ///
    /// # Errors
    /// `make` panicked.
    pub async fn large(bytes: usize, make: impl FnOnce() -> T + Send + 'static) -> Result<Self>
    where
        T: 'static,
    {
        offload(bytes, move || Self::ok(&make())).await
    }
}

impl<T: DeserializeOwned> Reply<T> {
    /// Reads the view that the body was made of.
    ///
    /// # Errors
    /// The body is not a `T`.
    pub fn view(&self) -> Result<T> {
        serde_json::from_str(&self.body).map_err(Error::internal)
    }
}

impl<T> Reply<T> {
    /// Creates a reply with status 200 from a body that is JSON text.
    #[must_use]
    pub const fn from_json(body: String) -> Self {
        Self {
            status: 200,
            secret: false,
            replayed: false,
            changed: true,
            poll_after: None,
            body,
            view: PhantomData,
        }
    }

    /// Sets the status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Marks the reply as containing a secret, so that it is stored encrypted.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Marks the reply to a request that changed nothing: a check, or a question.
    #[must_use]
    pub const fn unchanged(mut self) -> Self {
        self.changed = false;
        self
    }

    /// Returns the JSON text of the body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Consumes the reply and returns the JSON text of its body.
    #[must_use]
    pub fn into_body(self) -> String {
        self.body
    }

    /// Changes the type of the reply. The caller must know that the body has this type.
    #[must_use]
    pub fn cast<U>(self) -> Reply<U> {
        let Self { status, secret, replayed, changed, poll_after, body, view: _ } = self;
        Reply { status, secret, replayed, changed, poll_after, body, view: PhantomData }
    }
}

impl<T> Clone for Reply<T> {
    fn clone(&self) -> Self {
        let Self { status, secret, replayed, changed, poll_after, body, view } = self;
        Self {
            status: *status,
            secret: *secret,
            replayed: *replayed,
            changed: *changed,
            poll_after: *poll_after,
            body: body.clone(),
            view: *view,
        }
    }
}

/// Leaves out the body, which may contain a secret.
impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The reply after a deletion.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    /// Always true.
    deleted: bool,
    /// The id of the deleted object.
    id: DeletedId,
}

/// An id: a number, a UUID or a text, depending on what was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum DeletedId {
    Number(i64),
    Uuid(uuid::Uuid),
    Text(String),
}

impl Deleted {
    /// The deletion of an object with a number as its id.
    #[must_use]
    pub const fn number(id: i64) -> Self {
        Self { deleted: true, id: DeletedId::Number(id) }
    }

    /// The deletion of an object with a UUID as its id.
    #[must_use]
    pub const fn uuid(id: uuid::Uuid) -> Self {
        Self { deleted: true, id: DeletedId::Uuid(id) }
    }

    /// The deletion of an object with a text as its id.
    #[must_use]
    pub fn text(id: &str) -> Self {
        Self { deleted: true, id: DeletedId::Text(id.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_and_never_shown_by_debug() {
        let reply = Reply::ok(&Deleted::number(7));
        assert_eq!(reply.body(), r#"{"deleted":true,"id":7}"#);
        let secret: Reply<String> = Reply::ok(&"hush".to_owned()).secret();
        assert!(!format!("{secret:?}").contains("hush"));
    }
}
