//! One worker and sixteen, with chats that accept 20 messages a minute: not more is sent, and hardly less.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    load::http,
    table::{number, print},
};

/// The number of chats, and of waiting posts for each.
const CHATS: usize = 10;
const POSTS: usize = 60;

/// The messages that a chat accepts in a minute.
const A_MINUTE: usize = 20;

/// The time for which the fleet is observed, in ms: two windows of the limit.
const WATCHED: i64 = 120_000;

/// Runs both fleets.
pub async fn run() {
    let mut rows = Vec::new();
    for workers in [1, 16] {
        let fleet = Fleet::start(workers);
        let chats = fleet.fill().await;
        tokio::time::sleep(Duration::from_millis(WATCHED.unsigned_abs() + 5_000)).await;
        let (mut sent, mut most, mut refused) = (0, 0, 0);
        for chat in &chats {
            let calls = fleet.calls(chat).await;
            refused += calls.iter().filter(|(_, status)| *status == 429).count();
            let times: Vec<i64> =
                calls.iter().filter(|(_, status)| *status == 200).map(|(at, _)| *at).collect();
            let first = times.first().copied().unwrap_or(0);
            sent += times.iter().filter(|at| **at < first + WATCHED).count();
            let in_a_minute =
                |from: &i64| times.iter().filter(|at| (*from..from + 60_000).contains(at)).count();
            most = most.max(times.iter().map(in_a_minute).max().unwrap_or(0));
        }
        let allowed = CHATS * A_MINUTE * 2;
        let used = sent as f64 * 100.0 / allowed as f64;
        rows.push(vec![
            format!("{workers} workers"),
            number(sent as f64),
            number(allowed as f64),
            format!("{used:.1}"),
            most.to_string(),
            refused.to_string(),
        ]);
    }
    let heads =
        ["", "sent", "allowed", "% used", "most in a minute of a chat", "refused by the network"];
    print("10 chats that take 20 messages a minute, two minutes long", &heads, &rows);
}

/// `scripts/fleet.sh`, which ends with its input.
struct Fleet {
    script: Child,
    about: Value,
}

impl Fleet {
    fn start(workers: usize) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fleet.sh");
        let mut script = Command::new(script)
            .args(["--binary", env!("CARGO_BIN_EXE_fanfare"), "--workers", &workers.to_string()])
            .env("FANFARE_LOG", "warn")
            .env("FANFARE_LIMITS_FACTOR", "1000")
            .env("FANFARE_SANDBOX_LIMITS", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/fleet.sh runs");
        let mut lines = BufReader::new(script.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { script, about: serde_json::from_str(&first).expect("the first line is JSON") }
    }

    fn text(&self, name: &str) -> &str {
        self.about[name].as_str().expect("a text")
    }

    /// Connects the chats and creates their posts, all due now; returns the chats' ids on the network.
    async fn fill(&self) -> Vec<String> {
        let (origin, key) = (self.about["api"][0].as_str().expect("an api"), self.text("key"));
        let send = async |path: &str, body: Value| -> Value {
            let url = format!("{origin}/api/v1/{path}");
            let answer = http().post(url).bearer_auth(key).json(&body).send().await;
            let answer = answer.expect("an answer");
            assert!(answer.status().is_success(), "{path}: {}", answer.status());
            answer.json().await.expect("JSON")
        };
        for _ in 0..CHATS {
            let made = send("sandbox/accounts", json!({"platform": "telegram"})).await;
            let account = &made["account"]["id"];
            for number in 0..POSTS {
                let post = json!({"account_id": account, "caption": format!("Message {number}")});
                send("posts", post).await;
            }
        }
        let listed = self.ask("accounts").await;
        let chats = listed["accounts"].as_array().expect("accounts");
        chats.iter().map(|chat| chat["remote_id"].as_str().expect("an id").to_owned()).collect()
    }

    /// Returns the time at which each public call for a chat came, in ms, and how it was answered.
    async fn calls(&self, chat: &str) -> Vec<(i64, u64)> {
        let listed = self.ask(&format!("calls?remote_id={chat}")).await;
        let calls = listed["calls"].as_array().expect("calls");
        let commits = calls.iter().filter(|call| call["phase"] == "commit");
        let at = |call: &Value| {
            let at = call["at"].as_str().expect("a time");
            fanfare_core::input::time("at", at, None).expect("a time")
        };
        commits.map(|call| (at(call), call["status"].as_u64().unwrap_or(0))).collect()
    }

    async fn ask(&self, path: &str) -> Value {
        let url = format!("{}/_control/telegram/{path}", self.text("sandbox"));
        let request = http().get(url).bearer_auth(self.text("sandbox_secret"));
        request.send().await.expect("an answer").json().await.expect("JSON")
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
