//! The place at which a picture or a film was made: no upload keeps it, and no network and no address is told.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_core::db::statement;
use fanfare_tests::{
    TestApp, User,
    served::{FileServer, TempDir, film},
};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The coordinates in the files' metadata, each in its own form.
const WHERE: &str = "48.8577";

/// An XMP text with the place.
fn xmp() -> String {
    format!("<x:xmpmeta xmlns:x='adobe:ns:meta/'><x exif:GPSLatitude = \"{WHERE}\"/></x:xmpmeta>")
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|found| found == word.as_bytes())
}

/// Files of every type that can say where they were made.
fn located(place: &TempDir) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let still = |name: &'static str| {
        film(&place.0, "size=64x48:rate=1:duration=1", &["-frames:v", "1", name])
    };
    let said = format!("location=+{WHERE}+002.295/");
    let apple = format!("com.apple.quicktime.location.ISO6709=+{WHERE}+002.295/");
    let moving = |name: &'static str, more: &[&str]| {
        let h264 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-metadata", &said];
        film(&place.0, "size=64x48:rate=10:duration=1", &[&h264[..], more, &[name]].concat())
    };
    let keys = ["-movflags", "use_metadata_tags", "-metadata", &apple];
    let all = vec![
        ("a.jpg", "image/jpeg", jpeg(&still("a.jpg"))),
        ("a.png", "image/png", png(&still("a.png"))),
        ("a.webp", "image/webp", webp(&still("a.webp"))),
        ("a.mp4", "video/mp4", moving("a.mp4", &keys)),
        ("a.mov", "video/quicktime", moving("a.mov", &[])),
    ];
    for (name, _, bytes) in &all {
        assert!(has(bytes, WHERE), "{name} says no place");
    }
    all
}

fn jpeg(plain: &[u8]) -> Vec<u8> {
    let content = [b"http://ns.adobe.com/xap/1.0/\0", xmp().as_bytes()].concat();
    let size = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
    // Behind the pixels there is the film that phones put there.
    let film = format!("\0\0\0\x18ftypmp42 +{WHERE}/");
    [&plain[..2], b"\xff\xe1", &size, &content, &plain[2..], film.as_bytes()].concat()
}

