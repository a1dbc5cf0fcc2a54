//! A mail server that delivers nothing: it keeps the letters it is given, for tests.
//!
//! It speaks RFC 5321 without extensions, and refuses what that forbids: commands out of turn, and what it was told to. What it
//! took is kept before it answers.

mod session;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Error;

/// A letter as it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The sender, by its envelope.
    pub from: String,
    /// To whom, by its envelope.
    pub to: Vec<String>,
    /// Header and text as they came, dots unstuffed.
    pub data: String,
}

impl Taken {
    /// Returns the value of a line of the header; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let head = self.data.split("\r\n\r\n").next().unwrap_or_default();
        let line = head.split("\r\n").find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        line.unwrap_or_default()
    }

    /// Returns what it says, decoded.
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

/// The fault that the next letter meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The recipient is refused with this status.
    Refuse(u16),
    /// The letter is kept, and the connection is closed in place of an answer.
    LoseAnswer,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<Taken>,
    troubles: Vec<Trouble>,
}

/// A running mail server; clones are the same one.
#[derive(Debug, Clone)]
pub struct MailServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl MailServer {
    /// Listens on `listen` (port 0 takes a free one) and serves until `stop`.
    ///
    /// # Errors
    /// [`Error::Listen`] when the address cannot be had.
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
                            _ = session::converse(&server, stream) => {}
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

    /// Returns the letters taken so far, the oldest first; one that came twice is there twice.
    #[must_use]
    pub fn letters(&self) -> Vec<Taken> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.clone()
    }

    /// Has the next letters meet these troubles, one each.
    pub fn trouble(&self, troubles: &[Trouble]) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).troubles.extend(troubles);
    }

    fn next_trouble(&self) -> Option<Trouble> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.troubles.is_empty() { None } else { Some(state.troubles.remove(0)) }
    }

    fn keep(&self, letter: Taken) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.push(letter);
    }
}
