//! A network to publish to: it answers every post at once or after a delay, and records the lateness of each.
//!
//! It implements as much of the protocols of Bluesky and WordPress as a text post needs; it answers everything else
//! with a new id, which is all that the peers need. The text of a post contains its tenant and its due time
//! (`of=<tenant> … due=<ms>`).

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::Engine as _;
use chrono::{DateTime, Utc};
use salvo::{Depot, FlowCtrl, Handler, Listener, Request, Response, Router, conn::TcpListener};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name under which calls that read numbers are counted.
pub const READS: &str = "reads";

/// Arrivals of posts so far.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Arrivals {
    /// Posts.
    pub posts: usize,
    /// Posts that had arrived before: duplicates.
    pub again: usize,
    /// The time of the last arrival, in ms since 1970.
    pub last: i64,
    /// The lateness of each, in ms, in order of arrival.
    pub late: Vec<i64>,
}

impl Arrivals {
    /// Returns the lateness of the `part`-th of 1,000 in order, in ms.
    pub fn late(&self, part: usize) -> i64 {
        quantile(&self.late, part)
    }
}

/// Returns the `part`-th of 1,000 values in order; 0 without values.
pub fn quantile(values: &[i64], part: usize) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len() * part).div_ceil(1_000).max(1) - 1;
    sorted.get(place).copied().unwrap_or(0)
}

/// The arrivals of each tenant.
#[derive(Default)]
struct ArrivalsByTenant {
    arrived: BTreeMap<String, Arrivals>,
    seen: HashSet<String>,
}

impl ArrivalsByTenant {
    /// Returns the arrivals of all tenants, or of the one whose number follows `/arrived/`. `/arrived/count` omits
    /// lateness.
    fn arrivals_of(&self, path: &str) -> Arrivals {
        if let Some(of) = path.strip_prefix("/arrived/").filter(|of| *of != "count") {
            return self.arrived.get(of).cloned().unwrap_or_default();
        }
        let mut all = Arrivals::default();
        for (_, one) in self.arrived.iter().filter(|(of, _)| *of != READS) {
            all.posts += one.posts;
            all.again += one.again;
            all.last = all.last.max(one.last);
            if path != "/arrived/count" {
                all.late.extend(&one.late);
            }
        }
        all
    }
}

struct Network {
    delay: Duration,
    noted: Arc<Mutex<ArrivalsByTenant>>,
}

/// Serves on a free port of loopback, prints the address, and ends with its standard input.
pub async fn serve(delay_ms: u64) {
    let acceptor = TcpListener::new("127.0.0.1:0").bind().await;
    let address = salvo::conn::Acceptor::holdings(&acceptor)[0].local_addr.clone();
    let address = address.into_std().expect("an address");
    println!("http://{address}");
    let network = Network { delay: Duration::from_millis(delay_ms), noted: Arc::default() };
    let router = Router::with_path("{**rest}").goal(network);
    tokio::spawn(salvo::Server::new(acceptor).serve(router));
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let _ = ended.await;
    std::process::exit(0);
}

#[salvo::async_trait]
impl Handler for Network {
    async fn handle(&self, req: &mut Request, _: &mut Depot, res: &mut Response, _: &mut FlowCtrl) {
        let path = req.uri().path().to_owned();
        let answer = match path.as_str() {
            path if path.starts_with("/arrived") => {
                serde_json::to_value(self.noted.lock().unwrap().arrivals_of(path)).unwrap()
            }
            "/xrpc/com.atproto.server.createSession" => {
                let body: Value = req.parse_json().await.expect("a log-in");
                session(body["identifier"].as_str().unwrap_or("nobody"))
            }
            "/wp-json/wp/v2/users/me" => {
                let id = user_number(req);
                json!({"id": id, "name": "User", "slug": format!("user{id}"), "capabilities": {"publish_posts": true}})
            }
            "/xrpc/app.bsky.feed.getPosts" => self.numbers(req),
            // A receiver of webhooks that never answers.
            "/never" => std::future::pending().await,
            path if path.starts_with("/hook/") => {
                let body = req.parse_json().await.expect("an event");
                self.note_event(path, &body);
                json!({})
            }
            _ => {
                let body =
                    req.payload().await.map(|body| String::from_utf8_lossy(body).into_owned());
                let number = self.note(&body.expect("a body"));
                if !self.delay.is_zero() {
                    tokio::time::sleep(self.delay).await;
                }
                made(&path, number)
            }
        };
        res.render(salvo::writing::Json(answer));
    }
}

