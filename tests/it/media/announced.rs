//! Files that are announced, and then sent to an address of their own.

use fanfare_tests::{User, files};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{app, comes_to_store, parts, rows, stored};

fn headers_of(announced: &Value) -> Vec<(String, String)> {
    let headers = announced["headers"].as_object().unwrap();
    headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
}

async fn put(user: &User, announced: &Value, bytes: Vec<u8>) -> fanfare_tests::ApiReply {
    let headers = headers_of(announced);
    let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    user.put_bytes(&announced["upload_url"], &headers, bytes).await
}

#[tokio::test]
async fn an_announced_file_is_stored_once_and_a_repetition_is_answered_the_same() {
    let app = app().await;
    let user = app.user().await;
    let film = files::mp4(3_000_000);
    let announced = user.announce("film.mp4", "video/mp4", film.len()).await;
    assert_eq!(announced["max_size"], 4_000_000_000_u64);
    assert_eq!(announced["headers"], json!({"Content-Type": "video/mp4"}));
    assert_eq!(user.fetch(&announced["public_url"], &[]).await.0, 404, "nothing is there yet");
    let sent = put(&user, &announced, film.clone()).await.expect(201).body;
    assert_eq!(sent["public_url"], announced["public_url"]);
    assert!(sent["asset_id"].is_string());
    assert_eq!(user.fetch(&announced["public_url"], &[]).await.2, film);
    let state = user.fetch(&announced["upload_url"], &[]).await;
    let state: Value = serde_json::from_slice(&state.2).unwrap();
    assert_eq!((&state["status"], &state["file"]), (&json!("stored"), &sent));
    app.advance(std::time::Duration::from_secs(3_600));
    // The reply may have been lost: the same request is answered in the same way, also after the address has expired.
    assert_eq!(put(&user, &announced, film.clone()).await.expect(201).body, sent);
    put(&user, &announced, files::mp4(9)).await.refused(400, "upload_size_mismatch");
    assert_eq!((rows(&app).await, stored(&app)), (1, 1));
    let path = format!("/api/v1/media/{}", sent["asset_id"].as_str().unwrap());
    user.delete(&path).await.expect(200);
    put(&user, &announced, film).await.refused(404, "not_found");
    assert_eq!(user.fetch(&announced["upload_url"], &[]).await.0, 404);
}

#[tokio::test]
async fn what_differs_from_the_announcement_is_refused_and_may_be_sent_again() {
    let app = app().await;
    let user = app.user().await;
    let film = files::mp4(400_000);
    let announced = user.announce("film.mp4", "video/mp4", film.len()).await;
    let url = &announced["upload_url"];
    let kind = ("Content-Type", "video/mp4");
    user.put_bytes(url, &[], film.clone()).await.refused(400, "media_type_mismatch");
    let other = ("Content-Type", "video/webm");
    user.put_bytes(url, &[other], film.clone()).await.refused(400, "media_type_mismatch");
    let gzip = ("Content-Encoding", "gzip");
    user.put_bytes(url, &[kind, gzip], film.clone()).await.refused(415, "unsupported_media_type");
    for size in [399_999, 400_001, 0] {
        let bytes = files::mp4(size);
        let refused =
            user.put_bytes(url, &[kind], bytes).await.refused(400, "upload_size_mismatch");
        assert_eq!(refused.body["validation_errors"][0]["limit"], 400_000, "{}", refused.text);
    }
    let mut webm = b"\x1a\x45\xdf\xa3\x84\x42\x82\x84webm".to_vec();
    webm.resize(400_000, 0);
    let lying = user.put_bytes(url, &[kind], webm).await;
    assert_eq!(lying.status, 400, "{}", lying.text);
    comes_to_store(&app, 0).await;
    user.put_bytes(url, &[kind], film).await.expect(201);
    assert_eq!((rows(&app).await, stored(&app)), (1, 1));
}

#[tokio::test]
async fn an_address_for_a_file_ends_after_a_while_and_after_ten_tries() {
    let app = app().await;
    let user = app.user().await;
    let film = files::mp4(10_000);
    let late = user.announce("late.mp4", "video/mp4", film.len()).await;
    app.advance(std::time::Duration::from_secs(15 * 60));
    put(&user, &late, film.clone()).await.refused(404, "not_found");
    let tried = user.announce("tried.mp4", "video/mp4", film.len()).await;
    for _ in 0..10 {
        put(&user, &tried, files::mp4(9)).await.refused(400, "upload_size_mismatch");
    }
    put(&user, &tried, film.clone()).await.refused(404, "not_found");
    let url = json!(format!("{}/upload/{}", app.origin, "x".repeat(43)));
    user.put_bytes(&url, &[("Content-Type", "video/mp4")], film).await.refused(404, "not_found");
    assert_eq!(rows(&app).await, 0);
}

#[tokio::test]
async fn of_two_who_send_the_same_announced_file_one_is_kept() {
    let app = app().await;
    let user = app.user().await;
    let film = files::mp4(2_000_000);
    let announced = user.announce("film.mp4", "video/mp4", film.len()).await;
    let (one, other) =
        tokio::join!(put(&user, &announced, film.clone()), put(&user, &announced, film.clone()));
    assert_eq!(one.expect(201).body, other.expect(201).body, "both have sent it");
    comes_to_store(&app, 1).await;
    assert_eq!(rows(&app).await, 1);
    assert_eq!(user.fetch(&announced["public_url"], &[]).await.2, film);
}

#[tokio::test]
async fn a_sender_who_hangs_up_leaves_nothing() {
    let app = app().await;
    let user = app.user().await;
    let announced = user.announce("film.mp4", "video/mp4", 9_000_000).await;
    let url = url::Url::parse(announced["upload_url"].as_str().unwrap()).unwrap();
    let address = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "PUT {} HTTP/1.1\r\nHost: {}\r\nContent-Type: video/mp4\r\nContent-Length: 9000000\r\n\r\n",
        url.path(),
        address.0
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&files::mp4(7_000_000)).await.unwrap();
    app.eventually("a part of it is on disk", || async { (parts(&app) > 0).then_some(()) }).await;
    drop(stream);
    app.eventually("it is gone", || async { (parts(&app) == 0).then_some(()) }).await;
    assert_eq!(stored(&app), 0);
    assert_eq!(rows(&app).await, 0);
    assert_eq!(user.fetch(&announced["public_url"], &[]).await.0, 404);
}
