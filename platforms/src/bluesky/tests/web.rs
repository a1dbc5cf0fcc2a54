use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

/// A web site with these pages: path, content type, body.
pub struct Web {
    /// Its address, without a slash at the end.
    pub base: String,
    task: JoinHandle<()>,
}

impl Web {
    pub async fn start(pages: Vec<(&'static str, &'static str, Bytes)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 8 * 1024];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
                let found = pages.iter().find(|(at, ..)| *at == path);
                let (status, kind, body) = match found {
                    Some((_, kind, body)) => (200, *kind, body.clone()),
                    None => (404, "text/html", Bytes::new()),
                };
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                // A reader that has seen enough hangs up.
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(&body).await;
            }
        });
        Self { base, task }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}
