//! Protection from this machine's other users and from idle connections: files that only their owner may read, and
//! connections that give way.

use std::{os::unix::fs::PermissionsExt, path::Path, time::Duration};

use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::service::{Dir, Service, eventually};

/// Every file and directory below `dir` that somebody else may use.
fn open_to_others(dir: &Path) -> Vec<String> {
    let mut open = Vec::new();
    let mut look = vec![dir.to_owned()];
    while let Some(path) = look.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.permissions().mode() & 0o077 != 0 {
            open.push(format!("{} {:o}", path.display(), about.permissions().mode() & 0o777));
        }
        if about.is_dir() {
            look.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    open
}

#[tokio::test]
async fn what_it_keeps_is_its_owners_alone() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let user = service.user();
    let account = user.connect("bluesky").await;
    let file = user.upload("a.png", "image/png", b"\x89PNG\r\n\x1a\n").await;
    assert!(file["public_url"].is_string());
    let _ = user.publish(json!({"account_id": account, "caption": "kept"})).await;
    for name in ["fanfare.db", "fanfare.db-wal", "media", "master.key", "simulator.json", "sandbox"]
    {
        assert!(dir.join(name).exists(), "{name}");
    }
    assert_eq!(open_to_others(&dir), Vec::<String>::new());
    drop(service);
    // Files that an earlier version left open to others are closed.
    for (name, mode) in
        [("", 0o755), ("fanfare.db", 0o644), ("media", 0o755), ("master.key", 0o644)]
    {
        let open = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.join(name), open).unwrap();
    }
    let _service = Service::start(&dir, false, &[]);
    assert_eq!(open_to_others(&dir), Vec::<String>::new());
}

/// The number of descriptors the service may have.
const DESCRIPTORS: u64 = 160;

#[tokio::test]
async fn idle_connections_give_way_before_descriptors_run_out() {
    let dir = Dir::new();
    let service =
        Service::start_with_descriptors(&dir, DESCRIPTORS, &[("FANFARE_LIMITS_FACTOR", "100")]);
    let address = service.origin.strip_prefix("http://").unwrap().to_owned();
    let healthy = async |when: &str| {
        let client =
            fanfare_tests::local_client_builder().timeout(Duration::from_secs(20)).build().unwrap();
        let answer = client.get(format!("{}/healthz", service.origin)).send().await;
        assert_eq!(answer.expect(when).status().as_u16(), 200, "{when}");
    };
    let mut held = Vec::new();
    for number in 0..DESCRIPTORS * 3 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        // Some say nothing, some begin a request, some were answered and stay.
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"GET /healthz HT").await.unwrap(),
            _ => stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap(),
        }
        held.push(stream);
        if number % 40 == 0 {
            healthy("while they come").await;
        }
    }
    healthy("when all are there").await;
    let user = service.user();
    let account = user.connect("bluesky").await;
    let _ = user.publish(json!({"account_id": account, "caption": "all the same"})).await;
    eventually("the post is public", async || {
        (user.on_network("bluesky", account).await.len() == 1).then_some(())
    })
    .await;
    assert!(service.logged().iter().all(|line| !line.contains("Too many open files")));
    drop(held);
}
