//! The bot's token and the chat it posts in.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::SPEC;
use crate::{Error, Result, Session};

/// Credentials with a validated format. The token is part of every address, so it is never printed.
pub(super) struct Credentials {
    token: SecretString,
    /// A number or `@name`.
    pub chat_id: String,
}

impl Credentials {
    /// Reads them from the session's secrets.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidCredentials`] when one is missing or malformed.
    pub fn of(session: &Session) -> Result<Self> {
        let token = session.secrets.expose("bot_token").trim();
        let chat_id = session.secrets.expose("chat_id").trim();
        if !is_token(token) {
            return Err(Error::invalid_credentials("This is not the token of a Telegram bot.")
                .with_remedy("Copy the token from @BotFather; it looks like 123456:ABC-DEF."));
        }
        if !is_chat(chat_id) {
            return Err(Error::invalid_credentials("This is not the id of a Telegram chat.")
                .with_remedy(
                    "Give the @name of a public channel or group, or the chat's number.",
                ));
        }
        Ok(Self { token: SecretString::from(token.to_owned()), chat_id: chat_id.to_owned() })
    }

    /// Returns the address of a method.
    pub fn url(&self, session: &Session, method: &str) -> Result<Url> {
        session.url(SPEC.base_url, &format!("/bot{}/{method}", self.token.expose_secret()))
    }

    /// Replaces the token in `text`.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.token.expose_secret(), "[redacted]")
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("chat_id", &self.chat_id)
            .field("token", &"[redacted]")
            .finish()
    }
}

fn is_token(text: &str) -> bool {
    let Some((bot, secret)) = text.split_once(':') else { return false };
    let is_secret_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !bot.is_empty()
        && bot.bytes().all(|byte| byte.is_ascii_digit())
        && secret.len() >= 20
        && secret.bytes().all(is_secret_char)
}

fn is_chat(text: &str) -> bool {
    match text.strip_prefix('@') {
        Some(name) => {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }
        None => text.parse::<i64>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_chat, is_token};

    #[test]
    fn the_form_of_tokens_and_chats_is_checked() {
        assert!(is_token("123456:AAbbccddeeffgghhii_jj-k"));
        for wrong in
            ["", "123456", "bot:AAbbccddeeffgghhiijjkk", "1:short", "1:AAbbccddeeffgghhiijj/x"]
        {
            assert!(!is_token(wrong), "{wrong}");
        }
        for right in ["@name_1", "-1001234567890", "42"] {
            assert!(is_chat(right), "{right}");
        }
        for wrong in ["", "@", "name", "@a/b", "1.5"] {
            assert!(!is_chat(wrong), "{wrong}");
        }
    }
}
