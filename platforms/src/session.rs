//! The context in which a connector calls its network.

use std::{collections::BTreeMap, fmt, sync::Arc};

use chrono::{DateTime, Utc};
use fanfare_outbound::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;

use crate::{
    Error, Result, Spec,
    oauth::{App, CLIENT_ID, CLIENT_SECRET},
    page::PictureShrinker,
    usage::UsageTracker,
    video_service::VideoService,
};

/// One account's access to its network, for the duration of one call.
#[derive(Debug, Clone)]
pub struct Session {
    /// The guarded client, which trusts this connector's configured origin if there is one.
    pub http: Client,
    /// Replaces the scheme, host and prefix of the network's addresses, including those in credentials. `None`: the
    /// real network.
    pub base: Option<Url>,
    /// True if `base` is a simulated network: its posts are visible only there.
    pub simulated: bool,
    /// The account to publish on; empty while its credentials are being verified.
    pub account: Account,
    /// The account's secrets.
    pub secrets: Secrets,
    /// The app that the operator has registered with the network, if there is one.
    pub app: Option<App>,
    /// Shrinks pictures of cards and covers; `None`: pictures that are too large are left out.
    pub picture_shrinker: Option<Arc<dyn PictureShrinker>>,
    /// The used part of the call quota, as the network reports it.
    pub usage: UsageTracker,
    /// The service that videos are sent to, where a network has one apart.
    pub video_service: VideoService,
    /// The time of the call, from the caller's clock.
    pub now: DateTime<Utc>,
}

impl Session {
    /// Returns the app to authenticate as: the one registered with the account's own server, else the operator's.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Misconfigured`] when there is neither.
    pub fn app(&self) -> Result<App> {
        if let Some(client_id) = self.secrets.get(CLIENT_ID) {
            let client_id = client_id.expose_secret().to_owned();
            let client_secret = self.secrets.get(CLIENT_SECRET).cloned().unwrap_or_default();
            return Ok(App { client_id, client_secret });
        }
        self.app.clone().ok_or_else(|| {
            Error::misconfigured("This service has no app registered with the platform.")
        })
    }

    /// Returns a session whose reads say what is there now, and not what a cache has kept. `spec` is the network's.
    #[must_use]
    pub fn asking_anew(&self, spec: &Spec) -> Self {
        Self { http: self.http.asking_anew(spec.ignored_parameter), ..self.clone() }
    }

    /// Returns the address of `path` (which starts with a slash) on the network: below the configured base, else below
    /// `default`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Misconfigured`] when the two do not form a valid address.
    pub fn url(&self, default: &str, path: &str) -> Result<Url> {
        let base = self.base.as_ref().map_or(default, Url::as_str);
        let address = format!("{}{path}", base.trim_end_matches('/'));
        let url = Url::parse(&address)
            .map_err(|_| Error::misconfigured("The platform's address is not valid."))?;
        // An id in the path that leads elsewhere is no id of the platform's.
        let steps = |address: &str| {
            let path = address.split(['?', '#']).next().unwrap_or_default();
            path.bytes().filter(|byte| *byte == b'/').count()
        };
        if url.fragment().is_some() || steps(url.as_str()) != steps(&address) {
            return Err(Error::target_gone("An id is not one of the platform's."));
        }
        Ok(url)
    }

    /// Returns the public address of `path` (which starts with a slash): on `home`, the network's website, whatever
    /// server its API is called on. For a simulated network it is on the simulator.
    #[must_use]
    pub fn public_url(&self, home: &str, path: &str) -> Option<String> {
        let base = self.base.as_ref().filter(|_| self.simulated).map_or(home, Url::as_str);
        let url = Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).ok()?;
        Some(url.into())
    }
}

/// The facts of an account, without secrets.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The network's id.
    pub remote_id: String,
    /// Name shown to people.
    pub username: String,
    /// Public facts that `verify` returned.
    pub meta: Map<String, Value>,
}

impl Account {
    /// Returns a text among the public facts.
    #[must_use]
    pub fn meta_str(&self, name: &str) -> Option<&str> {
        self.meta.get(name).and_then(Value::as_str)
    }
}

/// Named secrets of an account: the credential fields, and tokens made from them. `Debug` prints no values.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, SecretString>);

impl Secrets {
    /// Creates an empty set of secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.insert(name.to_owned(), SecretString::from(value.into()));
        self
    }

    /// Returns a secret that may be absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    /// Returns a secret that must exist.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Reconnect`]: without it the account cannot be used.
    pub fn require(&self, name: &str) -> Result<&SecretString> {
        self.get(name).ok_or_else(|| {
            Error::reconnect(format!("The account's {name} is missing; connect it again."))
        })
    }

    /// Returns the value in plain text, or an empty text. Only for building a request.
    #[must_use]
    pub fn expose(&self, name: &str) -> &str {
        self.get(name).map_or("", |secret| secret.expose_secret())
    }

    /// Creates secrets from plain pairs, as they come from the vault or a request.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect())
    }

    /// Replaces the secrets in `text`, in case a network repeats one. Values too short to be a secret stay.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let values = self.0.values().map(ExposeSecret::expose_secret);
        values
            .filter(|value| value.len() >= 6)
            .fold(text.to_owned(), |text, value| text.replace(value, "[redacted]"))
    }

    /// Returns plain pairs, to be encrypted at once.
    #[must_use]
    pub fn to_pairs(&self) -> BTreeMap<String, String> {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
            .collect()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|name| (name, "[redacted]"))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;
    use crate::{Session, tests::test_server};

    #[test]
    fn people_are_sent_to_the_public_site_whatever_server_the_api_is_called_on() {
        let own = "https://bots.example/telegram/".parse().ok();
        let session = Session { base: own, ..test_server::offline() };
        let address = |session: &Session| session.public_url("https://t.me", "/news/7");
        assert_eq!(address(&session).as_deref(), Some("https://t.me/news/7"));
        let simulated = Session { simulated: true, ..session };
        assert_eq!(address(&simulated).as_deref(), Some("https://bots.example/telegram/news/7"));
        assert_eq!(test_server::offline().public_url("", "/archives/C1"), None);
    }

    #[test]
    fn debug_shows_names_but_no_values() {
        let shown = format!("{:?}", Secrets::new().with("app_password", "hunter2"));
        assert_eq!(shown, r#"{"app_password": "[redacted]"}"#);
    }

    #[test]
    fn a_repeated_secret_is_taken_out_of_a_text() {
        let secrets = Secrets::new().with("app_password", "hunter2").with("pin", "12");
        assert_eq!(secrets.redact("12: hunter2 is wrong"), "12: [redacted] is wrong");
    }
}
