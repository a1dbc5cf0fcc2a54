//! The part of HTTP/1.1 that the bucket needs.

use std::{collections::BTreeMap, io};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

pub struct Request {
    pub method: String,
    /// As it came, escapes and all.
    pub path: String,
    /// As it came.
    pub query: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The next request of a connection; none at its end.
    pub async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = words.next().zip(words.next()).ok_or(io::ErrorKind::InvalidData)?;
        let (path, query) = target.split_once('?').unwrap_or((target.as_str(), ""));
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(Ok(0), |length| length.parse());
        let mut body = vec![0; length.map_err(io::Error::other)?];
        stream.read_exact(&mut body).await?;
        Ok(Some(Self { method, path: path.to_owned(), query: query.to_owned(), headers, body }))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// A value of the query; empty if it has none.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| match pair.split_once('=') {
            Some((key, value)) => (key == name).then_some(value),
            None => (pair == name).then_some(""),
        })
    }
}

#[derive(Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    pub fn error(status: u16, code: &str) -> Self {
        Self::new(
            status,
            format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Key>w/secret</Key></Error>"),
        )
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The length is told, and the body left out, for HEAD.
    pub async fn write(self, stream: &mut BufReader<TcpStream>, method: &str) -> io::Result<()> {
        let length = self.body.len();
        let mut head = format!("HTTP/1.1 {} Answer\r\nContent-Length: {length}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await?;
        if method != "HEAD" {
            stream.write_all(&self.body).await?;
        }
        stream.flush().await
    }
}