fn png(plain: &[u8]) -> Vec<u8> {
    let named = [b"tEXtexif:GPSLatitude\0", WHERE.as_bytes()].concat();
    let size = u32::try_from(named.len() - 4).unwrap().to_be_bytes();
    let chunk = [&size[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat();
    [&plain[..33], &chunk, &plain[33..]].concat()
}

fn webp(plain: &[u8]) -> Vec<u8> {
    let mut text = xmp().into_bytes();
    text.resize(text.len().next_multiple_of(2), b' ');
    let size = u32::try_from(text.len()).unwrap();
    let whole = u32::try_from(plain.len() - 8).unwrap() + 8 + size;
    [b"RIFF", &whole.to_le_bytes()[..], &plain[8..], b"XMP ", &size.to_le_bytes(), &text].concat()
}

/// Brings a file in by one of the ways; its public address.
async fn bring(user: &User, way: usize, name: &str, mime: &str, bytes: &[u8]) -> Value {
    match way % 4 {
        0 => user.upload(name, mime, bytes).await["public_url"].clone(),
        1 => {
            let announced = user.announce(name, mime, bytes.len()).await;
            let kind = [("Content-Type", mime)];
            let sent = user.put_bytes(&announced["upload_url"], &kind, bytes.to_vec()).await;
            sent.expect(201).body["public_url"].clone()
        }
        2 => {
            let page = user.post("/api/v1/media/drop-sessions", json!({})).await.expect(201).body;
            let url = json!(format!("{}/file?name={name}", page["drop_url"].as_str().unwrap()));
            user.put_bytes(&url, &[], bytes.to_vec()).await.expect(201);
            let session = page["session_id"].as_str().unwrap();
            let path = format!("/api/v1/media?drop_session_id={session}");
            user.get(&path).await.expect(200).body["media"][0]["public_url"].clone()
        }
        _ => {
            let file = FileServer::file(name, mime, bytes.to_vec()).await;
            let copied = json!({"url": file.url});
            let copied = user.post("/api/v1/media/upload-from-url", copied).await.expect(201);
            copied.body["url"].clone()
        }
    }
}

/// True while somebody has work in hand: for as long time stands still, or leases would end over it.
async fn is_busy(app: &TestApp) -> bool {
    let db = &app.domain.db.read;
    let mut busy = false;
    for (table, which) in [
        ("media_analyses", "due_at > 0"),
        ("media_variants", "due_at > 0"),
        ("posts", "lease_expirations > 0"),
    ] {
        let sql = format!("SELECT id FROM {table} WHERE {which} LIMIT 1");
        let found = db.query_all_raw(statement(db, sql, [])).await.unwrap();
        busy |= !found.is_empty();
    }
    busy
}

/// Waits until a post is public.
async fn published(app: &TestApp, user: &User, post: &Value) {
    let path = format!("/api/v1/posts/{}", post["id"]);
    app.eventually("the post is public", || async {
        let post = user.get(&path).await.expect(200).body["post"].clone();
        assert_ne!(post["status"], "failed", "{post:#}");
        if !is_busy(app).await {
            app.pass_time(Duration::from_secs(5)).await;
        }
        (post["status"] == "published").then_some(())
    })
    .await;
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn no_network_and_no_address_is_told_where_a_file_was_made() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    let (mastodon, threads) = (user.connect("mastodon").await, user.connect("threads").await);
    for (number, (name, mime, bytes)) in located(&place).into_iter().enumerate() {
        let url = bring(&user, number, name, mime, &bytes).await;
        let (status, _, public) = user.fetch(&url, &[]).await;
        assert_eq!((status, public.len()), (200, bytes.len()), "{name}");
        assert!(!has(&public, WHERE), "{name} is served with its place");
        let post = json!({"account_id": mastodon, "caption": name, "media_url": url});
        let post = user.publish(post).await;
        published(&app, &user, &post).await;
        let shown = user.on_network("mastodon", mastodon).await;
        let shown = shown.iter().find(|shown| shown["text"].to_string().contains(name)).unwrap();
        assert_eq!(shown["media"][0]["sha256"], digest(&public).as_str(), "{name}: {shown:#}");
    }
    // A file that a network fetches by itself, from an address in the post, and a variant that was made for the network.
    let webp = located(&place).into_iter().find(|(name, ..)| *name == "a.webp").unwrap().2;
    let file = FileServer::file("b.webp", "image/webp", webp).await;
    let post = json!({"account_id": threads, "caption": "made", "media_url": file.url});
    let post = user.publish(post).await;
    published(&app, &user, &post).await;
    let held = user.on_network("threads", threads).await;
    let made = held[0]["media"][0]["url"].clone();
    let (status, _, made) = user.fetch(&made, &[]).await;
    assert!(status == 200 && !has(&made, WHERE) && !has(&made, "GPS"), "{held:#?}");
}

#[tokio::test]
async fn what_else_a_file_says_of_itself_stays() {
    let (place, app) = (TempDir::new(), super::app().await);
    let user = app.user().await;
    let still = ["-frames:v", "1", "a.jpg"];
    let plain = film(&place.0, "size=64x48:rate=1:duration=1", &still);
    let text = "<x dc:rights='mine' exif:GPSLatitude='48.8577' photoshop:City='Paris'/>";
    let content = [b"http://ns.adobe.com/xap/1.0/\0", text.as_bytes()].concat();
    let size = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
    let photo = [&plain[..2], b"\xff\xe1", &size, &content, &plain[2..]].concat();
    let data = STANDARD.encode(&photo);
    let file = json!({"filename": "a.jpg", "content_type": "image/jpeg", "data": data});
    let file = user.post("/api/v1/media/upload", file).await.expect(201).body;
    let (_, _, public) = user.fetch(&file["public_url"], &[]).await;
    assert!(has(&public, "dc:rights='mine'") && !has(&public, "Paris") && !has(&public, WHERE));
}