impl Network {
    /// Returns the metrics of the requested posts.
    fn numbers(&self, req: &Request) -> Value {
        self.noted.lock().unwrap().arrived.entry(READS.to_owned()).or_default().posts += 1;
        let query = url::form_urlencoded::parse(req.uri().query().unwrap_or_default().as_bytes());
        let posts = query.filter(|(name, _)| name == "uris").map(|(_, uri)| {
            json!({"uri": uri, "likeCount": 3, "replyCount": 1, "repostCount": 0, "quoteCount": 0})
        });
        json!({ "posts": posts.collect::<Vec<_>>() })
    }

    /// Records a webhook delivery; its lateness is the time since its event.
    fn note_event(&self, receiver: &str, event: &Value) {
        let told = event["created_at"].as_str().and_then(|at| at.parse::<DateTime<Utc>>().ok());
        let late = now() - told.expect("a time").timestamp_millis();
        let mut noted = self.noted.lock().unwrap();
        let new = noted.seen.insert(format!("{receiver}{}", event["id"]));
        let arrived = noted.arrived.entry("receivers".to_owned()).or_default();
        arrived.again += usize::from(!new);
        arrived.posts += 1;
        arrived.late.push(late);
    }

    fn note(&self, body: &str) -> usize {
        let now = now();
        let (number, of) = (between(body, "number "), between(body, "of="));
        let due: i64 = between(body, "due=").parse().unwrap_or(now);
        let mut noted = self.noted.lock().unwrap();
        let new = noted.seen.insert(format!("{of}/{number}"));
        let arrived = noted.arrived.entry(of.to_owned()).or_default();
        arrived.again += usize::from(!new);
        arrived.posts += 1;
        arrived.last = now;
        arrived.late.push(now - due);
        noted.seen.len()
    }
}

/// Returns the reply to a post.
fn made(path: &str, number: usize) -> Value {
    match path {
        "/wp-json/wp/v2/posts" => json!({"id": number, "link": null, "slug": ""}),
        _ => json!({"id": number.to_string(), "commit": {"cid": "b", "rev": "r"}, "results": []}),
    }
}

/// Returns the name of the WordPress user of a request, which is a number.
fn user_number(req: &Request) -> u64 {
    let given = req.headers().get("authorization").and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Basic ")).unwrap_or_default();
    let decoded = base64::engine::general_purpose::STANDARD.decode(given).unwrap_or_default();
    let name = String::from_utf8(decoded).unwrap_or_default();
    name.split_once(':').and_then(|(user, _)| user.parse().ok()).expect("a number")
}

/// Returns the digits after `mark`.
fn between<'a>(body: &'a str, mark: &str) -> &'a str {
    let rest = body.split_once(mark).map_or("", |(_, rest)| rest);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    &rest[..end]
}

/// Returns a session that lasts for a day.
fn session(identifier: &str) -> Value {
    let claims = json!({"exp": now() / 1_000 + 86_400}).to_string();
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(claims);
    let token = format!("e30.{claims}.e30");
    json!({
        "did": format!("did:plc:{identifier}"), "handle": format!("{identifier}.test"),
        "accessJwt": token, "refreshJwt": token, "active": true,
    })
}

/// Returns the time in ms since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    i64::try_from(since.as_millis()).expect("a time before the year 292 million")
}
