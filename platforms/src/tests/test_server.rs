//! A network on loopback, and posts to send to it: for the tests of connectors.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::{Client, Policy, Reply};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use url::Url;
use uuid::Uuid;

use crate::{
    Account, Draft, Media, MediaSource, MediaStream, ReconcileOutcome, Result, Secrets, Session,
    oauth::App,
};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `POST /path`, without the query.
    pub line: String,
    /// The query, decoded.
    pub query: Vec<(String, String)>,
    /// The head in lower case.
    pub head: String,
    /// The body, not decoded.
    pub body: Vec<u8>,
}

impl Seen {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A field of a form.
    pub fn form(&self, name: &str) -> Option<String> {
        let mut fields = url::form_urlencoded::parse(&self.body);
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// A value of the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A network that answers each request with what the given function says. Ends when dropped.
pub struct Network {
    base: Url,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

/// Status, further headers and body.
type Answer = (u16, Vec<(&'static str, String)>, Value);
type Answers = Arc<Mutex<dyn FnMut(&Seen) -> Answer + Send>>;

impl Network {
    /// Listens on a free port.
    pub async fn start(mut answers: impl FnMut(&Seen) -> (u16, Value) + Send + 'static) -> Self {
        Self::telling(move |seen| {
            let (status, body) = answers(seen);
            (status, Vec::new(), body)
        })
        .await
    }

    /// The same with headers.
    pub async fn telling(answers: impl FnMut(&Seen) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let base = Url::parse(&format!("http://{address}/net")).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answers: Answers = Arc::new(Mutex::new(answers));
        let (log, answers) = (seen.clone(), answers);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, log.clone(), answers.clone()));
            }
        });
        Self { base, seen, task }
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The lines of all requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }

    /// A session of an account on this network.
    pub fn session(&self, account: Account, secrets: Secrets) -> Session {
        let client = Client::new(Policy::default()).unwrap();
        Session {
            http: client.trusting(std::slice::from_ref(&self.base)),
            base: Some(self.base.clone()),
            simulated: false,
            account,
            secrets,
            app: Some(App { client_id: "app".into(), client_secret: "app-secret".into() }),
            picture_shrinker: None,
            usage: crate::UsageTracker::default(),
            video_service: crate::VideoService::default(),
            now: at(0),
        }
    }

    /// Returns the address on which it listens.
    pub fn base(&self) -> &str {
        self.base.as_str()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A session that reaches no network, for what only reads a reply.
pub fn offline() -> Session {
    let http = Client::new(Policy::default()).unwrap();
    let (account, secrets) = (Account::default(), Secrets::new());
    Session {
        http,
        base: None,
        simulated: false,
        account,
        secrets,
        app: None,
        picture_shrinker: None,
        usage: crate::UsageTracker::default(),
        video_service: crate::VideoService::default(),
        now: at(0),
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<Seen>>>, answers: Answers) {
    let Some(seen) = read(&mut stream).await else { return };
    log.lock().unwrap().push(seen.clone());
    let (status, headers, body) = {
        let mut answer = answers.lock().unwrap();
        (*answer)(&seen)
    };
    let body = body.to_string();
    let mut reply = format!("HTTP/1.1 {status} Reply\r\nconnection: close\r\n");
    for (name, value) in headers {
        write!(reply, "{name}: {value}\r\n").unwrap();
    }
    write!(reply, "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    stream.write_all(reply.as_bytes()).await.unwrap();
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut received: Vec<u8> = Vec::new();
    let end = loop {
        if let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    while received.len() < end + length {
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    }
    let mut words = head.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let url = Url::parse("http://net").ok()?.join(target).ok()?;
    Some(Seen {
        line: format!("{method} {}", url.path()),
        query: url.query_pairs().into_owned().collect(),
        head: lower,
        body: received[end..].to_vec(),
    })
}

/// `seconds` after the time of [`draft`] and of a session.
pub fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_900_000_000 + seconds, 0).unwrap()
}

/// A text to be posted.
pub fn draft(caption: &str, settings: Value) -> Draft {
    let Value::Object(settings) = settings else { panic!("settings are an object") };
    Draft {
        key: Uuid::nil(),
        due_at: at(0),
        caption: caption.to_owned(),
        post_type: "feed".to_owned(),
        settings,
        metadata: Map::new(),
        media: Vec::new(),
        caption_files: Vec::new(),
    }
}

/// A file whose bytes are its own name.
pub fn media(filename: &'static str, mime: &str) -> Media {
    Media {
        url: format!("https://media.example.org/{filename}"),
        mime: mime.to_owned(),
        filename: filename.to_owned(),
        bytes: Some(filename.len() as u64),
        source: Some(Arc::new(Name(filename))),
        ..Media::default()
    }
}

struct Name(&'static str);

#[async_trait::async_trait]
impl MediaSource for Name {
    async fn read(&self, _max: u64) -> Result<Bytes> {
        Ok(Bytes::from_static(self.0.as_bytes()))
    }

    async fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    async fn open(&self, range: std::ops::Range<u64>) -> Result<MediaStream> {
        let place = |at: u64| (at as usize).min(self.0.len());
        let (start, end) = (place(range.start), place(range.end));
        let piece = Bytes::from_static(&self.0.as_bytes()[start..end]);
        Ok(futures_util::StreamExt::boxed(futures_util::stream::iter([Ok(piece)])))
    }
}

/// An answer as it would come from a network.
pub fn reply(status: u16, headers: &[(&'static str, &str)], body: &Value) -> Reply {
    let mut reply = Reply {
        status,
        headers: Default::default(),
        body: body.to_string().into(),
        url: Url::parse("https://net.example.org/secret-path").unwrap(),
    };
    for (name, value) in headers {
        reply.headers.insert(*name, value.parse().unwrap());
    }
    reply
}

/// Facts kept beside an account.
pub fn account(remote_id: &str, meta: Value) -> Account {
    let Value::Object(meta) = meta else { panic!("meta is an object") };
    Account { remote_id: remote_id.to_owned(), username: "name".to_owned(), meta }
}

/// A success of the Graph API or of Discord that holds an id.
pub fn id(id: impl Into<Value>) -> (u16, Value) {
    let id: Value = id.into();
    (200, json!({ "id": id }))
}

/// Returns what a list says of a call at `at(0)` if nothing else was made meanwhile.
pub fn settled(outcome: ReconcileOutcome) -> ReconcileOutcome {
    let ReconcileOutcome::Listed(mut listing) = outcome else { return outcome };
    listing.candidates.retain(|one| one.created_at >= at(-2));
    match listing.candidates.as_slice() {
        [one] if one.is_same => ReconcileOutcome::Committed(one.progress.clone()),
        [] if listing.is_whole => ReconcileOutcome::NotCommitted,
        _ => ReconcileOutcome::Unknown,
    }
}
