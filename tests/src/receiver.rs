//! A webhook receiver that records requests.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::contract;

/// A recorded request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub text: String,
}

impl ReceivedRequest {
    /// Returns a header; empty if absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Returns the body as JSON.
    ///
    /// # Panics
    /// It is not JSON, or an event that the document does not describe.
    #[must_use]
    pub fn body(&self) -> Value {
        let body = serde_json::from_str(&self.text).expect("a webhook sends JSON");
        if !self.header("x-fanfare-event").is_empty() {
            contract::check_event(&body);
        }
        body
    }
}

/// A small HTTP server on loopback.
#[derive(Clone)]
pub struct Receiver {
    /// Its address.
    pub url: String,
    heard: Arc<Mutex<Vec<ReceivedRequest>>>,
    status: Arc<Mutex<u16>>,
    delay: Arc<Mutex<Duration>>,
}

impl Receiver {
    /// Starts a server that answers 200, until the test ends.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let status = Arc::new(Mutex::new(200));
        let receiver = Self { url, heard: Arc::default(), status, delay: Arc::default() };
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        receiver
    }

    /// Sets the status of further replies.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn respond_with(&self, status: u16) {
        *self.status.lock().expect("the lock") = status;
    }

    /// Sets the delay of further replies.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn delay(&self, time: Duration) {
        *self.delay.lock().expect("the lock") = time;
    }

    /// Returns the requests received so far.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    #[must_use]
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.heard.lock().expect("the lock").clone()
    }

    async fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut bytes = Vec::new();
        let head = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        };
        let lines = String::from_utf8_lossy(&bytes[..head]).into_owned();
        let headers: Vec<_> = lines
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        while bytes.len() < head + length {
            (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
        }
        let text = String::from_utf8_lossy(&bytes[head..]).into_owned();
        self.heard.lock().expect("the lock").push(ReceivedRequest { headers, text });
        let (status, delay) =
            (*self.status.lock().expect("the lock"), *self.delay.lock().expect("the lock"));
        tokio::time::sleep(delay).await;
        let reply =
            format!("HTTP/1.1 {status} Said\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        stream.write_all(reply.as_bytes()).await.ok()
    }
}
