//! A proxy in front of the simulated networks that cuts connections at chosen bytes.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Where a request is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// After this many bytes of it.
    After(usize),
    /// This many bytes before its end.
    Before(usize),
    /// When the network has all of it, and before it answers.
    Whole,
}

/// What is cut: the next request whose first line holds this text.
type Armed = Option<(String, Cut)>;

/// The proxy; it ends with the test.
#[derive(Clone)]
pub struct Cutter {
    address: std::net::SocketAddr,
    behind: std::net::SocketAddr,
    armed: Arc<Mutex<Armed>>,
}

impl Cutter {
    /// A proxy in front of `behind`.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn before(behind: std::net::SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let cutter = Self { address, behind, armed: Arc::default() };
        let serving = cutter.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        cutter
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Cuts the next request whose first line holds `text`.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    pub fn cut(&self, text: &str, cut: Cut) {
        *self.armed.lock().expect("the lock") = Some((text.to_owned(), cut));
    }

    /// True once the armed cut was made.
    ///
    /// # Panics
    /// A test thread panicked while it held the lock.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.armed.lock().expect("the lock").is_none()
    }

    /// One connection: request by request, each read whole before it is passed on.
    async fn serve(&self, mut client: TcpStream) -> Option<()> {
        let server = TcpStream::connect(self.behind).await.ok()?;
        let (mut answers, mut requests) = server.into_split();
        let (mut from_client, mut to_client) = client.split();
        let forward = async {
            let mut waiting = Vec::new();
            while let Some(request) = whole_request(&mut from_client, &mut waiting).await {
                match self.cut_for(&request) {
                    None => requests.write_all(&request).await.ok()?,
                    Some(Cut::After(bytes)) => {
                        requests.write_all(&request[..bytes.min(request.len())]).await.ok()?;
                        return None;
                    }
                    Some(Cut::Before(bytes)) => {
                        let end = request.len().saturating_sub(bytes);
                        requests.write_all(&request[..end]).await.ok()?;
                        return None;
                    }
                    Some(Cut::Whole) => {
                        requests.write_all(&request).await.ok()?;
                        return None;
                    }
                }
            }
            None::<()>
        };
        tokio::select! {
            _ = forward => {}
            _ = tokio::io::copy(&mut answers, &mut to_client) => {}
        }
        // A network that has a whole request carries it out, whether or not anybody waits for the answer.
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(
            std::time::Duration::from_millis(200),
            answers.read_to_end(&mut rest),
        )
        .await;
        Some(())
    }

    fn cut_for(&self, request: &[u8]) -> Option<Cut> {
        let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut armed = self.armed.lock().expect("the lock");
        armed.take_if(|(text, _)| line.contains(text.as_str())).map(|(_, cut)| cut)
    }
}

/// The next request of a connection, head and body; `waiting` holds what was read beyond it.
async fn whole_request<R: AsyncReadExt + Unpin>(
    from: &mut R,
    waiting: &mut Vec<u8>,
) -> Option<Vec<u8>> {
    let end = loop {
        if let Some(end) = waiting.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        (from.read_buf(waiting).await.ok()? > 0).then_some(())?;
    };
    let head = String::from_utf8_lossy(&waiting[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    while waiting.len() < end + length {
        (from.read_buf(waiting).await.ok()? > 0).then_some(())?;
    }
    let rest = waiting.split_off(end + length);
    Some(std::mem::replace(waiting, rest))
}
