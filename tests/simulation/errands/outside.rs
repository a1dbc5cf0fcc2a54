//! The world outside, as one server on loopback: a maker of videos (xAI's calls), a mail server and Stripe. What it has
//! taken is the ground truth.
//!
//! A call happens within a step of the worker that makes it, so its fate is thrown when it arrives.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::dice::Dice;

/// The price of each pack, in cents.
pub const PRICE: i64 = 1_000;

/// The beginning of an MP4 file, by which it is known as one.
const VIDEO: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x08free";

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is carried out and answered.
    Answered,
    /// It is carried out, and the connection breaks before the answer.
    AnswerLost,
    /// The connection breaks before it is carried out.
    NotHeard,
    /// It is put off: busy, or away.
    PutOff,
    /// It is refused for good.
    Refused,
}

/// A checkout of a pack.
#[derive(Debug, Clone)]
pub struct Sale {
    /// The buyer.
    pub buyer: String,
    /// The credits of the pack.
    pub credits: i64,
    /// The money was given back.
    pub is_refunded: bool,
}

/// What the outside knows.
pub struct Outside {
    dice: Dice,
    /// Faults, 0 to 14.
    pub faults: u32,
    /// It is away for good.
    pub is_away: bool,
    /// The videos that were ordered, by their prompt, with their ids; each order is billed.
    pub orders: BTreeMap<String, Vec<String>>,
    /// The copies of each e-mail that arrived, by its id.
    pub copies: BTreeMap<String, Vec<String>>,
    /// The sales, by the id of their checkout.
    pub sales: BTreeMap<String, Sale>,
    /// The faults of calls by what they were about (a prompt, an e-mail's id, or an object's) and their kind.
    pub troubles: BTreeMap<(String, &'static str), usize>,
}

/// The outside, shared with its servers.
#[derive(Clone)]
pub struct Server {
    /// The port of the maker of videos and of Stripe.
    pub http: u16,
    /// The port of the mail server.
    pub smtp: u16,
    state: Arc<Mutex<Outside>>,
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

impl Server {
    /// Starts to listen.
    pub async fn start(seed: u64) -> Self {
        let ((web, http), (mail, smtp)) = (listen().await, listen().await);
        let state = Outside {
            dice: Dice::new(seed),
            faults: 0,
            is_away: false,
            orders: BTreeMap::new(),
            copies: BTreeMap::new(),
            sales: BTreeMap::new(),
            troubles: BTreeMap::new(),
        };
        let server = Self { http, smtp, state: Arc::new(Mutex::new(state)) };
        let (of_web, of_mail) = (server.clone(), server.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = web.accept().await {
                let server = of_web.clone();
                tokio::spawn(async move { server.answer_http(stream).await });
            }
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = mail.accept().await {
                let server = of_mail.clone();
                tokio::spawn(async move { server.take_mails(stream).await });
            }
        });
        server
    }

    pub fn lock(&self) -> MutexGuard<'_, Outside> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer_http(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        let mut first = String::new();
        stream.read_line(&mut first).await.ok()?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let (status, mime, body) = self.lock().answer((method, target), &body, self.http)?;
        let head = format!(
            "HTTP/1.1 {status} Said\r\ncontent-type: {mime}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(&body).await.ok()?;
        stream.shutdown().await.ok()
    }

    async fn take_mails(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 mail.example\r\n").await.ok()?;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            let verb: String = line.chars().take(4).collect::<String>().to_uppercase();
            let said = match verb.as_str() {
                "DATA" => {
                    stream.write_all(b"354 go on\r\n").await.ok()?;
                    let mut text = String::new();
                    while !text.ends_with("\r\n.\r\n") {
                        stream.read_line(&mut text).await.ok()?;
                    }
                    self.lock().take_mail(&text)?
                }
                "QUIT" => "221 bye",
                _ => "250 yes",
            };
            stream.write_all(format!("{said}\r\n").as_bytes()).await.ok()?;
        }
    }
}

