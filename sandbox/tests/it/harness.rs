//! A sandbox on a free port and a client for it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fanfare_outbound::{Client as Guarded, Policy};
use fanfare_sandbox::{RunningServer, Sandbox, Setup};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// The secret of the control API.
pub const SECRET: &str = "the secret of this test";
/// The addresses that apps may have persons sent back to.
pub const BACK: &str = "http://127.0.0.1/back";

/// The settings of a sandbox that may fetch from this machine.
pub fn setup(dir: Option<&Dir>) -> Setup {
    let http = Guarded::new(Policy { allow_private: true }).unwrap();
    Setup { dir: dir.map(|dir| dir.0.clone()), secret: SECRET.to_owned().into(), http, media: None }
}

/// A running sandbox; stopped and its directory removed when dropped.
pub struct Net {
    pub address: SocketAddr,
    pub client: Client,
    serving: Option<RunningServer>,
    stop: CancellationToken,
}

/// A simulated account with its credentials.
pub struct Account {
    pub platform: String,
    pub remote_id: String,
    pub username: String,
    pub credentials: Value,
    /// The network's address.
    pub base: String,
}

impl Account {
    pub fn credential(&self, name: &str) -> &str {
        self.credentials[name].as_str().unwrap()
    }
}

/// A status and a body, which is null when it is no JSON.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Got {
    /// Fails the test unless the status is this.
    #[track_caller]
    pub fn is(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }
}

/// Sends a request and reads the whole answer.
pub async fn send(request: RequestBuilder) -> Got {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Got { status, headers, text, body }
}

impl Net {
    /// A sandbox that remembers nothing.
    pub async fn new() -> Self {
        Self::of(Sandbox::open(setup(None)).await.unwrap()).await
    }

    /// A sandbox with a journal in `dir`.
    pub async fn at(dir: &Dir) -> Self {
        Self::of(Sandbox::open(setup(Some(dir))).await.unwrap()).await
    }

    pub async fn of(sandbox: Sandbox) -> Self {
        sandbox.allow_redirect(BACK);
        let stop = CancellationToken::new();
        let serving = sandbox.serve(([127, 0, 0, 1], 0).into(), stop.clone()).await.unwrap();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { address: serving.address(), client, serving: Some(serving), stop }
    }

    /// Stops it as a process that ends well does.
    pub async fn stop(mut self) {
        self.stop.cancel();
        self.serving.take().unwrap().stopped().await;
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub async fn control(&self, method: Method, path: &str, body: Value) -> Got {
        let url = self.url(&format!("_control/{path}"));
        let mut request = self.client.request(method, url).bearer_auth(SECRET);
        if !body.is_null() {
            request = request.json(&body);
        }
        send(request).await
    }

    /// Sets how an account's network behaves.
    pub async fn behave(&self, platform: &str, account: &Account, behaviour: Value) {
        let body = json!({"remote_id": account.remote_id, "behaviour": behaviour});
        self.control(Method::PUT, &format!("{platform}/behaviour"), body).await.is(200);
    }

    pub async fn account(&self, platform: &str) -> Account {
        self.account_of(platform, Value::Null).await
    }

    /// Makes an account with a name of its own.
    pub async fn named(&self, platform: &str, username: &str) -> Account {
        self.account_of(platform, json!({ "username": username })).await
    }

    async fn account_of(&self, platform: &str, body: Value) -> Account {
        let made = self.control(Method::POST, &format!("{platform}/accounts"), body).await.is(201);
        Account {
            platform: platform.to_owned(),
            remote_id: made["remote_id"].as_str().unwrap().to_owned(),
            username: made["username"].as_str().unwrap().to_owned(),
            credentials: made["credentials"].clone(),
            base: made["base_url"].as_str().unwrap().to_owned(),
        }
    }

    /// Returns the account's posts on the network.
    pub async fn posts(&self, account: &Account) -> Vec<Value> {
        let path = format!("{}/posts?remote_id={}", account.platform, account.remote_id);
        self.control(Method::GET, &path, Value::Null).await.is(200)["posts"]
            .as_array()
            .unwrap()
            .clone()
    }

    pub async fn calls(&self, account: &Account) -> Vec<Value> {
        let path = format!("{}/calls?remote_id={}", account.platform, account.remote_id);
        self.control(Method::GET, &path, Value::Null).await.is(200)["calls"]
            .as_array()
            .unwrap()
            .clone()
    }

    pub async fn faults(&self, account: &Account, faults: Value) {
        let body = json!({"remote_id": account.remote_id, "faults": faults});
        self.control(Method::PUT, &format!("{}/faults", account.platform), body).await.is(200);
    }

    pub async fn settings(&self, settings: Value) {
        self.control(Method::PUT, "settings", settings).await.is(200);
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A directory of this test's own, removed with it.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "fanfare-sandbox-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        Self(std::env::temp_dir().join(name))
    }

    pub fn journal(&self) -> PathBuf {
        self.0.join("realms.jsonl")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // Absent when the test failed before it was made.
        let _absent = std::fs::remove_dir_all(&self.0);
    }
}

/// Fails if an object lacks a field that its vendor's description promises.
pub fn assert_promised(facts: &str, kind: &str, object: &Value) {
    let facts: Value = serde_json::from_str(facts).unwrap();
    let promised = facts["types"][kind]["required"].as_array().unwrap();
    let missing: Vec<&Value> =
        promised.iter().filter(|name| object.get(name.as_str().unwrap()).is_none()).collect();
    assert!(missing.is_empty(), "{kind} lacks {missing:?}: {object:#}");
}

/// Asks again until `ready` says so; fails the test after ten seconds.
pub async fn until<F: Future<Output = Option<T>>, T>(mut ready: impl FnMut() -> F) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = ready().await {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "it never became ready");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A PNG's head with the given size, padded with `padding` bytes.
pub fn png(width: u32, height: u32, padding: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0]);
    file.resize(file.len() + padding, 0);
    file
}

