//! Files in forms that networks refuse: made into one that they take, or refused with a reason.

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_tests::{
    TestApp, User, networks,
    served::{FileServer, TempDir, film},
};
use serde_json::{Value, json};

/// A film's name and type, and how ffmpeg makes it.
const FILMS: &[(&str, &str, &[&str])] = &[
    ("vp9.mp4", "video/mp4", &["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"]),
    ("mpeg4.mp4", "video/mp4", &["-c:v", "mpeg4", "-q:v", "5"]),
    ("full.mp4", "video/mp4", &["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p"]),
    (
        "ten_bit.mov",
        "video/quicktime",
        &["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv422p10le"],
    ),
    ("prores.mov", "video/quicktime", &["-c:v", "prores_ks"]),
    (
        "timecode.mov",
        "video/quicktime",
        &["-c:v", "libx264", "-pix_fmt", "yuv420p", "-timecode", "01:00:00:00"],
    ),
    (
        "fragments.mp4",
        "video/mp4",
        &["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "frag_keyframe+empty_moov"],
    ),
    ("odd.mp4", "video/mp4", &["-vf", "crop=319:179", "-c:v", "libx264", "-pix_fmt", "yuv444p"]),
];

/// Published, or refused at once, or failed with a reason and a remedy; never left lying.
async fn ends_well(app: &TestApp, user: &User, account: i64, url: &str, name: &str) {
    let body = json!({"account_id": account, "caption": name, "media_urls": [url]});
    let made = user.post("/api/v1/posts", body).await;
    if made.status == 400 {
        let broken = &made.body["validation_errors"][0];
        assert!(
            broken["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()),
            "{}",
            made.text
        );
        return;
    }
    let post = networks::ended(app, user, &made.expect(201).body["post"]["id"]).await;
    assert!(
        post["status"] == "published" || post["error"]["code"] == "media_rejected",
        "{name}: {post:#}"
    );
}

#[tokio::test]
async fn films_in_a_form_that_the_network_refuses_are_converted_ahead() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    let accounts =
        [user.connect("x").await, user.connect("instagram").await, user.connect("telegram").await];
    for (name, mime, how) in FILMS {
        let args = [*how, &[*name]].concat();
        let bytes = film(&place.0, "size=320x180:rate=25:duration=4", &args);
        let file = FileServer::file(name, mime, bytes).await;
        for account in accounts {
            ends_well(&app, &user, account, &file.url, name).await;
        }
    }
}

#[tokio::test]
async fn pictures_of_a_shape_that_the_network_refuses_are_fitted_or_refused() {
    let (place, app) = (TempDir::new(), TestApp::start().await);
    let user = app.user().await;
    let account = user.connect("telegram").await;
    for size in ["200x4100", "4000x100", "7000x5400"] {
        let args = ["-frames:v", "1", "-q:v", "10", "picture.jpg"];
        let bytes = film(&place.0, &format!("size={size}:rate=1:duration=1"), &args);
        let file = FileServer::file("picture.jpg", "image/jpeg", bytes).await;
        ends_well(&app, &user, account, &file.url, size).await;
    }
}

/// The beginning of a file of this brand in the container that HEIC and AVIF share with MP4.
fn branded(brand: &[u8; 4]) -> Vec<u8> {
    [b"\0\0\0\x18ftyp", &brand[..], b"\0\0\0\0mif1", &brand[..], b"\0\0\0\x08mdat"].concat()
}

#[tokio::test]
async fn a_file_is_what_its_bytes_say_and_not_its_name() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let rows = [
        ("photo.jpg", "image/jpeg", branded(b"heic")),
        ("picture.png", "image/png", branded(b"avif")),
        ("film.mp4", "video/mp4", b"\x1aE\xdf\xa3\x93B\x82\x88matroskaB\x87\x81\x04".to_vec()),
        ("login.jpg", "image/jpeg", b"<html>please log in</html>".to_vec()),
    ];
    for (name, mime, bytes) in rows {
        let body = json!({"filename": name, "content_type": mime, "data": STANDARD.encode(&bytes)});
        let refused = user.post("/api/v1/media/upload", body).await.expect(400);
        let broken: &Value = &refused.body["validation_errors"][0];
        assert!(broken["message"].is_string() && broken["remedy"].is_string(), "{}", refused.text);
        let served = FileServer::file(name, mime, bytes).await;
        let copied = user.post("/api/v1/media/upload-from-url", json!({"url": served.url})).await;
        assert_eq!(copied.status, 400, "{name}: {}", copied.text);
    }
}

#[tokio::test]
async fn a_signed_address_is_asked_for_as_it_is() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let query = "X-Amz-Signature=a%2Fb%2Bc%3Dd&name=caf%C3%A9%20x";
    let picture = Signed::serve(query).await;
    for path in [format!("/f?{query}"), "/moved".to_owned()] {
        let body = json!({"url": format!("{}{path}", picture.origin)});
        let copied = user.post("/api/v1/media/upload-from-url", body).await.expect(201);
        assert_eq!(copied.body["mime"], "image/png");
    }
    let round = json!({"url": format!("{}/round", picture.origin)});
    let _ = user.post("/api/v1/media/upload-from-url", round).await.expect(400);
}

/// A server that gives its picture only to whoever asks with the whole query, unchanged.
struct Signed {
    origin: String,
}

impl Signed {
    async fn serve(query: &'static str) -> Self {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let picture = STANDARD
            .decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
            .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                let line = String::from_utf8_lossy(&request);
                let line = line.lines().next().unwrap_or_default().to_owned();
                let to = |place: &str| {
                    format!(
                        "HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    )
                };
                let (head, body): (String, &[u8]) = if line == format!("GET /f?{query} HTTP/1.1") {
                    let length = picture.len();
                    (
                        format!(
                            "HTTP/1.1 200 OK\r\nContent-Type:\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                        ),
                        &picture,
                    )
                } else if line.starts_with("GET /moved ") {
                    (to(&format!("/f?{query}")), b"")
                } else if line.starts_with("GET /round ") {
                    (to("/round"), b"")
                } else {
                    (
                        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                            .into(),
                        b"",
                    )
                };
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(body).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { origin }
    }
}
