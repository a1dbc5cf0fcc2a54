//! Sends e-mails through the operator's mail server.

use std::{fmt, time::Duration};

use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        Error as SmtpError,
        authentication::Credentials,
        client::{Tls, TlsParameters},
        extension::ClientId,
    },
};
use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use crate::Letter;

/// The time-out of each step of an SMTP session.
const STEP: Duration = Duration::from_secs(20);

/// Sends e-mails through one server. Cheap to clone.
#[derive(Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    server: String,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Why a mailer cannot be created; the message names the value to correct and shows no password.
#[derive(Debug, thiserror::Error)]
pub enum MailerError {
    /// The server's address is invalid.
    #[error(
        "the address of the mail server must be smtps://user:password@host or smtp://user:password@host:587"
    )]
    Address,
    /// The sender's address is invalid.
    #[error("the sender must be an e-mail address such as Fanfare <hello@example.com>")]
    From,
    /// TLS cannot be set up for this host.
    #[error("TLS cannot be set up for {0}")]
    Tls(String),
}

/// Why an e-mail was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The server refused it permanently.
    #[error("the mail server refused the e-mail ({0})")]
    Refused(String),
    /// It may succeed later. The server may have accepted it anyway, if the connection was lost at the end.
    #[error("the mail server did not take the e-mail ({0})")]
    Transient(String),
}

impl Mailer {
    /// Returns a mailer for a server: `smtps://` uses TLS from the start, `smtp://` requires STARTTLS, except on
    /// loopback.
    ///
    /// # Errors
    /// [`MailerError`].
    pub fn new(address: &SecretString, from: &str) -> Result<Self, MailerError> {
        let url = Url::parse(address.expose_secret()).map_err(|_| MailerError::Address)?;
        let from: Mailbox = from.parse().map_err(|_| MailerError::From)?;
        // The URL parser validates hosts only for web schemes, so the host is parsed again as that of one.
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(MailerError::Address)?;
        let host = Host::parse(host).map_err(|_| MailerError::Address)?;
        let name = host.to_string();
        let bare = name.trim_matches(['[', ']']).to_owned();
        let parameters =
            || TlsParameters::new(bare.clone()).map_err(|_| MailerError::Tls(bare.clone()));
        let (tls, port) = match url.scheme() {
            "smtps" => (Tls::Wrapper(parameters()?), 465),
            "smtp" if is_loopback(&host) => (Tls::None, 25),
            "smtp" => (Tls::Required(parameters()?), 587),
            _ => return Err(MailerError::Address),
        };
        let sender = ClientId::Domain(from.email.domain().to_owned());
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(bare)
            .port(url.port().unwrap_or(port))
            .tls(tls)
            .hello_name(sender)
            .timeout(Some(STEP));
        if !url.username().is_empty() {
            let user = decoded(url.username())?;
            let password = decoded(url.password().unwrap_or_default())?;
            builder = builder.credentials(Credentials::new(user, password));
        }
        let server = url.port().map_or(name.clone(), |port| format!("{name}:{port}"));
        Ok(Self { transport: builder.build(), from, server })
    }

    /// Checks that the server accepts a session.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn check(&self) -> Result<(), SendError> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(SendError::Transient("it hung up".to_owned())),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Sends an e-mail. `id` and the sender's domain form its `Message-ID`, by which mail servers and mailboxes can drop
    /// duplicates.
    ///
    /// # Errors
    /// [`SendError::Refused`] is permanent, [`SendError::Transient`] is not.
    pub async fn send(&self, id: &str, letter: &Letter) -> Result<(), SendError> {
        let refused = |what: String| SendError::Refused(what);
        let to: Address =
            letter.to.parse().map_err(|_| refused("the address is not one".to_owned()))?;
        let to = Mailbox::new(None, to);
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(letter.subject.clone())
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text.clone())
            .map_err(|_| refused("the e-mail cannot be written".to_owned()))?;
        match self.transport.send(message).await {
            Ok(_) => Ok(()),
            Err(error) => Err(failure(&error)),
        }
    }
}

/// Maps an error. Only the server's status is shown, since its message may contain the recipient.
fn failure(error: &SmtpError) -> SendError {
    let what = match error.status() {
        Some(code) => format!("status {code}"),
        None if error.is_timeout() => "it took too long".to_owned(),
        None if error.is_tls() => "TLS failed".to_owned(),
        None if error.is_client() => "it does not offer what is needed".to_owned(),
        None => "it cannot be reached, or the connection was lost".to_owned(),
    };
    if error.is_permanent() { SendError::Refused(what) } else { SendError::Transient(what) }
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Decodes a percent-encoded part of the address.
fn decoded(part: &str) -> Result<String, MailerError> {
    let text = percent_encoding::percent_decode_str(part).decode_utf8();
    text.map(String::from).map_err(|_| MailerError::Address)
}

#[cfg(test)]
mod tests {
    use super::{Mailer, MailerError};

    fn made(address: &str, from: &str) -> Result<Mailer, MailerError> {
        Mailer::new(&address.into(), from)
    }

    #[test]
    fn addresses_of_servers_are_read_and_wrong_ones_named() {
        for good in [
            "smtps://ada:p%40ss@mail.example.com",
            "smtp://mail.example.com:587",
            "smtp://127.0.0.1:2525",
            "smtp://[::1]:2525",
        ] {
            let mailer = made(good, "Fanfare <hello@example.com>");
            let shown = format!("{:?}", mailer.unwrap());
            assert!(!shown.contains("ss@"), "{shown}");
        }
        for bad in ["", "mail.example.com", "https://mail.example.com", "smtp://", "smtp:x"] {
            let refused = made(bad, "hello@example.com").unwrap_err();
            assert!(matches!(refused, MailerError::Address), "{bad}: {refused}");
        }
        assert!(matches!(made("smtp://x.example", "nobody").unwrap_err(), MailerError::From));
    }
}
