//! An API process that is asked to stop says so first, and closes when balancers have had time to notice.

mod balancer;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use fanfare_tests::{Options, TestApp, User};
use serde_json::json;

use crate::{
    service::{Dir, Service, eventually},
    worker::command,
};
use balancer::Balancer;

/// The time that balancers have; much longer than the one of this story needs.
const DELAY: &str = "3s";

/// An API process, killed at the latest with the test.
struct Api {
    process: Child,
    origin: String,
}

impl Api {
    fn start(app: &TestApp) -> Self {
        let mut process = command(app)
            .arg("api")
            .env("FANFARE_LISTEN", "127.0.0.1:0")
            .env("FANFARE_LIMITS_FACTOR", "1000")
            .env("FANFARE_DRAIN_DELAY", DELAY)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        let origin = first.split_whitespace().last().expect("an address").to_owned();
        Self { process, origin }
    }

    /// Asks it to stop and waits until it has ended well.
    async fn stop(mut self) {
        terminate(self.process.id());
        let ended = eventually("it ends", || async {
            let pid = self.process.id().to_string();
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok();
            state.is_none_or(|state| state.contains(") Z ")).then_some(())
        });
        ended.await;
        assert!(self.process.wait().expect("it has ended").success());
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn terminate(pid: u32) {
    let sent = Command::new("kill").args(["-TERM", &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_asked_to_stop_says_so_before_it_closes() {
    let dir = Dir::new();
    let service = Service::on_stack(&dir, &[("FANFARE_DRAIN_DELAY", DELAY)]).await;
    let (user, http) = (service.user(), fanfare_tests::local_client());
    let account = user.connect("bluesky").await;
    let body =
        json!({"account_id": account, "caption": "Later", "scheduled_at": "2099-01-01T00:00:00Z"});
    let id = user.publish(body.clone()).await["id"].clone();
    let path = format!("/api/v1/posts/{id}?wait=25&wait_for=final");
    let patient = User::new(&user.origin, user.key.clone());
    let waits = tokio::spawn(async move { patient.get(&path).await });
    user.get("/readyz").await.expect(200);
    terminate(service.pid());
    let told = eventually("it says that it stops", || async {
        let reply = user.get("/readyz").await;
        (reply.status == 503).then_some(reply)
    })
    .await;
    assert_eq!(told.body["reasons"], json!(["This process is being stopped."]));
    // Whoever comes before the balancer has noticed is answered, and asked to come by another connection.
    let made = http
        .post(format!("{}/api/v1/posts", user.origin))
        .bearer_auth(&user.key)
        .json(&body)
        .send()
        .await
        .expect("it answers");
    assert_eq!(made.status(), 201);
    assert_eq!(made.headers()["connection"], "close");
    user.get("/healthz").await.expect(200);
    // A wait that had begun ends with what there is.
    let waited = waits.await.expect("it is answered").expect(200);
    assert_eq!(waited.body["post"]["status"], "scheduled");
    let address = user.origin.trim_start_matches("http://").to_owned();
    eventually("nothing listens any more", || async {
        tokio::net::TcpStream::connect(&address).await.is_err().then_some(())
    })
    .await;
}

/// Makes a post and reads it, again and again.
async fn use_it(user: User, account: i64, ends: Arc<AtomicBool>) -> usize {
    let mut answered = 0;
    while !ends.load(Ordering::Relaxed) {
        let body = json!({"account_id": account, "caption": "A draft", "status": "draft"});
        let made = user.post("/api/v1/posts", body).await.expect(201);
        user.get(&format!("/api/v1/posts/{}", made.body["post"]["id"])).await.expect(200);
        answered += 2;
    }
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_behind_a_balancer_refuses_nothing() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let balancer = Balancer::start().await;
    let mut old = vec![Api::start(&app), Api::start(&app)];
    for api in &old {
        balancer.add(&api.origin).await;
    }
    let ends = Arc::<AtomicBool>::default();
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let caller = User::new(&balancer.origin, user.key.clone());
            tokio::spawn(use_it(caller, account, Arc::clone(&ends)))
        })
        .collect();
    let mut new = Vec::new();
    while let Some(api) = old.pop() {
        api.stop().await;
        let next = Api::start(&app);
        balancer.add(&next.origin).await;
        new.push(next);
    }
    ends.store(true, Ordering::Relaxed);
    for caller in callers {
        assert!(caller.await.expect("every request is answered") > 0);
    }
    assert_eq!(balancer.refused(), 0);
}
