//! Servers on loopback that do as a test says, and clients with one door of the guard open at a time.

mod closing;
mod cuts;
mod exchange;
mod guard;
mod http2;
mod limits;
mod secrets;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Mutex, mpsc},
    task::JoinHandle,
};
use url::Url;

use crate::{Client, Error, policy::Rules, resolver};

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Outcome = Result<(), Failure>;

/// The rules for a caller with the default policy.
pub const CLOSED: Rules = Rules { any_address: false, plain_http: false, any_port: false };
/// Nothing but the check of addresses stands in the way.
pub const ADDRESSES_ONLY: Rules = Rules { any_address: false, plain_http: true, any_port: true };
pub const OPEN: Rules = Rules { any_address: true, plain_http: true, any_port: true };

pub fn client(rules: Rules) -> Result<Client, Error> {
    Client::assemble(rules, resolver::system_lookup(), |builder| builder)
}

/// A server; each connection is given to `handle`. Ends with the value.
pub struct Server {
    pub url: Url,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start<F, Fut>(handle: F) -> Result<Self, Failure>
    where
        F: Fn(Wire) -> Fut + Send + 'static,
        Fut: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = Url::parse(&format!("http://{}/", listener.local_addr()?))?;
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(handle(Wire { stream }));
            }
        });
        Ok(Self { url, task })
    }

    /// Answers each request with `answer` and closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Result<Self, Failure> {
        let answer = answer.into();
        Self::start(move |mut wire| {
            let answer = answer.clone();
            async move {
                wire.request().await?;
                wire.stream.write_all(&answer).await
            }
        })
        .await
    }

    pub fn at(&self, path: &str) -> Result<Url, url::ParseError> {
        self.url.join(path)
    }

    /// A client that may reach this server and, beyond it, what `rules` allow.
    pub fn client(&self, rules: Rules) -> Result<Client, Error> {
        Ok(client(rules)?.trusting(std::slice::from_ref(&self.url)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The server's end of a connection.
pub struct Wire {
    pub stream: TcpStream,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub head: String,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Wire {
    /// Reads to the blank line and not a byte further.
    pub async fn head(&mut self) -> io::Result<Seen> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await?);
        }
        let head = String::from_utf8(head).map_err(io::Error::other)?;
        Ok(Seen { head, body: Vec::new() })
    }

    pub async fn request(&mut self) -> io::Result<Seen> {
        let mut seen = self.head().await?;
        let length = seen.header("content-length").map_or(Ok(0), str::parse);
        seen.body.resize(length.map_err(io::Error::other)?, 0);
        self.stream.read_exact(&mut seen.body).await?;
        Ok(seen)
    }

    pub async fn answer(&mut self, status: u16, headers: &str, body: &str) -> io::Result<()> {
        self.stream.write_all(answer(status, headers, body).as_bytes()).await
    }

    /// Keeps the connection open and does nothing.
    pub async fn hang(self) -> io::Result<()> {
        let open = self.stream;
        std::future::pending::<()>().await;
        drop(open);
        Ok(())
    }
}

/// `headers` end with a line break each.
pub fn answer(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Answer\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// A listener nobody may connect to.
pub struct Canary {
    pub address: SocketAddr,
    seen: Mutex<mpsc::UnboundedReceiver<SocketAddr>>,
    task: JoinHandle<()>,
}

impl Canary {
    pub async fn at(ip: impl Into<IpAddr>) -> io::Result<Self> {
        let listener = TcpListener::bind((ip.into(), 0)).await?;
        let address = listener.local_addr()?;
        let (note, seen) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                drop(stream);
                if note.send(peer).is_err() {
                    return;
                }
            }
        });
        Ok(Self { address, seen: Mutex::new(seen), task })
    }

    /// Returns the number of connections that came since the last call. Connections are accepted in order, so all
    /// earlier ones stand before the one made here.
    pub async fn connections(&self) -> io::Result<usize> {
        let mut seen = self.seen.lock().await;
        let own = TcpStream::connect(self.address).await?.local_addr()?;
        let mut others = 0;
        while let Some(peer) = seen.recv().await {
            if peer == own {
                return Ok(others);
            }
            others += 1;
        }
        Err(io::Error::other("the canary is gone"))
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.task.abort();
    }
}