/// A status, a media type and a body; `None` breaks the connection.
type Answer = Option<(u16, &'static str, Vec<u8>)>;

fn said(status: u16, body: &Value) -> Answer {
    Some((status, "application/json", body.to_string().into_bytes()))
}

impl Outside {
    fn fate(&mut self) -> Fate {
        if self.is_away {
            return Fate::PutOff;
        }
        let faults = self.faults;
        let fates =
            [(Fate::Answered, 30), (Fate::AnswerLost, faults), (Fate::NotHeard, faults / 2)];
        let more = [(Fate::PutOff, faults), (Fate::Refused, faults / 4)];
        let fates: Vec<_> = fates.into_iter().chain(more).collect();
        let weights: Vec<u32> = fates.iter().map(|(_, weight)| *weight).collect();
        fates[self.dice.weighed(&weights).expect("something happens")].0
    }

    fn trouble(&mut self, of: &str, kind: &'static str) {
        *self.troubles.entry((of.to_owned(), kind)).or_default() += 1;
    }

    /// Returns how often calls about something had a trouble of this kind.
    pub fn count(&self, of: &str, kind: &'static str) -> usize {
        self.troubles.get(&(of.to_owned(), kind)).copied().unwrap_or(0)
    }

    fn answer(&mut self, (method, target): (&str, &str), body: &Value, port: u16) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let place: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, place.as_slice()) {
            ("POST", ["xai", "v1", "videos", "generations"]) => self.order(body),
            ("GET", ["xai", "v1", "videos", id]) => self.progress(id, port),
            ("GET", ["files", id]) => self.download(id),
            ("GET", ["stripe", "v1", rest @ ..]) => self.stripe(rest, query),
            _ => said(404, &json!({"error": {"message": "There is no such thing."}})),
        }
    }

    /// Takes an order of a video. xAI has no idempotency key: each order that it takes is billed.
    fn order(&mut self, body: &Value) -> Answer {
        let prompt = body["prompt"].as_str().unwrap_or_default().to_owned();
        let fate = self.fate();
        if matches!(fate, Fate::Answered | Fate::AnswerLost) {
            let orders = self.orders.entry(prompt.clone()).or_default();
            orders.push(format!("{}-{}", prompt.replace(' ', "_"), orders.len()));
        }
        match fate {
            Fate::Answered => said(200, &json!({"request_id": self.orders[&prompt].last()})),
            Fate::AnswerLost | Fate::NotHeard => {
                self.trouble(&prompt, "lost");
                None
            }
            Fate::PutOff => {
                self.trouble(&prompt, "busy");
                said(429, &json!({"error": "Too many requests."}))
            }
            Fate::Refused => {
                self.trouble(&prompt, "refused");
                said(400, &json!({"code": "invalid-argument", "error": "The request is wrong."}))
            }
        }
    }

    fn progress(&mut self, id: &str, port: u16) -> Answer {
        let (prompt, _) = id.rsplit_once('-')?;
        let prompt = prompt.replace('_', " ");
        match self.fate() {
            Fate::Answered if self.dice.happens(300) => {
                said(200, &json!({"status": "pending", "progress": 40}))
            }
            Fate::Answered => {
                let url = format!("http://127.0.0.1:{port}/files/{id}");
                said(200, &json!({"status": "done", "video": {"url": url, "duration": 8}}))
            }
            Fate::AnswerLost | Fate::NotHeard => None,
            Fate::PutOff => said(503, &json!({"error": "Away."})),
            Fate::Refused => {
                self.trouble(&prompt, "failed");
                said(200, &json!({"status": "failed", "error": "It could not be made."}))
            }
        }
    }

    fn download(&mut self, id: &str) -> Answer {
        match self.fate() {
            Fate::Answered => Some((200, "video/mp4", [VIDEO, id.as_bytes()].concat())),
            Fate::AnswerLost | Fate::NotHeard => None,
            Fate::PutOff | Fate::Refused => said(503, &json!({"error": "Away."})),
        }
    }

    fn take_mail(&mut self, text: &str) -> Option<&'static str> {
        let id =
            text.lines().find_map(|line| line.strip_prefix("Message-ID: <")).unwrap_or_default();
        let id = id.split('@').next().unwrap_or_default().to_owned();
        // What a repetition may change: the time at which it is sent.
        let lasting = |line: &&str| !line.starts_with("Date:");
        let lasting = text.lines().filter(lasting).collect::<Vec<_>>().join("\n");
        let fate = self.fate();
        if matches!(fate, Fate::Answered | Fate::AnswerLost) {
            self.copies.entry(id.clone()).or_default().push(lasting);
        }
        match fate {
            Fate::Answered => Some("250 taken"),
            Fate::AnswerLost | Fate::NotHeard => {
                self.trouble(&id, "lost");
                None
            }
            Fate::PutOff => {
                self.trouble(&id, "busy");
                Some("451 later")
            }
            Fate::Refused => {
                self.trouble(&id, "refused");
                Some("550 no")
            }
        }
    }

    /// Answers Stripe's reads: a checkout, its charge, and what was given back.
    fn stripe(&mut self, place: &[&str], query: &str) -> Answer {
        if self.fate() != Fate::Answered {
            return self.dice.happens(500).then(|| {
                (503, "application/json", b"{\"error\":{\"message\":\"Away.\"}}".to_vec())
            });
        }
        let list = |data: Vec<Value>| {
            said(200, &json!({"object": "list", "data": data, "has_more": false}))
        };
        let named = |prefix: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(prefix)).map(str::to_owned)
        };
        match place {
            ["checkout", "sessions", id] => said(200, &session(id, self.sales.get(*id)?)),
            ["charges"] => {
                let intent = named("payment_intent=pi_")?;
                list(
                    self.sales.get(&intent).map(|sale| charge(&intent, sale)).into_iter().collect(),
                )
            }
            ["charges", id] => {
                let id = id.strip_prefix("ch_")?;
                said(200, &charge(id, self.sales.get(id)?))
            }
            ["disputes"] => list(Vec::new()),
            ["refunds"] => {
                let id = named("charge=ch_")?;
                let refunded = self.sales.get(&id).filter(|sale| sale.is_refunded);
                let refund = |_| {
                    json!({"id": format!("re_{id}"), "object": "refund", "charge": format!("ch_{id}"),
                    "amount": PRICE, "status": "succeeded"})
                };
                list(refunded.map(refund).into_iter().collect())
            }
            _ => None,
        }
    }
}

/// Returns a paid checkout as Stripe shows it.
pub fn session(id: &str, sale: &Sale) -> Value {
    json!({"id": id, "object": "checkout.session", "url": null, "status": "complete", "payment_status": "paid",
        "client_reference_id": sale.buyer, "customer": null, "subscription": null, "invoice": null,
        "expires_at": 1_900_086_400, "mode": "payment", "payment_intent": format!("pi_{id}"),
        "metadata": {"fanfare_credits": sale.credits.to_string()}})
}

/// Returns the charge of a checkout as Stripe shows it.
pub fn charge(id: &str, sale: &Sale) -> Value {
    json!({"id": format!("ch_{id}"), "object": "charge", "payment_intent": format!("pi_{id}"), "amount": PRICE,
        "amount_refunded": if sale.is_refunded { PRICE } else { 0 }})
}
