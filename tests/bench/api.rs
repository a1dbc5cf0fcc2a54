//! `POST /posts` and `GET /posts/{id}` beside salvo handlers with nothing around them.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Instant,
};

use serde_json::json;

use crate::{
    cpu,
    load::{Target, http},
    network::quantile,
    servers::Servers,
    service::{Due, Service},
    table::{number, print, ratio},
};

/// Callers at a time.
const CALLERS: usize = 32;

struct Figures {
    name: &'static str,
    rate: f64,
    /// Processor time a call of the process and of the databases, in µs.
    own: f64,
    databases: f64,
    p99: f64,
}

/// Runs every handler with as many calls.
pub async fn run(calls: usize) {
    let servers = Servers::find().await;
    let target = Target::start(0);
    let service = Service::fleet(&servers, &target).await;
    service.fill(10_000, Due::At(4_102_444_800_000)).await;
    let api = service.start(&["api"]);
    service.ready().await;
    let bare = Bare::start(&service);
    let key = service.tenants[0].key.as_str();
    for writes in [true, false] {
        let (ours, same) = if writes {
            ("/api/v1/posts".to_owned(), "/same/posts")
        } else {
            (format!("/api/v1/posts/{}", service.tenants[0].first.0), "/same/posts/1")
        };
        let bare_one =
            load(&servers, "a bare handler", &bare.url, "/bare", bare.id(), key, writes, calls)
                .await;
        let same = load(
            &servers,
            "a handler with the same rows",
            &bare.url,
            same,
            bare.id(),
            key,
            writes,
            calls,
        )
        .await;
        let ours =
            load(&servers, "Fanfare", &service.origin, &ours, api.id(), key, writes, calls).await;
        let rows: Vec<_> = [&bare_one, &same, &ours]
            .iter()
            .map(|one| {
                vec![
                    one.name.to_owned(),
                    number(one.rate),
                    number(one.own),
                    number(one.databases),
                    format!("{:.1}", one.p99),
                    ratio(one.rate, bare_one.rate),
                    ratio(one.rate, same.rate),
                ]
            })
            .collect();
        let heads =
            ["", "calls/s", "µs process", "µs databases", "p99 ms", "× bare", "× the same rows"];
        let what = if writes { "POST /posts" } else { "GET /posts/{id}" };
        print(&format!("{calls} calls of {what}, {CALLERS} at a time"), &heads, &rows);
    }
}

#[expect(clippy::too_many_arguments, reason = "one call for each handler, side by side")]
async fn load(
    servers: &Servers,
    name: &'static str,
    origin: &str,
    path: &str,
    pid: u32,
    key: &str,
    writes: bool,
    calls: usize,
) -> Figures {
    let (http, url) = (http(), format!("{origin}{path}"));
    let (own, databases, begun) = (cpu::of(pid), servers.cpu(), Instant::now());
    let callers = (0..CALLERS).map(|caller| {
        let (http, url) = (&http, &url);
        async move {
            let mut times = Vec::new();
            for number in 0..calls / CALLERS {
                let at = "2099-01-01T00:00:00Z";
                let body = json!({
                    "account_id": 1, "caption": format!("Call {caller} {number}"), "scheduled_at": at,
                });
                let request = if writes { http.post(url).json(&body) } else { http.get(url) };
                let begun = Instant::now();
                let answer = request.bearer_auth(key).send().await.expect("an answer");
                assert!(answer.status().is_success(), "{url}: {}", answer.status());
                answer.bytes().await.expect("its body");
                times.push(i64::try_from(begun.elapsed().as_micros()).expect("a short time"));
            }
            times
        }
    });
    let times = futures_util::future::join_all(callers).await.concat();
    let (seconds, made) = (begun.elapsed().as_secs_f64(), times.len() as f64);
    Figures {
        name,
        rate: made / seconds,
        own: (cpu::of(pid) - own) * 1_000.0 / made,
        databases: (servers.cpu() - databases) * 1_000.0 / made,
        p99: quantile(&times, 990) as f64 / 1_000.0,
    }
}

/// The handlers of `bare.rs` in a process of their own.
struct Bare {
    child: Child,
    url: String,
}

impl Bare {
    fn start(service: &Service) -> Self {
        let me = std::env::current_exe().expect("our own path");
        let mut child = Command::new(me)
            .args(["bare", &service.variable("FANFARE_DATABASE_URL")])
            .arg(service.variable("FANFARE_REDIS_URL"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the bare handlers start");
        let mut url = String::new();
        let said = BufReader::new(child.stdout.take().expect("its output")).read_line(&mut url);
        said.expect("its address");
        Self { child, url: url.trim().to_owned() }
    }

    fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
