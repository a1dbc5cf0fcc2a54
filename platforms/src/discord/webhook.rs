//! The address of a webhook, which is also its credential.

use std::fmt;

use url::Url;

use crate::{Result, Session, text};

/// The reason to connect an account again whose address cannot be read.
pub(super) const NOT_VALID: &str = "The stored Discord webhook address is not valid.";

/// Hosts of Discord's webhook addresses.
const HOSTS: &[&str] = &["discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com"];

/// A webhook with a validated address. The address contains the token, so it is never printed.
pub(super) struct Webhook {
    /// Id of the webhook.
    pub id: String,
    token: String,
    /// The version part of the path, for example `/v10`, or empty.
    version: String,
    origin: String,
    /// The thread that the address names.
    pub thread: Option<String>,
}

impl Webhook {
    /// Reads an address as Discord copies it. With a configured base any origin is accepted, since the base replaces
    /// it; otherwise only Discord's own hosts.
    pub fn parse(session: &Session, address: &str) -> Option<Self> {
        let url = Url::parse(&text::clean_identifier(address)).ok()?;
        let parts: Vec<&str> = url.path().trim_end_matches('/').split('/').collect();
        let api = parts.iter().rposition(|part| *part == "api")?;
        let configured = session.base.is_some();
        if !configured && (api != 1 || !is_discord(&url)) {
            return None;
        }
        let (version, id, token) = match &parts[api + 1..] {
            ["webhooks", id, token] => (String::new(), *id, *token),
            [version, "webhooks", id, token] if is_version(version) => {
                (format!("/{version}"), *id, *token)
            }
            _ => return None,
        };
        let thread = url.query_pairs().find(|(name, _)| name == "thread_id");
        let thread = thread.map(|(_, id)| id.trim().to_owned());
        let is_whole = thread.as_deref().is_none_or(is_id) && is_id(id) && is_token(token);
        is_whole.then(|| Self {
            id: id.to_owned(),
            token: token.to_owned(),
            version,
            origin: url.origin().ascii_serialization(),
            thread,
        })
    }

    /// Returns the address to send to; below the configured base if there is one.
    pub fn url(&self, session: &Session) -> Result<Url> {
        let path = format!("/api{}/webhooks/{}/{}", self.version, self.id, self.token);
        session.url(&self.origin, &path)
    }

    /// Returns the address of a message.
    pub fn message_url(&self, session: &Session, id: &str) -> Result<Url> {
        let path =
            format!("/api{}/webhooks/{}/{}/messages/{id}", self.version, self.id, self.token);
        session.url(&self.origin, &path)
    }

    /// Replaces the token in `text`.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.token, "[redacted]")
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).field("token", &"[redacted]").finish()
    }
}

fn is_discord(url: &Url) -> bool {
    url.scheme() == "https"
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.host_str().is_some_and(|host| HOSTS.contains(&host))
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(is_id)
}

fn is_id(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_token(part: &str) -> bool {
    !part.is_empty()
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}
