//! Measures how fast ids pass through each backend: `cargo run -p fanfare-jobs --example drain [ids]`. Needs
//! `redis-server`.

use std::{
    net::{Ipv4Addr, TcpListener},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use fanfare_jobs::{Concurrency, JobKind, PublishPost, Queue, run_worker};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(100_000), |arg| arg.parse())?;
    drain("memory", &Queue::memory(), count).await?;

    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let mut server = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()])
        .current_dir(std::env::temp_dir())
        .stdout(Stdio::null())
        .spawn()?;
    let queue = Queue::redis(&format!("redis://127.0.0.1:{port}/")).await?;
    while queue.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let drained = drain("redis", &queue, count).await;
    server.kill()?;
    server.wait()?;
    Ok(drained?)
}

async fn drain(name: &str, queue: &Queue, count: usize) -> Result<(), fanfare_jobs::Error> {
    let ids: Vec<i64> = (1..=count as i64).collect();
    let start = Instant::now();
    for ids in ids.chunks(1_000) {
        queue.push(JobKind::PublishPost, ids).await?;
    }
    report(name, "pushed by 1,000", count, start);

    let (left, done, stop) =
        (Arc::new(AtomicUsize::new(count)), Arc::new(Notify::new()), CancellationToken::new());
    let handler = {
        let (left, done) = (Arc::clone(&left), Arc::clone(&done));
        move |_: PublishPost| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                done.notify_one();
            }
            std::future::ready(())
        }
    };
    let start = Instant::now();
    let worker = tokio::spawn({
        let (name, queue, stop) = (name.to_owned(), queue.clone(), stop.clone());
        async move {
            run_worker(name, &queue, Concurrency::new(256), handler, stop, Duration::from_secs(5))
                .await
        }
    });
    done.notified().await;
    report(name, "drained through 256 slots", count, start);
    stop.cancel();
    worker.await.unwrap_or(Ok(()))
}

#[expect(clippy::print_stdout, reason = "this is what the example is for")]
fn report(name: &str, what: &str, count: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name}: {count} ids {what} in {seconds:.2} s, {:.0} a second",
        count as f64 / seconds
    );
}
