//! A proxy in front of the simulated networks that keeps what is sent and what is answered.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Headers that hold secrets.
const SECRET: [&str; 3] = ["authorization", "cookie", "set-cookie"];

/// A request to a network, and its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The network's name.
    pub network: String,
    /// The method.
    pub method: String,
    /// The path below the network's root, as it was sent.
    pub path: String,
    /// The query, as it was sent.
    pub query: String,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The answer's status.
    pub status: u16,
    /// The answer's body.
    pub answer: Vec<u8>,
    /// The part of the path before the network's root: `/shared/threads`.
    pub root: String,
}

impl Exchange {
    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the headers without those that hold secrets.
    #[must_use]
    pub fn plain_headers(&self) -> Vec<(String, String)> {
        let is_plain = |(name, _): &&(String, String)| !SECRET.contains(&name.as_str());
        self.headers.iter().filter(is_plain).cloned().collect()
    }
}

/// The proxy, which ends with the test.
#[derive(Clone)]
pub struct Recorder {
    address: SocketAddr,
    behind: SocketAddr,
    kept: Arc<Mutex<Vec<Exchange>>>,
}

impl Recorder {
    /// Starts a proxy in front of `behind`.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn before(behind: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let recorder = Self { address, behind, kept: Arc::default() };
        let serving = recorder.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        recorder
    }

    /// Returns its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what was sent and answered, in the order of the answers. Pages for people and the control of the simulator are left
    /// out.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    #[must_use]
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.kept.lock().expect("the lock").clone()
    }

    /// Serves one connection: its requests come one after another.
    async fn serve(&self, mut client: TcpStream) -> Option<()> {
        let mut server = TcpStream::connect(self.behind).await.ok()?;
        let (mut sent, mut answered) = (Vec::new(), Vec::new());
        loop {
            let request = Message::read(&mut client, &mut sent, false).await?;
            server.write_all(&request.whole).await.ok()?;
            let has_no_body = request.line.starts_with("HEAD ");
            let answer = Message::read(&mut server, &mut answered, has_no_body).await;
            let Some(answer) = answer else {
                // Cut off: what there is goes on, and ends the connection.
                let _ = client.write_all(&answered).await;
                return None;
            };
            self.keep(&request, &answer);
            client.write_all(&answer.whole).await.ok()?;
            if answer.ends {
                return None;
            }
        }
    }

    fn keep(&self, request: &Message, answer: &Message) -> Option<()> {
        let mut words = request.line.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let (realm, network) = (parts.next()?, parts.next()?);
        if realm.starts_with('_') || !crate::networks::all().contains(&network) {
            return None;
        }
        let path = parts.next().unwrap_or_default().to_owned();
        let status = answer.line.split(' ').nth(1)?.parse().ok()?;
        self.kept.lock().expect("the lock").push(Exchange {
            network: network.to_owned(),
            method: method.to_owned(),
            path,
            query: query.to_owned(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            status,
            answer: answer.body.clone(),
            root: format!("/{realm}/{network}"),
        });
        Some(())
    }
}

/// A message of HTTP.
struct Message {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Its bytes.
    whole: Vec<u8>,
    /// Its end is the end of the connection.
    ends: bool,
}

impl Message {
    /// Reads the next message; `waiting` holds what was read after the one before. `None` if it does not end.
    async fn read(from: &mut TcpStream, waiting: &mut Vec<u8>, is_head: bool) -> Option<Self> {
        let head = loop {
            if let Some(end) = find(waiting, b"\r\n\r\n") {
                break end + 4;
            }
            more(from, waiting).await?;
        };
        let text = String::from_utf8_lossy(&waiting[..head]).into_owned();
        let mut lines = text.lines();
        let line = lines.next()?.to_owned();
        let headers: Vec<_> = lines.filter_map(header).collect();
        let value =
            |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let status: Option<u16> =
            line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest[..3].parse().ok());
        let is_answer = status.is_some();
        let length = value("content-length").and_then(|length| length.parse::<usize>().ok());
        let (mut ends, mut body) =
            (value("connection").is_some_and(|value| value == "close") && is_answer, Vec::new());
        let end = if value("transfer-encoding").is_some_and(|value| value == "chunked") {
            chunks(from, waiting, head, &mut body).await?
        } else if let Some(length) = length.or((!is_answer).then_some(0)).filter(|_| !is_head) {
            while waiting.len() < head + length {
                more(from, waiting).await?;
            }
            body.extend_from_slice(&waiting[head..head + length]);
            head + length
        } else if is_head
            || status.is_some_and(|status| status < 200 || status == 204 || status == 304)
        {
            head
        } else {
            while more(from, waiting).await.is_some() {}
            ends = true;
            body.extend_from_slice(&waiting[head..]);
            waiting.len()
        };
        let rest = waiting.split_off(end);
        let whole = std::mem::replace(waiting, rest);
        Some(Self { line, headers, body, whole, ends })
    }
}

/// Reads a body in chunks that begins at `start`; returns its end.
async fn chunks(
    from: &mut TcpStream,
    waiting: &mut Vec<u8>,
    start: usize,
    body: &mut Vec<u8>,
) -> Option<usize> {
    let mut at = start;
    loop {
        let line = loop {
            match find(&waiting[at..], b"\r\n") {
                Some(end) => break end,
                None => more(from, waiting).await?,
            }
        };
        let size = String::from_utf8_lossy(&waiting[at..at + line]).into_owned();
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        let begin = at + line + 2;
        while waiting.len() < begin + size + 2 {
            more(from, waiting).await?;
        }
        body.extend_from_slice(&waiting[begin..begin + size]);
        at = begin + size + 2;
        if size == 0 {
            return Some(at);
        }
    }
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.to_ascii_lowercase(), value.trim().to_owned()))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

async fn more(from: &mut TcpStream, into: &mut Vec<u8>) -> Option<()> {
    (from.read_buf(into).await.ok()? > 0).then_some(())
}
