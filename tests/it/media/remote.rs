//! Files at other addresses.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use fanfare_core::notices::Awaited;
use fanfare_entities::media_asset;
use fanfare_tests::{
    Options, Picture, TestApp,
    files::{self, plain_png},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::parts;

#[tokio::test]
async fn a_file_is_copied_from_another_address() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let picture = Picture::serve().await;
    let path = "/api/v1/media/upload-from-url";
    let body = json!({"url": picture.url, "filename": "mine.jpeg"});
    let copied = user.post(path, body.clone()).await.expect(201).body;
    assert_eq!((&copied["filename"], &copied["mime"]), (&json!("mine.png"), &json!("image/png")));
    assert_eq!(user.fetch(&copied["url"], &[]).await.2, files::png());
    let again = user.post(path, body).await.expect(201).body;
    assert_eq!((picture.asked(), &again["id"]), (1, &copied["id"]));
    let named = user.post(path, json!({"url": picture.url})).await.expect(201).body;
    assert_eq!(named["id"], copied["id"], "the same file under any name will do");
    for (url, code) in
        [("no address", "invalid_field"), ("ftp://example.com/a.png", "invalid_field")]
    {
        user.post(path, json!({ "url": url })).await.refused(400, code);
    }
    user.post(path, json!({})).await.refused(400, "field_required");
    let gone = json!({"url": picture.url.replace("picture.png", "") + "?x", "flename": "a"});
    user.post(path, gone).await.refused(400, "unknown_field");
}

#[tokio::test]
async fn a_new_post_gets_what_the_address_holds_now() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let picture = Picture::serve().await;
    let body = json!({"account_id": account, "caption": "It", "media_url": picture.url});
    let first = user.publish(body.clone()).await;
    let second = user.publish(body.clone()).await;
    assert_eq!(picture.asked(), 2, "the file may have changed");
    assert_ne!(first["media"][0]["asset_id"], second["media"][0]["asset_id"]);
    let many = user.post("/api/v1/posts/batch", json!({"posts": [body, body]})).await;
    assert!(many.status < 300, "{:#}", many.body);
    assert!(picture.asked() <= 4, "posts of one request share what is still being copied");
}

/// A server of a picture in versions, each with an `ETag` of its own; it says so if the asked one still holds.
struct Versions {
    url: String,
    now: Arc<AtomicU32>,
    sent: Arc<AtomicU32>,
    spared: Arc<AtomicU32>,
}

impl Versions {
    async fn serve(weak: &'static str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/picture.png", listener.local_addr().unwrap());
        let counters: [Arc<AtomicU32>; 3] = Default::default();
        let [now, sent, spared] = counters.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 4_096];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let asked = String::from_utf8_lossy(&head[..read]).to_ascii_lowercase();
                let version = now.load(Relaxed);
                let etag = format!("{weak}\"v{version}\"");
                if asked.contains(&format!("if-none-match: {}", etag.to_ascii_lowercase())) {
                    spared.fetch_add(1, Relaxed);
                    let reply = "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n";
                    let _ = stream.write_all(reply.as_bytes()).await;
                    continue;
                }
                sent.fetch_add(1, Relaxed);
                let file = plain_png(10 + version, 10);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nETag: {etag}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    file.len()
                );
                let _ = stream.write_all(&[head.as_bytes(), &file].concat()).await;
            }
        });
        let [now, sent, spared] = counters;
        Self { url, now, sent, spared }
    }

    fn counted(&self) -> (u32, u32) {
        (self.sent.load(Relaxed), self.spared.load(Relaxed))
    }
}

#[tokio::test]
async fn an_address_whose_etag_still_holds_is_not_fetched_again() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let source = Versions::serve("").await;
    let body = json!({"account_id": account, "caption": "It", "media_url": source.url});
    let first = user.publish(body.clone()).await["media"][0].clone();
    let second = user.publish(body.clone()).await["media"][0].clone();
    assert_eq!(source.counted(), (1, 1));
    assert_ne!(first["asset_id"], second["asset_id"], "each post has a file of its own");
    assert_eq!(user.fetch(&second["url"], &[]).await.2, plain_png(10, 10));
    source.now.store(5, Relaxed);
    let third = user.publish(body.clone()).await["media"][0].clone();
    assert_eq!(source.counted(), (2, 1));
    assert_eq!(user.fetch(&third["url"], &[]).await.2, plain_png(15, 10));
    // Another workspace knows nothing of it.
    let other = app.user().await;
    let theirs = json!({"account_id": other.connect("bluesky").await, "caption": "It", "media_url": source.url});
    let _ = other.publish(theirs).await;
    assert_eq!(source.counted(), (3, 1));
    // A weak one may stand for other bytes.
    let weak = Versions::serve("W/").await;
    let body = json!({"account_id": account, "caption": "It", "media_url": weak.url});
    for _ in 0..2 {
        let _ = user.publish(body.clone()).await;
    }
    assert_eq!(weak.counted(), (2, 0));
}

/// A server that answers every request with these bytes, and the rest of them after that for ever.
pub async fn serving(head: &'static str, body: &'static [u8], pour: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4_096]).await;
                let _ = stream.write_all(head.as_bytes()).await;
                while stream.write_all(body).await.is_ok() && pour {}
            });
        }
    });
    url
}

