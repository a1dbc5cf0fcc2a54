//! The whole job: a durable claim, the call to the network, a durable result.

use std::time::{Duration, Instant};

use crate::{
    bullmq::Program,
    cpu, groups,
    load::NetworkProcess,
    network::now,
    servers::Servers,
    service::{Due, Service},
    table::{number, print, ratio},
};

/// The work of every party.
#[derive(Debug, Clone, Copy)]
struct Workload {
    posts: usize,
    /// Posts, or jobs, under way at a time.
    slots: usize,
    /// The delay of the network, in ms.
    delay: u64,
    /// Workspaces among which Fanfare's accounts are split; the peers know none.
    tenants: usize,
    /// Fanfare's worker processes, each with all of the slots.
    workers: usize,
}

impl Workload {
    /// Returns the theoretical maximum of posts per second, given the delay of the network and the number of slots.
    fn bound(self) -> Option<f64> {
        (self.delay > 0).then(|| self.slots as f64 * 1_000.0 / self.delay as f64)
    }

    /// Returns how long before their due time posts are created, in ms.
    fn ahead(self) -> i64 {
        4_000 + i64::try_from(self.posts / 5).expect("a short time")
    }
}

/// The figures of one party.
struct Figures {
    name: String,
    posts: usize,
    seconds: f64,
    /// CPU time in ms: the worker, the databases, the network.
    worker: f64,
    servers: f64,
    network: f64,
}

impl Figures {
    fn rate(&self) -> f64 {
        self.posts as f64 / self.seconds
    }

    /// Returns CPU time per job over all processes, in µs.
    fn cost(&self) -> f64 {
        (self.worker + self.servers + self.network) * 1_000.0 / self.posts as f64
    }
}

/// The numbers of workspaces of Fanfare's runs.
const TENANTS: [usize; 3] = [1, 50, 1_000];

/// The workers of the runs that show what a larger fleet adds, with the middle number of workspaces.
const FLEETS: [usize; 2] = [2, 4];

/// Runs every party against a network that answers at once, and one that takes 50 ms: `rounds` times in turn, since the
/// speed of machines varies. The median run counts.
pub async fn run(posts: usize, slots: usize, rounds: usize, peers: bool) {
    let servers = Servers::find().await;
    for delay in [0, 50] {
        let work = Workload { posts, slots, delay, tenants: 1, workers: 1 };
        let mut all: Vec<Vec<Figures>> = Vec::new();
        for _ in 0..rounds {
            let mut round = Vec::new();
            if peers {
                round.push(peer(&servers, "full", work).await);
                round.push(peer(&servers, "tuned", work).await);
            }
            for fleet in [true, false] {
                for tenants in TENANTS {
                    round
                        .push(fanfare(&servers, Workload { tenants, ..work }, fleet, !peers).await);
                }
            }
            for workers in FLEETS {
                let work = Workload { tenants: TENANTS[1], workers, ..work };
                round.push(fanfare(&servers, work, true, false).await);
            }
            all.resize_with(round.len(), Vec::new);
            all.iter_mut().zip(round).for_each(|(runs, run)| runs.push(run));
        }
        let middle = all.into_iter().map(|mut runs| {
            runs.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
            runs.swap_remove(runs.len() / 2)
        });
        let title = format!(
            "{posts} posts, {slots} at a time, a network that takes {delay} ms; the middle of {rounds}"
        );
        report(&title, work, &middle.collect::<Vec<_>>());
    }
}

fn report(title: &str, work: Workload, all: &[Figures]) {
    let rate = |name: &str| all.iter().find(|one| one.name == name).map_or(0.0, Figures::rate);
    let (plain, tuned) = (rate("BullMQ"), rate("BullMQ tuned"));
    let rows = all.iter().map(|one| {
        let each = |ms: f64| number(ms * 1_000.0 / one.posts as f64);
        vec![
            one.name.clone(),
            number(one.rate()),
            each(one.worker),
            each(one.servers),
            each(one.network),
            number(one.cost()),
            ratio(one.rate(), plain),
            ratio(one.rate(), tuned),
        ]
    });
    let bound = work.bound().map(|bound| {
        let none = || "–".to_owned();
        let (to_plain, to_tuned) = (ratio(bound, plain), ratio(bound, tuned));
        vec![
            "what the slots allow".to_owned(),
            number(bound),
            none(),
            none(),
            none(),
            none(),
            to_plain,
            to_tuned,
        ]
    });
    let heads = [
        "",
        "jobs/s",
        "µs worker",
        "µs databases",
        "µs network",
        "µs in all",
        "× BullMQ",
        "× BullMQ tuned",
    ];
    print(title, &heads, &rows.chain(bound).collect::<Vec<_>>());
}

async fn peer(servers: &Servers, mode: &str, work: Workload) -> Figures {
    let Workload { posts, slots, delay, .. } = work;
    let target = NetworkProcess::start(delay);
    let variables = [
        ("REDIS_URL", servers.redis()),
        ("PG_URL", servers.database().await),
        ("TARGET_URL", format!("{}/", target.url)),
        ("COUNT", posts.to_string()),
        ("CONCURRENCY", slots.to_string()),
        ("MODE", mode.to_owned()),
    ];
    Program::start("fill", &variables).finish();
    let (databases, network) = (servers.cpu(), target.cpu());
    let said = Program::start("worker", &variables).finish();
    let name = if mode == "full" { "BullMQ" } else { "BullMQ tuned" };
    Figures {
        name: name.to_owned(),
        posts,
        seconds: said["seconds"].as_f64().expect("seconds"),
        worker: said["cpu_ms"].as_f64().expect("milliseconds"),
        servers: servers.cpu() - databases,
        network: target.cpu() - network,
    }
}

async fn fanfare(servers: &Servers, work: Workload, fleet: bool, profiled: bool) -> Figures {
    let Workload { posts, slots, delay, tenants, workers } = work;
    let target = NetworkProcess::start(delay);
    let mut service = if fleet {
        Service::fleet(servers, &target).await
    } else {
        Service::embedded(&target).await
    };
    service.split(tenants).await;
    let from = now() + work.ahead();
    service.fill(posts, Due::At(from)).await;
    let metrics = profiled.then(|| service.with_metrics());
    let slots = slots.to_string();
    let running: Vec<_> =
        (0..workers).map(|_| service.start(&["worker", "--concurrency", &slots])).collect();
    let spent = || running.iter().map(|worker| cpu::of(worker.id())).sum::<f64>();
    // As for the peers, time is measured once the worker is ready and waits for posts that are not due yet.
    let left = u64::try_from(from - now()).expect("there was too little time to get ready");
    tokio::time::sleep(Duration::from_millis(left)).await;
    let (own, databases, network) = (spent(), servers.cpu(), target.cpu());
    let started = Instant::now();
    let arrived = target.until(posts).await;
    service.recorded(posts).await;
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!((arrived.posts, arrived.again), (posts, 0), "every post once");
    if let Some(metrics) = metrics {
        groups::print_of(&metrics).await;
    }
    let stack = if fleet { "PostgreSQL and Redis" } else { "SQLite and memory" };
    Figures {
        name: format!("Fanfare, {stack}, tenants: {tenants}{}", fleet_suffix(workers)),
        posts,
        seconds,
        worker: spent() - own,
        servers: servers.cpu() - databases,
        network: target.cpu() - network,
    }
}

fn fleet_suffix(workers: usize) -> String {
    if workers == 1 { String::new() } else { format!(", workers: {workers}") }
}
