//! Redis over TLS, behind a CA of the operator's own.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::service::{Dir, Service, eventually};

/// A private Redis that speaks TLS on a port beside its plain one; it ends with its input.
struct Redis {
    script: Child,
    plain: String,
    port: u16,
}

impl Redis {
    fn start(certificates: &Path) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let file = |name: &str| certificates.join(name).display().to_string();
        let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/redis.sh"))
            .args(["--tls-port", &port.to_string(), "--tls-auth-clients", "no"])
            .args(["--tls-cert-file", &file("server.pem"), "--tls-key-file", &file("server.key")])
            .args(["--tls-ca-cert-file", &file("ca.pem")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/redis.sh runs");
        let mut lines = BufReader::new(script.stdout.take().expect("its output")).lines();
        let plain = lines.next().expect("its address").expect("its address");
        Self { script, plain, port }
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("redis-cli");
        let said = command.args(["-u", &self.plain]).args(arguments).output().expect("redis-cli");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

fn openssl(dir: &Path, arguments: &str) {
    let ran = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output();
    let ran = ran.expect("openssl is installed (scripts/install.sh)");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A CA, and a certificate of this machine signed by it.
fn certificates(dir: &Path) {
    std::fs::create_dir_all(dir).expect("a directory");
    std::fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost").expect("a file");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(dir, &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=Test-CA"));
    openssl(dir, &format!("req {key} -keyout server.key -out server.csr -subj /CN=redis"));
    openssl(
        dir,
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    // The server runs as a user of its own.
    for (name, mode) in [("", 0o755), ("server.key", 0o644)] {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.join(name), permissions).expect("permissions");
    }
}

/// Returns the report of `fanfare doctor` on Redis.
fn doctor(dir: &Path, url: &str, trusted: &Path) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_fanfare"))
        .arg("doctor")
        .env("FANFARE_DATA_DIR", dir)
        .env("FANFARE_REDIS_URL", url)
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .output()
        .expect("the doctor comes");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    said.lines().find(|line| line.contains("redis:")).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_redis_behind_a_private_ca() {
    let (dir, keys) = (Dir::new(), Dir::new());
    certificates(&keys);
    let redis = Redis::start(&keys);
    let url = format!("rediss://127.0.0.1:{}", redis.port);
    let ca = keys.join("ca.pem");

    assert_eq!(doctor(&dir, &url, &ca), "ok       redis: answers");
    let other = Dir::new();
    certificates(&other);
    let stranger = doctor(&dir, &url, &other.join("ca.pem"));
    assert!(stranger.starts_with("MISSING") && stranger.contains("certificate"), "{stranger}");

    let trusted = ca.display().to_string();
    let variables = [("FANFARE_REDIS_URL", url.as_str()), ("SSL_CERT_FILE", &trusted)];
    let service = Service::start(&dir, true, &variables);
    let user = service.user();
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "Over TLS"})).await;
    let path = format!("/api/v1/posts/{}", post["id"]);
    eventually("the post is published", || async {
        let post = user.get(&path).await.expect(200).body["post"].clone();
        (post["status"] == "published").then_some(())
    })
    .await;
    // The id went in, once or more, and out again: the counter stands, the queue is empty.
    let pushed = redis.ask(&["GET", "fanfare:{publish_post}:order"]);
    assert!(pushed.parse::<u64>().is_ok_and(|pushed| pushed > 0), "{pushed:?}");
    assert_eq!(redis.ask(&["ZCARD", "fanfare:{publish_post}:due"]), "0");
}
