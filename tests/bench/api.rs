//! `POST /posts` and `GET /posts/{id}` beside plain salvo handlers.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Instant,
};

use serde_json::json;

use crate::{
    cpu,
    load::{NetworkProcess, http},
    network::quantile,
    servers::Servers,
    service::{Due, Service},
    table::{number, print, ratio},
};

/// The number of concurrent callers.
const CALLERS: usize = 32;

struct Figures {
    name: &'static str,
    rate: f64,
    /// CPU time per call of the process and of the databases, in µs.
    own: f64,
    databases: f64,
    p99: f64,
}

/// Runs every handler with the same number of calls: posts of one workspace, posts of many, and reads.
pub async fn run(calls: usize) {
    let servers = Servers::find().await;
    for tenants in [1, CALLERS] {
        let target = NetworkProcess::start(0);
        // The first post of each account has the same number as the account.
        let service = Service::shared(&servers, &target, &vec![1; tenants]).await;
        for place in 0..tenants {
            service.fill_for(place, 10_000 / tenants, Due::At(4_102_444_800_000)).await;
        }
        let api = service.start(&["api"]);
        service.ready().await;
        let bare = Bare::start(&service);
        let of = if tenants == 1 { "one workspace" } else { "as many workspaces" };
        let side = Side { servers: &servers, service: &service, bare: &bare, api: api.id(), calls };
        side.compare(&format!("POST /posts of {of}"), true).await;
        if tenants == 1 {
            side.compare("GET /posts/{id}", false).await;
        }
    }
}

/// The services that are compared.
struct Side<'a> {
    servers: &'a Servers,
    service: &'a Service,
    bare: &'a Bare,
    /// The process of the API.
    api: u32,
    calls: usize,
}

impl Side<'_> {
    async fn compare(&self, what: &str, writes: bool) {
        let (bare, ours) = (self.bare, self.service.origin.as_str());
        let same = if writes { "/same/posts" } else { "/same/posts/{id}" };
        let path = if writes { "/api/v1/posts" } else { "/api/v1/posts/{id}" };
        let one = self.load("a bare handler", (&bare.url, "/bare"), bare.id(), writes).await;
        let same =
            self.load("a handler with the same rows", (&bare.url, same), bare.id(), writes).await;
        let ours = self.load("Fanfare", (ours, path), self.api, writes).await;
        let rows: Vec<_> = [&one, &same, &ours]
            .iter()
            .map(|figures| {
                vec![
                    figures.name.to_owned(),
                    number(figures.rate),
                    number(figures.own),
                    number(figures.databases),
                    format!("{:.1}", figures.p99),
                    ratio(figures.rate, one.rate),
                    ratio(figures.rate, same.rate),
                ]
            })
            .collect();
        let heads =
            ["", "calls/s", "µs process", "µs databases", "p99 ms", "× bare", "× the same rows"];
        print(&format!("{} calls of {what}, {CALLERS} at a time", self.calls), &heads, &rows);
    }

    async fn load(
        &self,
        name: &'static str,
        (origin, path): (&str, &str),
        pid: u32,
        writes: bool,
    ) -> Figures {
        let (http, begun) = (http(), Instant::now());
        let (own, databases) = (cpu::of(pid), self.servers.cpu());
        let callers = (0..CALLERS).map(|caller| {
            let http = &http;
            let tenant = &self.service.tenants[caller % self.service.tenants.len()];
            let account = tenant.first.0;
            let url = format!("{origin}{}", path.replace("{id}", &account.to_string()));
            async move {
                let mut times = Vec::new();
                for number in 0..self.calls / CALLERS {
                    let at = "2099-01-01T00:00:00Z";
                    let caption = format!("Call {caller} {number}");
                    let body =
                        json!({"account_id": account, "caption": caption, "scheduled_at": at});
                    let request = if writes { http.post(&url).json(&body) } else { http.get(&url) };
                    let begun = Instant::now();
                    let answer = request.bearer_auth(&tenant.key).send().await.expect("an answer");
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
            databases: (self.servers.cpu() - databases) * 1_000.0 / made,
            p99: quantile(&times, 990) as f64 / 1_000.0,
        }
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
