//! The first start of the whole service, killed.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use crate::service::{Dir, Service};

/// The moments of the kills, in ms after the start of the process: they reach from before its first file to its running.
const MOMENTS: [u64; 14] = [5, 15, 25, 35, 45, 55, 65, 80, 95, 110, 130, 160, 200, 300];

#[tokio::test]
async fn a_service_starts_whenever_its_first_start_was_killed() {
    for moment in MOMENTS {
        let dir = Dir::new();
        std::fs::create_dir_all(&*dir).unwrap();
        // The second kill meets what the first one left.
        for _ in 0..2 {
            let mut killed = Command::new(env!("CARGO_BIN_EXE_fanfare"))
                .arg("up")
                .env("FANFARE_LISTEN", "127.0.0.1:0")
                .env("FANFARE_DATA_DIR", &*dir)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            tokio::time::sleep(Duration::from_millis(moment)).await;
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        let service = Service::start(&dir, false, &[]);
        let user = fanfare_tests::User::new(&service.origin, String::new());
        assert_eq!(
            user.get("/healthz").await.status,
            200,
            "killed after {moment} ms: {:?}",
            service.logged()
        );
    }
}
