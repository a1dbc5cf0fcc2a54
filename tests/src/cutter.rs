//! A proxy in front of the simulated networks that cuts connections at chosen bytes.

mod walk;

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use walk::Walk;

/// The point at which a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// After this many bytes of the request.
    After(usize),
    /// This many bytes before the end of the request.
    Before(usize),
    /// After this percentage of the request's head.
    Head(usize),
    /// After this percentage of the request's body.
    Body(usize),
    /// After the whole request, before the reply.
    Whole,
    /// After the first byte of the reply's head.
    AnswerFirst,
    /// In the middle of the reply's head.
    AnswerHead,
    /// Before the last byte of the reply's head.
    AnswerHeadEnd,
    /// In the middle of the reply's body.
    AnswerBody,
    /// Before the last byte of the reply's body.
    AnswerEnd,
    /// After this many bytes of the reply.
    Answer(usize),
}

impl Cut {
    /// The first, a middle and the last byte of head and body of request and reply.
    pub const EVERYWHERE: &[Self] = &[
        Self::After(0),
        Self::After(1),
        Self::Head(50),
        Self::Head(100),
        Self::Body(50),
        Self::Before(1),
        Self::Whole,
        Self::AnswerFirst,
        Self::AnswerHead,
        Self::AnswerHeadEnd,
        Self::AnswerBody,
        Self::AnswerEnd,
    ];

    /// Returns true if the network receives the whole request.
    #[must_use]
    pub const fn is_sent(self) -> bool {
        !matches!(self, Self::After(_) | Self::Before(_) | Self::Head(_) | Self::Body(_))
    }

    /// Returns the number of bytes of the request that are passed on.
    fn of_request(self, request: &[u8]) -> usize {
        let head = head_end(request);
        match self {
            Self::After(bytes) => bytes.min(request.len()),
            Self::Before(bytes) => request.len().saturating_sub(bytes),
            Self::Head(part) => head * part / 100,
            Self::Body(part) => head + (request.len() - head) * part / 100,
            _ => request.len(),
        }
    }

    /// Returns the number of bytes of the reply that are passed on.
    fn of_answer(self, answer: &[u8]) -> usize {
        let head = head_end(answer);
        match self {
            Self::AnswerFirst => 1,
            Self::AnswerHead => head / 2,
            Self::AnswerHeadEnd => head - 1,
            Self::AnswerBody => head + (answer.len() - head) / 2,
            Self::AnswerEnd => answer.len() - 1,
            Self::Answer(bytes) => bytes,
            _ => 0,
        }
    }
}

/// Returns the start of the body.
fn head_end(message: &[u8]) -> usize {
    message.windows(4).position(|four| four == b"\r\n\r\n").map_or(message.len(), |end| end + 4)
}

/// The request to cut: number `skip` (from 0) of those whose request line contains these words.
struct BeginStep {
    text: String,
    skip: usize,
    cut: Cut,
}

/// The proxy, which ends with the test.
#[derive(Clone)]
pub struct Cutter {
    address: std::net::SocketAddr,
    behind: std::net::SocketAddr,
    armed: Arc<Mutex<Option<BeginStep>>>,
    walk: Arc<Mutex<Option<Walk>>>,
}

impl Cutter {
    /// Starts a proxy in front of `behind`.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn before(behind: std::net::SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let cutter = Self { address, behind, armed: Arc::default(), walk: Arc::default() };
        let serving = cutter.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        cutter
    }

    /// Returns its address.
    #[must_use]
    pub const fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Cuts the next request whose request line contains all words of `text`.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn cut(&self, text: &str, cut: Cut) {
        self.cut_later(text, 0, cut);
    }

    /// Does the same after letting `skip` such requests through.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn cut_later(&self, text: &str, skip: usize, cut: Cut) {
        let armed = BeginStep { text: text.to_owned(), skip, cut };
        *self.armed.lock().expect("the lock") = Some(armed);
    }

    /// Returns true once the cut was made.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.armed.lock().expect("the lock").is_none()
    }

    /// Cuts each request whose request line contains all words of one of `calls`, every time one byte later, until
    /// every byte of request and reply was the last one once. A repeated request is let through.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn walk(&self, calls: Vec<String>) {
        *self.walk.lock().expect("the lock") = Some(Walk::over(calls));
    }

    /// Returns the number of bytes of requests and of replies at which it cut, once it has finished.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    #[must_use]
    pub fn walked(&self) -> Option<(usize, usize)> {
        self.walk.lock().expect("the lock").as_ref().and_then(Walk::end)
    }

    /// Serves one connection; each request is read completely before it is passed on.
    async fn serve(&self, mut client: TcpStream) -> Option<()> {
        let server = TcpStream::connect(self.behind).await.ok()?;
        let (mut answers, mut requests) = server.into_split();
        let (mut from_client, mut to_client) = client.split();
        let forward = async {
            let mut waiting = Vec::new();
            while let Some(request) = whole_request(&mut from_client, &mut waiting).await {
                let Some(cut) = self.cut_for(&request) else {
                    requests.write_all(&request).await.ok()?;
                    continue;
                };
                requests.write_all(&request[..cut.of_request(&request)]).await.ok()?;
                return cut.is_sent().then_some(cut);
            }
            None
        };
        let cut = tokio::select! {
            cut = forward => cut?,
            _ = tokio::io::copy(&mut answers, &mut to_client) => return None,
        };
        // A network that has the whole request carries it out, even if nobody waits for the reply.
        let patience = std::time::Duration::from_secs(5);
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(patience, whole(&mut answers, &mut answer)).await;
        if let Some(walk) = self.walk.lock().expect("the lock").as_mut() {
            walk.answered(cut, &answer);
        }
        to_client.write_all(&answer[..cut.of_answer(&answer).min(answer.len())]).await.ok()
    }

    fn cut_for(&self, request: &[u8]) -> Option<Cut> {
        let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        if let Some(walk) = self.walk.lock().expect("the lock").as_mut() {
            return walk.next(&line, request);
        }
        let mut armed = self.armed.lock().expect("the lock");
        let meets = |armed: &mut BeginStep| armed.text.split(' ').all(|word| line.contains(word));
        let met = armed.as_mut().is_some_and(meets);
        if let Some(waiting) = armed.as_mut().filter(|armed| met && armed.skip > 0) {
            waiting.skip -= 1;
            return None;
        }
        armed.take_if(|_| met).map(|armed| armed.cut)
    }
}

/// Reads the next request of a connection, head and body; `waiting` holds the bytes after it.
async fn whole_request<R: AsyncReadExt + Unpin>(
    from: &mut R,
    waiting: &mut Vec<u8>,
) -> Option<Vec<u8>> {
    let end = whole(from, waiting).await?;
    let rest = waiting.split_off(end);
    Some(std::mem::replace(waiting, rest))
}

/// Reads until `into` holds a whole message, head and body; returns its end.
async fn whole<R: AsyncReadExt + Unpin>(from: &mut R, into: &mut Vec<u8>) -> Option<usize> {
    let head = loop {
        if let Some(end) = into.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        (from.read_buf(into).await.ok()? > 0).then_some(())?;
    };
    let lines = String::from_utf8_lossy(&into[..head]).to_ascii_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    while into.len() < head + length {
        (from.read_buf(into).await.ok()? > 0).then_some(())?;
    }
    Some(head + length)
}
