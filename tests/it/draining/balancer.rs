//! A plain balancer: it sends each connection to the next process that was ready when it last asked.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::net::{TcpListener, TcpStream};

/// The interval at which it asks every process whether it is ready.
const ASKS_EVERY: Duration = Duration::from_millis(50);

/// A process behind it.
#[derive(Clone)]
struct Behind {
    origin: String,
    is_ready: bool,
}

/// The balancer, which ends with the test.
pub struct Balancer {
    /// Origin that callers use.
    pub origin: String,
    behind: Arc<Mutex<Vec<Behind>>>,
    refused: Arc<AtomicUsize>,
}

impl Balancer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let behind = Arc::<Mutex<Vec<Behind>>>::default();
        let refused = Arc::<AtomicUsize>::default();
        tokio::spawn(watch(Arc::clone(&behind)));
        let (own, count) = (Arc::clone(&behind), Arc::clone(&refused));
        tokio::spawn(async move {
            for turn in 0.. {
                let Ok((mut caller, _)) = listener.accept().await else { return };
                let (own, count) = (Arc::clone(&own), Arc::clone(&count));
                tokio::spawn(async move {
                    let Some(mut process) = connect(&own, turn).await else {
                        count.fetch_add(1, Ordering::Relaxed);
                        return;
                    };
                    let _ = tokio::io::copy_bidirectional(&mut caller, &mut process).await;
                });
            }
        });
        Self { origin, behind, refused }
    }

    /// Puts a process behind it, and waits until it was ready once.
    pub async fn add(&self, origin: &str) {
        let new = Behind { origin: origin.to_owned(), is_ready: false };
        self.behind.lock().expect("the lock").push(new);
        crate::service::eventually("it is ready", || async {
            let all = self.behind.lock().expect("the lock");
            all.iter().any(|one| one.origin == origin && one.is_ready).then_some(())
        })
        .await;
    }

    /// Connections for which there was no process, or whose process did not take them.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }
}

async fn watch(behind: Arc<Mutex<Vec<Behind>>>) {
    let http =
        fanfare_tests::local_client_builder().pool_max_idle_per_host(0).build().expect("a client");
    loop {
        let all = behind.lock().expect("the lock").clone();
        for one in all {
            let asked = http.get(format!("{}/readyz", one.origin)).send().await;
            let is_ready = asked.is_ok_and(|reply| reply.status().is_success());
            let mut all = behind.lock().expect("the lock");
            let same = all.iter_mut().find(|known| known.origin == one.origin);
            same.expect("nothing is taken out").is_ready = is_ready;
        }
        tokio::time::sleep(ASKS_EVERY).await;
    }
}

async fn connect(behind: &Mutex<Vec<Behind>>, turn: usize) -> Option<TcpStream> {
    let ready: Vec<_> = {
        let all = behind.lock().expect("the lock");
        all.iter().filter(|one| one.is_ready).map(|one| one.origin.clone()).collect()
    };
    let chosen = ready.get(turn % ready.len().max(1))?;
    TcpStream::connect(chosen.trim_start_matches("http://")).await.ok()
}
