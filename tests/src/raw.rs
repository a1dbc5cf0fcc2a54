//! An HTTP client that sends exactly the given bytes on one connection.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::TestApp;

/// A connection.
pub struct RawConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A raw answer.
#[derive(Debug)]
pub struct RawAnswer {
    /// HTTP status.
    pub status: u16,
    /// The status line and headers, in lower case.
    pub head: String,
    /// The body; null if it was not JSON.
    pub body: Value,
}

impl RawAnswer {
    /// Returns true if the reply has `Connection: close`.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.head.contains("\r\nconnection: close")
    }
}

impl RawConnection {
    /// Connects to a service.
    ///
    /// # Panics
    /// It does not listen.
    pub async fn connect(app: &TestApp) -> Self {
        Self::to(&app.origin).await
    }

    /// Connects to the service at an origin.
    ///
    /// # Panics
    /// It does not listen.
    pub async fn to(origin: &str) -> Self {
        let place = origin.trim_start_matches("http://");
        Self { stream: TcpStream::connect(place).await.expect("it listens"), unread: Vec::new() }
    }

    /// Sends bytes; errors are ignored.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// Sends a request with these header lines besides `Host`, and a body.
    pub async fn request(&mut self, line: &str, head: &[String], body: &[u8]) {
        let lines: String = head.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let head = format!("{line} HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\n{lines}\r\n");
        self.send(head.as_bytes()).await;
        self.send(body).await;
    }

    /// Reads the next reply; `None` if the connection was closed.
    ///
    /// # Panics
    /// It is not HTTP.
    pub async fn answer(&mut self) -> Option<RawAnswer> {
        let end = loop {
            if let Some(end) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.more().await?;
        };
        let head = String::from_utf8(self.unread[..end].to_vec()).expect("text").to_lowercase();
        self.unread.drain(..end + 4);
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.map_or(0, |length| length.trim().parse().expect("a length"));
        let body = if head.contains("transfer-encoding: chunked") {
            self.chunks().await?
        } else {
            while self.unread.len() < length {
                self.more().await?;
            }
            self.unread.drain(..length).collect()
        };
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        Some(RawAnswer { status, head, body: serde_json::from_slice(&body).unwrap_or_default() })
    }

    /// Reads a chunked body.
    async fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(end) = self.unread.windows(2).position(|two| two == b"\r\n") {
                    break end;
                }
                self.more().await?;
            };
            let length = std::str::from_utf8(&self.unread[..end]).expect("text");
            let length = usize::from_str_radix(length.trim(), 16).expect("a length");
            while self.unread.len() < end + 2 + length + 2 {
                self.more().await?;
            }
            let chunk: Vec<u8> = self.unread.drain(..end + 2 + length + 2).collect();
            if length == 0 {
                return Some(body);
            }
            body.extend(&chunk[end + 2..end + 2 + length]);
        }
    }

    async fn more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.unread).await.unwrap_or(0);
        (read > 0).then_some(())
    }
}