/// The head of an MP4 file, padded with `padding` bytes.
pub fn mp4(padding: usize) -> Vec<u8> {
    let mut file = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".to_vec();
    file.resize(file.len() + padding, 0);
    file
}

/// A film without sound in one codec, at so many frames a second: its index, and no frame.
pub fn film_of(codec: &[u8; 4], rate: u32) -> Vec<u8> {
    let boxed = |name: &[u8; 4], content: &[u8]| {
        let size = u32::try_from(content.len() + 8).unwrap().to_be_bytes();
        [&size[..], name, content].concat()
    };
    let entry = boxed(codec, &[0; 78]);
    let stsd = boxed(b"stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &entry].concat());
    let frames = [[0; 4], [0; 4], (rate * 10).to_be_bytes()].concat();
    let stbl = boxed(b"stbl", &[stsd, boxed(b"stsz", &frames)].concat());
    let hdlr = boxed(b"hdlr", &[&[0; 8][..], b"vide", &[0; 12]].concat());
    let times = [[0; 4], [0; 4], [0; 4], 1_000_u32.to_be_bytes(), 10_000_u32.to_be_bytes(), [0; 4]];
    let mdia = [boxed(b"mdhd", &times.concat()), hdlr, boxed(b"minf", &stbl)].concat();
    let moov = boxed(b"moov", &boxed(b"trak", &boxed(b"mdia", &mdia)));
    [mp4(0), moov].concat()
}

/// A server of files: `(path, content type, bytes)` each. Gives its address; it ends with the test's runtime.
pub async fn files(files: Vec<(&'static str, &'static str, Vec<u8>)>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.windows(4).any(|w| w == b"\r\n\r\n") {
                if stream.read_buf(&mut head).await.unwrap() == 0 {
                    break;
                }
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let found = files.iter().find(|(known, ..)| *known == path);
            let (status, mime, bytes) = found
                .map_or(("404 Not Found", "text/plain", &b"no"[..]), |(_, mime, bytes)| {
                    ("200 OK", *mime, bytes)
                });
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {mime}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                bytes.len()
            );
            // The crawler may hang up on a file that is too large.
            let _left = stream.write_all(head.as_bytes()).await;
            let _left = stream.write_all(bytes).await;
        }
    });
    format!("http://{address}")
}
