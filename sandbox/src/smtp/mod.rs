//! A mail server for tests, which stores the mails it receives and delivers none.
//!
//! It implements RFC 5321 without extensions, and refuses invalid commands, commands out of order, and what a test
//! tells it to. It stores a mail before it responds.

mod session;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Error;

/// A received mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMail {
    /// The sender, by its envelope.
    pub from: String,
    /// The recipients, by its envelope.
    pub to: Vec<String>,
    /// Header and text as received, with dots unstuffed.
    pub data: String,
}

impl ReceivedMail {
    /// Returns the value of a header field; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let head = self.data.split("\r\n\r\n").next().unwrap_or_default();
        let line = head.split("\r\n").find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        line.unwrap_or_default()
    }

    /// Returns the decoded text.
    #[must_use]
    pub fn text(&self) -> String {
        let text = self.data.split_once("\r\n\r\n").map_or("", |(_, text)| text);
        match self.header("Content-Transfer-Encoding") {
            "quoted-printable" => quoted_printable(text),
            "base64" => {
                let packed: String = text.split_whitespace().collect();
                String::from_utf8_lossy(&STANDARD.decode(packed).unwrap_or_default()).into_owned()
            }
            _ => text.to_owned(),
        }
    }
}

/// Decodes quoted-printable (RFC 2045, section 6.7).
fn quoted_printable(text: &str) -> String {
    let text = text.replace("=\r\n", "");
    let (mut pieces, mut bytes) = (text.split('='), Vec::new());
    bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        match u8::from_str_radix(code, 16) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(code.as_bytes()),
        }
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The way in which the next mail fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailFault {
    /// The recipient is refused with this status.
    Refuse(u16),
    /// The mail is stored, and the connection is closed without a response.
    LoseAnswer,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<ReceivedMail>,
    troubles: Vec<MailFault>,
}

/// A running mail server; clones are the same one.
#[derive(Debug, Clone)]
pub struct MailServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl MailServer {
    /// Listens on `listen` (port 0 chooses a free one) and serves until `stop`.
    ///
    /// # Errors
    /// [`Error::Listen`] when it cannot listen on the address.
    pub async fn serve(listen: SocketAddr, stop: CancellationToken) -> Result<Self, Error> {
        let refused =
            |error: std::io::Error| Error::Listen { address: listen, reason: error.to_string() };
        let listener = TcpListener::bind(listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let server = Self { address, state: Arc::default() };
        let serving = server.clone();
        tokio::spawn(async move {
            let serve = async {
                while let Ok((stream, _)) = listener.accept().await {
                    let (server, stop) = (serving.clone(), stop.clone());
                    tokio::spawn(async move {
                        tokio::select! {
                            _ = session::run_session(&server, stream) => {}
                            () = stop.cancelled() => {}
                        }
                    });
                }
            };
            tokio::select! { () = serve => {}, () = stop.cancelled() => {} }
        });
        Ok(server)
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the mails received so far, oldest first; one that arrived twice is listed twice.
    #[must_use]
    pub fn letters(&self) -> Vec<ReceivedMail> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.clone()
    }

    /// Queues faults for the next mails, one each.
    pub fn queue_faults(&self, troubles: &[MailFault]) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).troubles.extend(troubles);
    }

    fn next_fault(&self) -> Option<MailFault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.troubles.is_empty() { None } else { Some(state.troubles.remove(0)) }
    }

    fn store(&self, letter: ReceivedMail) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.push(letter);
    }
}
