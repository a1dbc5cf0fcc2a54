//! The bucket: files, and uploads in parts that are not complete.

use std::{
    collections::BTreeMap,
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::BufReader,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use super::{
    http::{Reply, Request},
    signature,
};
use crate::tests::Failure;

/// The smallest size of a part, unless it is the last.
const LEAST: usize = 5 * 1024 * 1024;

#[derive(Default)]
pub struct State {
    /// Content and media type by key.
    pub files: BTreeMap<String, (Vec<u8>, String)>,
    pub uploads: BTreeMap<String, Upload>,
    /// The calls: method, and the query's first word.
    pub calls: Vec<String>,
    next: u64,
}

pub struct Upload {
    key: String,
    mime: String,
    parts: BTreeMap<u32, Vec<u8>>,
}

/// Ends with the value.
pub struct Bucket {
    pub url: String,
    pub state: Arc<Mutex<State>>,
    /// While true, requests that complete an upload are not answered.
    pub stall: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Bucket {
    pub async fn start() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (state, (stall, stalled)) =
            (Arc::new(Mutex::new(State::default())), watch::channel(false));
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, shared.clone(), stalled.clone()));
            }
        });
        Ok(Self { url, state, stall, task })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn converse(
    stream: TcpStream,
    state: Arc<Mutex<State>>,
    mut stalled: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = Request::read(&mut stream).await? {
        let completes = request.method == "POST" && request.value("uploadId").is_some();
        let verb = request.query.split(['=', '&']).next().unwrap_or_default();
        let call = format!("{} {verb}", request.method).trim_end().to_owned();
        state.lock().unwrap_or_else(PoisonError::into_inner).calls.push(call);
        if completes && stalled.wait_for(|stalled| !stalled).await.is_err() {
            return Ok(());
        }
        let reply = match signature::refusal(&request) {
            Some(code) => Reply::error(403, code),
            None => state.lock().unwrap_or_else(PoisonError::into_inner).answer(&request),
        };
        reply.write(&mut stream, &request.method).await?;
    }
    Ok(())
}

impl State {
    fn answer(&mut self, request: &Request) -> Reply {
        let Some(key) = request.path.strip_prefix("/media/") else {
            return Reply::error(404, "NoSuchBucket");
        };
        let upload = request.value("uploadId");
        match (request.method.as_str(), upload) {
            ("POST", None) if request.value("uploads").is_some() => self.begin(key, request),
            ("PUT", Some(id)) => self.part(id, request),
            ("POST", Some(id)) => self.complete(id, request),
            ("DELETE", Some(id)) => match self.uploads.remove(id) {
                Some(_) => Reply::new(204, ""),
                None => Reply::error(404, "NoSuchUpload"),
            },
            ("PUT", None) => self.keep(key.to_owned(), request.body.clone(), mime(request)),
            ("GET" | "HEAD", None) => self.show(key, request.header("range")),
            ("DELETE", None) => {
                self.files.remove(key);
                Reply::new(204, "")
            }
            _ => Reply::error(501, "NotImplemented"),
        }
    }

    fn begin(&mut self, key: &str, request: &Request) -> Reply {
        self.next += 1;
        let id = format!("upload-{}", self.next);
        let upload = Upload { key: key.to_owned(), mime: mime(request), parts: BTreeMap::new() };
        self.uploads.insert(id.clone(), upload);
        Reply::new(
            200,
            format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ),
        )
    }

    fn part(&mut self, id: &str, request: &Request) -> Reply {
        let number = request.value("partNumber").and_then(|number| number.parse().ok());
        match (self.uploads.get_mut(id), number) {
            (Some(upload), Some(number)) => {
                upload.parts.insert(number, request.body.clone());
                Reply::new(200, "").with("ETag", format!("\"{number}\""))
            }
            (None, _) => Reply::error(404, "NoSuchUpload"),
            (_, None) => Reply::error(400, "InvalidArgument"),
        }
    }

    fn complete(&mut self, id: &str, request: &Request) -> Reply {
        let Some(upload) = self.uploads.get(id) else { return Reply::error(404, "NoSuchUpload") };
        let listed = String::from_utf8_lossy(&request.body).matches("<PartNumber>").count();
        let in_order = upload.parts.keys().copied().eq(1..=listed as u32);
        if listed == 0 || !in_order {
            return Reply::error(400, "InvalidPart");
        }
        if upload.parts.values().rev().skip(1).any(|part| part.len() < LEAST) {
            return Reply::error(400, "EntityTooSmall");
        }
        let Some(upload) = self.uploads.remove(id) else {
            return Reply::error(404, "NoSuchUpload");
        };
        let whole = upload.parts.into_values().collect::<Vec<_>>().concat();
        self.keep(upload.key, whole, upload.mime);
        let etag = self.next;
        Reply::new(
            200,
            format!(
                "<CompleteMultipartUploadResult><ETag>&quot;{etag}&quot;</ETag></CompleteMultipartUploadResult>"
            ),
        )
    }

    fn keep(&mut self, key: String, bytes: Vec<u8>, mime: String) -> Reply {
        let etag = etag(&bytes);
        self.files.insert(key, (bytes, mime));
        Reply::new(200, "").with("ETag", etag)
    }

    fn show(&self, key: &str, range: &str) -> Reply {
        let Some((bytes, mime)) = self.files.get(key) else {
            return Reply::error(404, "NoSuchKey");
        };
        let told = |reply: Reply| {
            let modified = "Wed, 21 Oct 2015 07:28:00 GMT";
            reply
                .with("ETag", etag(bytes))
                .with("Last-Modified", modified)
                .with("Content-Type", mime)
        };
        let bounds = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
        let Some((from, to)) = bounds else { return told(Reply::new(200, bytes.clone())) };
        let (from, to) = (from.parse().unwrap_or(0), to.parse().unwrap_or(usize::MAX - 1));
        if from >= bytes.len() {
            return Reply::error(416, "InvalidRange");
        }
        let end = bytes.len().min(to + 1);
        let shown = format!("bytes {from}-{}/{}", end - 1, bytes.len());
        told(Reply::new(206, &bytes[from..end])).with("Content-Range", shown)
    }
}

fn mime(request: &Request) -> String {
    request.header("content-type").to_owned()
}

fn etag(bytes: &[u8]) -> String {
    format!(
        "\"{:08x}\"",
        bytes.iter().fold(bytes.len() as u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte))
    )
}
