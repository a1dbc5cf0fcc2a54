//! A server on loopback that answers as a test says, byte by byte.

use std::{io, net::Ipv4Addr, sync::Arc};

use fanfare_outbound::{Client, Policy};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    task::JoinHandle,
};
use url::Url;

use super::Failure;

/// Ends with the value.
pub struct Server {
    pub url: Url,
    /// The heads of the requests so far.
    pub seen: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Hands each connection to `answer` when its request is read.
    pub async fn start<F, Fut>(answer: F) -> Result<Self, Failure>
    where
        F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = Url::parse(&format!("http://{}/", listener.local_addr()?))?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (heads, answer) = (seen.clone(), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (heads, answer) = (heads.clone(), answer.clone());
                tokio::spawn(async move {
                    let head = read_head(&mut stream).await?;
                    heads.lock().await.push(head);
                    answer(stream).await
                });
            }
        });
        Ok(Self { url, seen, task })
    }

    /// Answers each request with these bytes and closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Result<Self, Failure> {
        let answer = Arc::new(answer.into());
        Self::start(move |mut stream| {
            let answer = answer.clone();
            async move { stream.write_all(&answer).await }
        })
        .await
    }

    /// Answers with `head`, and then with `piece` for as long as somebody listens.
    pub async fn pouring(head: &'static str, piece: &'static [u8]) -> Result<Self, Failure> {
        Self::start(move |mut stream| async move {
            stream.write_all(head.as_bytes()).await?;
            while stream.write_all(piece).await.is_ok() {}
            Ok(())
        })
        .await
    }

    pub fn at(&self, path: &str) -> Result<Url, url::ParseError> {
        self.url.join(path)
    }

    /// The client of users' addresses, which may reach this server besides.
    pub fn client(&self) -> Result<Client, fanfare_outbound::Error> {
        Ok(Client::new(Policy::default())?.trusting(std::slice::from_ref(&self.url)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer of status 200. `headers` end with a line break each. No client keeps the connection for another request.
pub fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

/// An answer of status 200 that names its length.
pub fn whole(body: &[u8]) -> Vec<u8> {
    answer(&format!("Content-Length: {}\r\n", body.len()), body)
}

async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}
