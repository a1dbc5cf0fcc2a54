//! Abilities that only some networks have, each behind a method of [`crate::Platform`] that returns `None` elsewhere.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{Result, Session, oauth::App};

/// Helper tools of a network: lists and look-ups that help users write a post.
#[async_trait]
pub trait Tools: Send + Sync {
    /// Runs one of the descriptor's tools, by its full name. Reads only.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Rejected`] for invalid input, or the network's error.
    async fn run(&self, session: &Session, tool: &str, input: &Map<String, Value>)
    -> Result<Value>;
}

/// Registration of apps on networks of many servers, each of which keeps its own list.
#[async_trait]
pub trait AppRegistration: Send + Sync {
    /// Registers this service with the account's own server, which `session.secrets` names.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidCredentials`] when it is not a server of this network, [`crate::ErrorKind::Unreachable`] when
    /// it does not answer.
    async fn register(&self, session: &Session, redirect_uri: &str) -> Result<App>;
}

/// Public facts about an account that change on the network's side, such as the limits of its server.
#[async_trait]
pub trait AccountFacts: Send + Sync {
    /// Reads the facts. They are stored in the account's `meta`, where [`crate::Platform::spec_of`] finds them, and
    /// read again once a day.
    ///
    /// # Errors
    /// Any error leaves the facts as they were.
    async fn read(&self, session: &Session) -> Result<Map<String, Value>>;

    /// Returns false while a fact is missing that should not wait for the next day, in the account's `meta`.
    fn are_known(&self, meta: &Map<String, Value>) -> bool {
        let _ = meta;
        true
    }
}