/// Returns the reason the copy of an address failed, once it has.
async fn reason(app: &TestApp, url: &str) -> String {
    let found = media_asset::Entity::find().filter(media_asset::Column::SourceUrl.eq(url));
    let row = found.one(&app.domain.db.read).await.unwrap();
    let error = row.and_then(|row| row.error).unwrap_or_default();
    error["code"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn what_other_addresses_give_is_looked_at() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let path = "/api/v1/media/upload-from-url";
    let large = "HTTP/1.1 200 OK\r\nContent-Length: 60000001\r\n\r\n";
    let endless = "HTTP/1.1 200 OK\r\n\r\n\0\0\0\x18ftypisom\0\0\x02\0isommp41";
    let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    let cases = [
        (serving(large, b"", false).await, "remote_media_too_large"),
        (serving(endless, &[7; 16_384], true).await, "remote_media_too_large"),
        (
            serving("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n", b"", false).await,
            "remote_media_unavailable",
        ),
        (serving(ok, b"<!doctype html><p>Log in", false).await, "remote_media_unavailable"),
        (
            serving(ok, b"<svg xmlns='http://www.w3.org/2000/svg'/>", false).await,
            "media_type_unsupported",
        ),
        (serving(ok, b"plain text", false).await, "media_type_unsupported"),
    ];
    for (url, code) in cases {
        let refused = user.post(path, json!({ "url": url })).await;
        if refused.status == 503 {
            // On a slow machine the copy outlives the request.
            app.eventually("the copy ends", || async {
                (reason(&app, &url).await == code).then_some(())
            })
            .await;
            continue;
        }
        let refused = refused.refused(400, code);
        assert_eq!(refused.body["validation_errors"][0]["field"], "url", "{}", refused.text);
    }
    app.eventually("nothing of them is left", || async { (parts(&app) == 0).then_some(()) }).await;
}

#[tokio::test]
async fn private_addresses_are_not_fetched_from_also_not_by_way_of_a_redirect() {
    let app = TestApp::with(Options { allow_private: false, ..Options::default() }).await;
    let user = app.user().await;
    for url in [
        "http://127.0.0.1/a.png",
        "https://localhost/a.png",
        "https://[::1]/a.png",
        "https://10.0.0.7/a.png",
        "https://169.254.169.254/latest/meta-data",
        "https://0x7f000001/a.png",
    ] {
        let refused = user.post("/api/v1/media/upload-from-url", json!({ "url": url })).await;
        refused.refused(400, "url_not_allowed");
    }
}

/// A server that cuts off its first callers without an answer, and serves a picture to the others.
async fn cutting(callers: usize) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a.png", listener.local_addr().unwrap());
    let png = files::png();
    tokio::spawn(async move {
        let mut seen = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4_096]).await;
            seen += 1;
            if seen > callers {
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(&[head.as_bytes(), &png].concat()).await;
            }
        }
    });
    url
}

#[tokio::test]
async fn a_connection_that_is_cut_once_is_made_again_while_the_request_waits() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (path, url) = ("/api/v1/media/upload-from-url", cutting(1).await);
    // The clock stands still: what is due a second from now is never due.
    let copied = user.post(path, json!({ "url": url })).await.expect(201).body;
    assert_eq!(copied["mime"], "image/png");
}

#[tokio::test]
async fn a_copy_that_outlives_its_request_is_found_by_the_next_one() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let (path, url) = ("/api/v1/media/upload-from-url", cutting(2).await);
    let pending = user.post(path, json!({ "url": url })).await.refused(503, "media_copy_pending");
    assert!(!pending.header("retry-after").is_empty());
    app.start_workers();
    app.eventually("the copy is tried a third time", || async {
        app.advance(std::time::Duration::from_secs(1));
        let found = media_asset::Entity::find().filter(media_asset::Column::SourceUrl.eq(&*url));
        let row = found.one(&app.domain.db.read).await.unwrap().unwrap();
        // Until it is there the row always says when there is something to do.
        assert!(row.due_at.is_some() || row.status == media_asset::AssetStatus::Ready, "{row:?}");
        (row.status == media_asset::AssetStatus::Ready).then_some(())
    })
    .await;
    user.post(path, json!({ "url": url })).await.expect(201);
}

#[tokio::test]
async fn a_request_hears_of_a_copy_that_another_process_has_made() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let picture = Picture::serve().await;
    let mut notices = app.domain.notices.subscribe();
    let asked = user.post("/api/v1/media/upload-from-url", json!({ "url": picture.url }));
    let heard = async {
        let id = app.eventually("a row is written", || async {
            let rows = media_asset::Entity::find();
            let row = rows.filter(media_asset::Column::SourceUrl.eq(&*picture.url));
            row.one(&app.domain.db.read).await.unwrap().map(|row| row.id)
        });
        let id = id.await;
        // On SQLite there is no other process.
        if app.domain.db.is_postgres() {
            app.start_other_workers().await
        } else {
            app.start_workers()
        };
        tokio::time::timeout(fanfare_tests::patience(), notices.wait_for(Awaited::Import(id)))
            .await
            .expect("a notice");
    };
    let (copied, ()) = tokio::join!(asked, heard);
    assert_eq!(copied.expect(201).body["mime"], "image/png");
}
