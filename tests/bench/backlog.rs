//! How quickly one worker drains posts that are all due, by the shape of what has piled up.

use std::time::{Duration, Instant};

use crate::{
    load::NetworkProcess,
    network::now,
    servers::Servers,
    service::{ACCOUNTS, Due, Service, Shape},
    table::{number, print},
};

/// The accounts of the smallest shape: one on each network, as a single customer may have.
const FEW: usize = 18;

/// What has piled up: its name, the number of accounts, of workspaces, and the order in which the posts were made.
const SHAPES: [(&str, usize, usize, Shape); 4] = [
    ("1,000 accounts in turn, 50 workspaces", ACCOUNTS, 50, Shape::Interleaved),
    ("account after account, 50 workspaces", ACCOUNTS, 50, Shape::ByAccount),
    ("account after account, 1 workspace", ACCOUNTS, 1, Shape::ByAccount),
    ("18 accounts in turn, 1 workspace", FEW, 1, Shape::Interleaved),
];

/// Drains each shape on both stacks, against a network that answers at once.
pub async fn run(posts: usize, slots: usize) {
    let servers = Servers::find().await;
    let mut rows = Vec::new();
    for shape in SHAPES {
        let fleet = drain(Some(&servers), shape, posts, slots).await;
        let embedded = drain(None, shape, posts, slots).await;
        rows.push(vec![shape.0.to_owned(), number(fleet), number(embedded)]);
    }
    let heads = ["what is due", "posts/s, PostgreSQL and Redis", "posts/s, SQLite and memory"];
    print(&format!("Backlog of {posts} posts, {slots} slots, one worker"), &heads, &rows);
}

/// Returns posts per second, from the start of a ready worker until the last post is recorded.
async fn drain(
    servers: Option<&Servers>,
    (_, accounts, workspaces, shape): (&str, usize, usize, Shape),
    posts: usize,
    slots: usize,
) -> f64 {
    let target = NetworkProcess::start(0);
    let service = match servers {
        Some(servers) => Service::shared(servers, &target, &[accounts]).await,
        None => Service::embedded_with(&target, accounts).await,
    };
    service.split(workspaces).await;
    let from = now() + 4_000 + i64::try_from(posts / 5).expect("a short time");
    service.fill_shaped(0, posts, Due::At(from), shape).await;
    let _worker = service.start(&["worker", "--concurrency", &slots.to_string()]);
    let left = u64::try_from(from - now()).expect("there was too little time to get ready");
    tokio::time::sleep(Duration::from_millis(left)).await;
    let started = Instant::now();
    let arrived = target.until(posts).await;
    service.recorded(posts).await;
    assert_eq!((arrived.posts, arrived.again), (posts, 0), "every post once");
    posts as f64 / started.elapsed().as_secs_f64()
}
