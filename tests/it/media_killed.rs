//! The service is killed, and the disk is full, in the middle of every kind of upload: there is no file without its
//! bytes, no half file, and nothing that stays for ever.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_core::failpoint;
use fanfare_media::{S3, Store};
use fanfare_tests::{Picture, User, files};
use serde_json::{Value, json};

use crate::service::{Dir, Service, eventually};

/// The ways in.
const WAYS: [&str; 4] = ["base64", "signed", "drop", "form"];

/// Prepares an upload by this way: an address of its own, if it needs one.
async fn prepared(user: &User, way: &str, size: usize) -> Value {
    match way {
        "signed" => user.announce("film.mp4", "video/mp4", size).await,
        "drop" | "form" => {
            user.post("/api/v1/media/drop-sessions", json!({})).await.expect(201).body
        }
        _ => Value::Null,
    }
}

/// Sends a film; the status, if somebody answered.
async fn send(user: &User, way: &str, prepared: &Value, film: Vec<u8>) -> Option<u16> {
    let http = fanfare_tests::local_client();
    let url = |name: &str| prepared[name].as_str().unwrap_or_default().to_owned();
    let request = match way {
        "signed" => http.put(url("upload_url")).header("Content-Type", "video/mp4").body(film),
        "drop" => http.put(format!("{}/file?name=film.mp4", url("drop_url"))).body(film),
        "form" => {
            let shown = http.get(url("drop_url")).send().await.ok()?;
            let cookie = shown.headers()["set-cookie"].to_str().unwrap().to_owned();
            let html = shown.text().await.ok()?;
            let csrf = html.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next();
            let part = reqwest::multipart::Part::bytes(film).file_name("film.mp4");
            let form = reqwest::multipart::Form::new().text("csrf", csrf.unwrap().to_owned());
            http.post(url("drop_url"))
                .header("Cookie", cookie.split(';').next().unwrap())
                .multipart(form.part("files", part))
        }
        _ => {
            let data = STANDARD.encode(film);
            let file = json!({"filename": "film.mp4", "content_type": "video/mp4", "data": data});
            http.post(format!("{}/api/v1/media/upload", user.origin))
                .bearer_auth(&user.key)
                .json(&file)
        }
    };
    request.send().await.ok().map(|reply| reply.status().as_u16())
}

async fn listed(user: &User) -> Vec<Value> {
    let list = user.get("/api/v1/media?limit=50").await.expect(200).body;
    list["media"].as_array().unwrap().clone()
}

/// Files that are whole, and files that are being written, in the store.
fn stored(dir: &Path) -> (usize, usize) {
    let (mut open, mut found) = (vec![dir.join("media")], (0, 0));
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.to_string_lossy().contains('#') {
                _ if path.is_dir() => open.push(path),
                true => found.1 += 1,
                false => found.0 += 1,
            }
        }
    }
    found
}

#[tokio::test]
async fn a_kill_during_an_upload_leaves_no_file() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let key = service.key.clone().expect("the first start prints a key");
    drop(service);
    for place in failpoint::RECEIVING {
        for way in WAYS {
            let service = Service::start(&dir, false, &[("FANFARE_FAILPOINT", place)]);
            let user = User::new(&service.origin, key.clone());
            let address = prepared(&user, way, 3_000_000).await;
            let sent =
                tokio::spawn(
                    async move { send(&user, way, &address, files::mp4(3_000_000)).await },
                );
            eventually("the failpoint is reached", || async {
                let said =
                    service.logged().iter().any(|line| line.contains("stopped at a failpoint"));
                said.then_some(())
            })
            .await;
            drop(service);
            assert_eq!(sent.await.unwrap(), None, "{way} at {place}");
        }
    }
    let service = Service::start(&dir, false, &[]);
    let user = User::new(&service.origin, key);
    assert_eq!(listed(&user).await, Vec::<Value>::new());
    // Whole files lie there from the kills after storing; they belong to nothing and are found.
    assert_eq!(stored(&dir).0, WAYS.len());
    let store =
        Store::open(&format!("file://{}", dir.join("media").display()), S3::default()).unwrap();
    store.remove_unfinished(SystemTime::now() + Duration::from_secs(60)).await.unwrap();
    assert_eq!(stored(&dir).1, 0);
    for way in WAYS {
        let address = prepared(&user, way, 3_000_000).await;
        let status = send(&user, way, &address, files::mp4(3_000_000)).await;
        assert!([Some(200), Some(201)].contains(&status), "{way}: {status:?}");
    }
    assert_eq!(listed(&user).await.len(), WAYS.len());
}

#[tokio::test]
async fn a_full_disk_during_an_upload_leaves_no_file() {
    let dir = Dir::new();
    // No file of this process may grow beyond 4 MiB: what a full disk does to a film, and not to the database.
    let private = [("FANFARE_ALLOW_PRIVATE_TARGETS", "true")];
    let service = Service::start_limited(&dir, 4 << 20, &private);
    let user = service.user();
    for way in ["signed", "drop", "form"] {
        let address = prepared(&user, way, 6_000_000).await;
        let status = send(&user, way, &address, files::mp4(6_000_000)).await;
        assert!([Some(503), Some(400)].contains(&status), "{way}: {status:?}");
        if way == "signed" {
            assert_eq!(status, Some(503));
            assert_eq!(user.fetch(&address["public_url"], &[]).await.0, 404);
        }
    }
    let film = Box::leak(files::mp4(6_000_000).into_boxed_slice());
    let url =
        crate::media::serving("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", film, false).await;
    let copied = user.post("/api/v1/media/upload-from-url", json!({ "url": url })).await;
    assert_eq!(copied.status, 503, "{}", copied.text);
    assert_eq!(listed(&user).await, Vec::<Value>::new());
    eventually("nothing of them is left", || async { (stored(&dir) == (0, 0)).then_some(()) })
        .await;
    let small = user.upload("a.png", "image/png", &files::png()).await;
    assert_eq!(listed(&user).await, [small]);
    let remote = json!({"url": Picture::serve().await.url});
    let _ = user.post("/api/v1/media/upload-from-url", remote).await.expect(201);
}
