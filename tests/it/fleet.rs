//! `make fleet` on this machine: two api processes and workers on private servers, one of them killed, all of it gone
//! in the end.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use fanfare_tests::User;
use serde_json::{Value, json};

use crate::service::eventually;

/// A fleet, told to stop at the latest with the test by the end of its input.
struct Fleet {
    script: Child,
    about: Value,
}

impl Fleet {
    fn start(workers: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fleet.sh");
        let mut script = Command::new(script)
            .args(["--binary", env!("CARGO_BIN_EXE_fanfare"), "--workers", workers])
            .args(["--", "--concurrency", "8"])
            .env("FANFARE_LOG", "warn")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/fleet.sh runs");
        let mut lines = BufReader::new(script.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { script, about: serde_json::from_str(&first).expect("the first line is JSON") }
    }

    fn user(&self, api: usize) -> User {
        let origin = self.about["api"][api].as_str().expect("an api");
        User::new(origin, self.about["key"].as_str().expect("a key").to_owned())
    }

    fn process(&self, name: &str) -> &Value {
        let all = self.about["processes"].as_array().expect("processes");
        all.iter().find(|process| process["name"] == name).expect("the process")
    }

    /// True while one of its processes runs or its files are there.
    fn is_there(&self) -> bool {
        let all = self.about["processes"].as_array().expect("processes");
        let mut pids = all.iter().map(|process| process["pid"].as_u64().expect("an id"));
        let log = Path::new(all[0]["log"].as_str().expect("a log"));
        let is_running = |pid: u64| {
            let program = std::fs::read_link(format!("/proc/{pid}/exe"));
            program.is_ok_and(|program| program.ends_with("fanfare"))
        };
        pids.any(is_running) || log.parent().expect("a directory").exists()
    }

    fn signal(pid: u64, signal: &str) {
        let sent = Command::new("kill").args([signal, &pid.to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }
}

/// Makes a post through each of two api processes and sees both go out.
async fn publish(one: &User, other: &User, account: i64) {
    for user in [one, other] {
        let post = user.publish(json!({"account_id": account, "caption": "Hello"})).await;
        let path = format!("/api/v1/posts/{}", post["id"]);
        eventually("a worker publishes", || async {
            let post = one.get(&path).await.expect(200).body["post"].clone();
            (post["status"] == "published").then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_fleet_outlives_a_worker_and_leaves_nothing_behind() {
    let mut fleet = Fleet::start("2");
    let (one, other) = (fleet.user(0), fleet.user(1));
    let account = one.connect("bluesky").await;
    publish(&one, &other, account).await;
    // Rows that a killed worker holds are taken over when their leases expire, which other stories wait for.
    Fleet::signal(fleet.process("worker-1")["pid"].as_u64().unwrap(), "-KILL");
    publish(&one, &other, account).await;
    assert_eq!(one.on_network("bluesky", account).await.len(), 4);
    let address = fleet.process("worker-2")["metrics"].as_str().unwrap();
    let page = fanfare_tests::local_client().get(format!("http://{address}/metrics")).send().await;
    assert!(page.unwrap().text().await.unwrap().contains("fanfare_info{version="));

    drop(fleet.script.stdin.take());
    let ended = fleet.script.wait().expect("it ends");
    assert!(ended.success(), "{ended}");
    assert!(!fleet.is_there(), "something is left");
}

#[tokio::test]
async fn a_killed_fleet_leaves_nothing_behind_either() {
    let mut fleet = Fleet::start("1");
    fleet.script.kill().expect("it is killed");
    let _ = fleet.script.wait();
    eventually("nothing is left", || async { (!fleet.is_there()).then_some(()) }).await;
}
