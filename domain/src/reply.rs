//! Answers of success: a view, written as JSON text once.

use std::{fmt, marker::PhantomData};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{beside::beside, error::Result};

/// An answer whose body is a `T`, which the OpenAPI document describes. `Reply` alone is one of any type.
pub struct Reply<T = ()> {
    /// HTTP status.
    pub status: u16,
    /// It holds a secret and is kept for replay only encrypted.
    pub secret: bool,
    /// It is the stored answer of an earlier request.
    pub replayed: bool,
    /// The time at which it is worth asking again, in seconds; for answers that change.
    pub poll_after: Option<u64>,
    body: String,
    view: PhantomData<fn() -> T>,
}

impl<T: Serialize> Reply<T> {
    /// 200 with this body.
    pub fn ok(view: &T) -> Self {
        // Views have text keys and no values that JSON lacks, so they can always be written.
        Self::written(serde_json::to_string(view).unwrap_or_default())
    }

    /// The same for a body of about so many bytes, which is made beside the runtime's threads if it is large.
    ///
    /// # Errors
    /// Making it panicked.
    pub async fn large(bytes: usize, make: impl FnOnce() -> T + Send + 'static) -> Result<Self>
    where
        T: 'static,
    {
        beside(bytes, move || Self::ok(&make())).await
    }
}

impl<T> Reply<T> {
    /// 200 with a body that is JSON text already.
    #[must_use]
    pub const fn written(body: String) -> Self {
        Self {
            status: 200,
            secret: false,
            replayed: false,
            poll_after: None,
            body,
            view: PhantomData,
        }
    }

    /// The same with another status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same, to be kept only encrypted.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The JSON text of the body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Takes the JSON text of the body.
    #[must_use]
    pub fn into_body(self) -> String {
        self.body
    }

    /// The same as a reply of another type, for whoever knows that the body is one.
    #[must_use]
    pub fn cast<U>(self) -> Reply<U> {
        let Self { status, secret, replayed, poll_after, body, view: _ } = self;
        Reply { status, secret, replayed, poll_after, body, view: PhantomData }
    }
}

impl<T> Clone for Reply<T> {
    fn clone(&self) -> Self {
        let Self { status, secret, replayed, poll_after, body, view } = self;
        Self {
            status: *status,
            secret: *secret,
            replayed: *replayed,
            poll_after: *poll_after,
            body: body.clone(),
            view: *view,
        }
    }
}

/// The body is not shown: it may hold a secret.
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
    /// Id of what was deleted.
    id: DeletedId,
}

/// An id: a number, a UUID or a text, by what was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum DeletedId {
    Number(i64),
    Uuid(uuid::Uuid),
    Text(String),
}

impl Deleted {
    /// Something with a number.
    #[must_use]
    pub const fn number(id: i64) -> Self {
        Self { deleted: true, id: DeletedId::Number(id) }
    }

    /// Something with a UUID.
    #[must_use]
    pub const fn uuid(id: uuid::Uuid) -> Self {
        Self { deleted: true, id: DeletedId::Uuid(id) }
    }

    /// Something with another kind of id.
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
