//! Files on their way in: by every way there is, with everything that can be wrong with them, and out again.

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_domain::access::{PlanTier, Role, Scope};
use fanfare_entities::{media_asset, subscription};
use fanfare_tests::{Options, Picture, TestApp, User, files};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, sea_query::Expr};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn app() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// How many files the workspaces of the service have.
async fn rows(app: &TestApp) -> u64 {
    media_asset::Entity::find().count(&app.domain.db.read).await.unwrap()
}

/// How many files lie in its store.
fn stored(app: &TestApp) -> usize {
    let (mut open, mut found) = (vec![app.dir().join("media")], 0);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found += 1 }
        }
    }
    found
}

/// How many files are being written: in the directory of the store, or by its server beside that.
fn parts(app: &TestApp) -> usize {
    let beside = std::fs::read_dir(app.dir()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".upload_id-")
    });
    beside.count() + stored(app)
}

/// Waits for what is removed in the background.
async fn comes_to_store(app: &TestApp, wanted: usize) {
    app.eventually("what was given up is gone", || async { (stored(app) == wanted).then_some(()) })
        .await;
}

fn headers_of(announced: &Value) -> Vec<(String, String)> {
    let headers = announced["headers"].as_object().unwrap();
    headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
}

async fn put(user: &User, announced: &Value, bytes: Vec<u8>) -> fanfare_tests::Answer {
    let headers = headers_of(announced);
    let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    user.put_bytes(&announced["upload_url"], &headers, bytes).await
}

async fn on_plan(app: &TestApp, plan: PlanTier) {
    subscription::Entity::update_many()
        .col_expr(subscription::Column::PlanTier, Expr::value(plan))
        .exec(&app.domain.db.write)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_small_file_is_sent_listed_served_and_posted() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let file = user.upload("C:\\photos\\my  photo.jpeg.png", "image/png", &files::png()).await;
    assert_eq!(file["filename"], "my photo.jpeg.png");
    assert_eq!((&file["asset_id"], &file["url"]), (&file["id"], &file["public_url"]));
    assert_eq!((file["width"].as_i64(), file["height"].as_i64()), (Some(2), Some(2)));
    assert_eq!(file["bytes"], files::png().len());
    let list = user.get("/api/v1/media").await.expect(200).body;
    assert_eq!((&list["media"][0], &list["next_cursor"]), (&file, &Value::Null));
    let (status, headers, bytes) = user.fetch(&file["public_url"], &[]).await;
    assert_eq!((status, headers["content-type"].as_bytes()), (200, &b"image/png"[..]));
    assert_eq!(bytes, files::png());
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "It", "media_url": file["public_url"]});
    let post = user.publish(post).await;
    assert_eq!(post["media"][0]["asset_id"], file["id"]);
    app.settled(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    assert_eq!(user.on_network("bluesky", account).await.len(), 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_small_file_is_said_and_leaves_nothing() {
    let app = app().await;
    let user = app.user().await;
    let file = |name: &str, mime: &str, bytes: &[u8]| json!({"filename": name, "content_type": mime, "data": STANDARD.encode(bytes)});
    let png = files::png();
    let cases = [
        (json!({}), "field_required"),
        (
            json!({"filename": "a", "content_type": "image/png", "data": "", "dta": 1}),
            "unknown_field",
        ),
        (
            json!({"filename": "a", "content_type": "image/png", "data": "no base64!"}),
            "invalid_field",
        ),
        (file("", "image/png", &png), "invalid_field"),
        (file(&"x".repeat(256), "image/png", &png), "invalid_field"),
        (file("a.png", "image/png", b""), "invalid_field"),
        (file("a.svg", "image/svg+xml", b"<svg/>"), "media_type_unsupported"),
        (file("a.heic", "image/heic", &files::heic()), "media_type_unsupported"),
        (file("a.png", "image/png", b"<svg/>"), "media_type_unsupported"),
        (file("a.png", "image/png", b"<!doctype html><script>"), "media_type_unsupported"),
        (file("a.jpg", "image/jpeg", &png), "media_type_mismatch"),
        (file("a.mp4", "video/mp4", &png), "media_type_mismatch"),
    ];
    for (body, code) in cases {
        let refused = user.post("/api/v1/media/upload", body).await.refused(400, code);
        assert!(refused.body["validation_errors"][0]["remedy"].is_string(), "{}", refused.text);
    }
    let heic = user.post("/api/v1/media/upload", file("a.png", "image/png", &files::heic())).await;
    let heic = heic.refused(400, "media_type_unsupported");
    assert!(heic.text.contains("Save it as JPEG"), "{}", heic.text);
    let large = file("a.mp4", "video/mp4", &files::mp4(6_000_000));
    let large = user.post("/api/v1/media/upload", large).await.refused(413, "payload_too_large");
    assert_eq!(large.body["limit"], 6 << 20);
    assert_eq!(rows(&app).await, 0);
    comes_to_store(&app, 0).await;
}

#[tokio::test]
async fn the_relay_of_old_takes_five_megabytes() {
    let app = app().await;
    let user = app.user().await;
    let file = |size| {
        let data = STANDARD.encode(files::mp4(size));
        json!({"filename": "a.mp4", "content_type": "video/mp4", "data": data})
    };
    let path = "/api/v1/media/signed-upload/upload";
    let taken = user.post(path, file(5_000_000)).await.expect(201).body;
    assert_eq!(taken["bytes"], 5_000_000);
    for size in [5_000_001, 6_000_000] {
        user.post(path, file(size)).await.refused(413, "FUNCTION_PAYLOAD_TOO_LARGE");
    }
    user.post("/api/v1/media/upload/signed", json!({})).await.refused(404, "not_found");
    assert_eq!((rows(&app).await, stored(&app)), (1, 1));
}

#[tokio::test]
async fn an_announced_file_is_sent_once_to_its_own_address() {
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
    put(&user, &announced, film).await.refused(404, "not_found");
    assert_eq!((rows(&app).await, stored(&app)), (1, 1));
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
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 404], "{} {}", one.text, other.text);
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

#[tokio::test]
async fn the_plan_says_how_large_a_file_may_be() {
    let app = app().await;
    let user = app.user().await;
    let mb = 1_000_000_u64;
    for (plan, image, video) in [
        (PlanTier::Starter, 50, 500),
        (PlanTier::Pro, 100, 750),
        (PlanTier::PowerUser, 150, 1_000),
        (PlanTier::Agency, 250, 4_000),
    ] {
        on_plan(&app, plan).await;
        for (mime, most) in [("image/png", image), ("video/mp4", video), ("application/pdf", image)]
        {
            let file = |size: u64| json!({"filename": "a", "content_type": mime, "size": size});
            let path = "/api/v1/media/signed-upload";
            let fits = user.post(path, file(most * mb)).await.expect(201);
            assert_eq!(fits.body["max_size"], most * mb);
            let refused =
                user.post(path, file(most * mb + 1)).await.refused(400, "media_too_large");
            assert_eq!(refused.body["validation_errors"][0]["limit"], most * mb);
        }
    }
    for size in [0, -1] {
        let file = json!({"filename": "a", "content_type": "image/png", "size": size});
        user.post("/api/v1/media/signed-upload", file).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn the_same_bytes_lie_in_the_store_once_and_are_served_under_names_of_their_own() {
    let app = app().await;
    let (user, other) = (app.user().await, app.user().await);
    let one = user.upload("one.png", "image/png", &files::png()).await;
    let two = user.upload("two.png", "image/png", &files::png()).await;
    assert_ne!((&one["id"], &one["public_url"]), (&two["id"], &two["public_url"]));
    assert_eq!(stored(&app), 1);
    // Another workspace cannot learn from that whether somebody has a file.
    let theirs = other.upload("one.png", "image/png", &files::png()).await;
    assert_eq!(stored(&app), 2);
    user.delete(&format!("/api/v1/media/{}", one["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(user.fetch(&one["public_url"], &[]).await.0, 404);
    assert_eq!(user.fetch(&two["public_url"], &[]).await.2, files::png());
    user.delete(&format!("/api/v1/media/{}", two["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(stored(&app), 1);
    assert_eq!(user.fetch(&theirs["public_url"], &[]).await.2, files::png());
}

#[tokio::test]
async fn a_file_is_served_in_stretches_kept_for_ever_and_never_as_a_page() {
    let app = app().await;
    let user = app.user().await;
    let file = user.upload("dot.gif", "image/gif", &files::gif()).await;
    let (gif, url) = (files::gif(), &file["public_url"]);
    let (status, headers, _) = user.fetch(url, &[]).await;
    let header = |name: &str| headers.get(name).map_or("", |value| value.to_str().unwrap());
    assert_eq!((status, header("x-content-type-options")), (200, "nosniff"));
    assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header("content-security-policy"), "sandbox; default-src 'none'");
    let tag = header("etag").to_owned();
    assert_eq!(user.fetch(url, &[("If-None-Match", &tag)]).await.0, 304);
    let (status, headers, part) = user.fetch(url, &[("Range", "bytes=3-5")]).await;
    assert_eq!((status, part.as_slice()), (206, &gif[3..6]));
    assert_eq!(headers["content-range"], format!("bytes 3-5/{}", gif.len()).as_str());
    assert_eq!(user.fetch(url, &[("Range", "bytes=900-")]).await.0, 416);
    let head = reqwest::Client::new().head(url.as_str().unwrap()).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], gif.len().to_string().as_str());
    for path in
        ["/media/", "/media/x.png", "/media/../api/v1/media", "/media/assets", "/media/%2e%2e/x"]
    {
        let url = json!(format!("{}{path}", app.origin));
        let (status, ..) = user.fetch(&url, &[]).await;
        assert!([401, 404].contains(&status), "{path}: {status}");
    }
}

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

/// Why the copy of an address failed, once it has.
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

#[tokio::test]
async fn files_belong_to_their_workspace() {
    let app = app().await;
    let (user, other) = (app.user().await, app.user().await);
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let path = format!("/api/v1/media/{}", file["id"].as_str().unwrap());
    assert_eq!(other.get("/api/v1/media").await.expect(200).body["media"], json!([]));
    other.delete(&path).await.refused(404, "media_not_found");
    other.delete("/api/v1/media/nonsense").await.refused(404, "media_not_found");
    let account = other.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "x", "media_url": file["public_url"]});
    other.post("/api/v1/posts", post).await.refused(400, "invalid_field");
    let workspace = user.get("/api/v1/whoami").await.body["default_workspace"]["id"].clone();
    for (path, mut body) in [
        (
            "upload",
            json!({"filename": "a.gif", "content_type": "image/gif", "data": STANDARD.encode(files::gif())}),
        ),
        ("signed-upload", json!({"filename": "a.gif", "content_type": "image/gif", "size": 9})),
        (
            "signed-upload/upload",
            json!({"filename": "a.gif", "content_type": "image/gif", "data": ""}),
        ),
        ("upload-from-url", json!({"url": "https://example.com/a.png"})),
        ("drop-sessions", json!({})),
    ] {
        body["workspace_id"] = workspace.clone();
        let path = format!("/api/v1/media/{path}");
        other.post(&path, body.clone()).await.refused(404, "workspace_not_found");
        app.nobody().post(&path, body).await.refused(401, "missing_api_key");
    }
    other
        .get(&format!("/api/v1/media?workspace_id={}", workspace.as_str().unwrap()))
        .await
        .refused(404, "workspace_not_found");
}

#[tokio::test]
async fn files_need_their_scope_and_a_role() {
    let app = app().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (_, viewer) = app.member(team, Role::Viewer).await;
    let file = json!({"filename": "a.gif", "content_type": "image/gif", "data": STANDARD.encode(files::gif())});
    viewer
        .post("/api/v1/media/upload", file.clone())
        .await
        .refused(403, "insufficient_workspace_permissions");
    viewer.get("/api/v1/media").await.expect(200);
    let (_, editor) = app.member(team, Role::Editor).await;
    editor.post("/api/v1/media/upload", file.clone()).await.expect(201);
    let scopes: Vec<_> =
        Scope::ALL.into_iter().filter(|scope| *scope != Scope::MediaWrite).collect();
    let without = app.key(owner, Some(team), &scopes).await;
    without.post("/api/v1/media/upload", file).await.refused(403, "insufficient_scope");
    without.get("/api/v1/media").await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn a_seat_locked_to_brands_sees_the_files_it_brought() {
    let app = app().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (locked, editor) = app.member(team, Role::Editor).await;
    app.brand(team, &[locked]).await;
    let boss = app.key(owner, Some(team), &Scope::ALL).await;
    let theirs = boss.upload("theirs.png", "image/png", &files::png()).await;
    let own = editor.upload("own.gif", "image/gif", &files::gif()).await;
    let seen = editor.get("/api/v1/media").await.expect(200).body;
    assert_eq!(seen["media"], json!([own]));
    assert_eq!(boss.get("/api/v1/media").await.expect(200).body["media"], json!([own, theirs]));
    let path = format!("/api/v1/media/{}", theirs["id"].as_str().unwrap());
    editor.delete(&path).await.refused(404, "media_not_found");
    boss.delete(&path).await.expect(200);
}

#[tokio::test]
async fn the_list_is_read_page_by_page() {
    let app = app().await;
    let user = app.user().await;
    let mut made = Vec::new();
    for number in 0..12 {
        made.push(user.upload(&format!("{number}.gif"), "image/gif", &files::gif()).await);
    }
    made.reverse();
    let first = user.get("/api/v1/media").await.expect(200).body;
    assert_eq!(first["media"], json!(made[..10]));
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = user.get(&format!("/api/v1/media?limit=50&cursor={cursor}")).await.expect(200).body;
    assert_eq!((&rest["media"], &rest["next_cursor"]), (&json!(made[10..]), &Value::Null));
    for query in ["limit=0", "limit=51", "limit=x", "cursor=x", "drop_session_id=x"] {
        user.get(&format!("/api/v1/media?{query}")).await.refused(400, "invalid_field");
    }
    user.get("/api/v1/media?limt=5").await.refused(400, "unknown_field");
    let nobody = "/api/v1/media?drop_session_id=01890000-0000-7000-8000-000000000000";
    assert_eq!(user.get(nobody).await.expect(200).body["media"], json!([]));
}

#[tokio::test]
async fn a_repeated_upload_is_answered_as_before() {
    let app = app().await;
    let user = app.user().await;
    let file = json!({"filename": "a.gif", "content_type": "image/gif", "data": STANDARD.encode(files::gif())});
    let first = user.post_keyed("/api/v1/media/upload", "k1", &file).await.expect(201);
    let again = user.post_keyed("/api/v1/media/upload", "k1", &file).await.expect(201);
    assert_eq!((first.body, again.header("idempotent-replayed")), (again.body.clone(), "true"));
    let announce = json!({"filename": "a.gif", "content_type": "image/gif", "size": 9});
    let first = user.post_keyed("/api/v1/media/signed-upload", "k2", &announce).await.expect(201);
    let again = user.post_keyed("/api/v1/media/signed-upload", "k2", &announce).await.expect(201);
    assert_eq!(first.body, again.body);
    // The address is a secret; at rest there is none of it.
    let token = first.body["upload_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let kept = fanfare_entities::idempotency_key::Entity::find()
        .filter(fanfare_entities::idempotency_key::Column::Key.eq("k2"))
        .one(&app.domain.db.read)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((kept.body, kept.secret_id.is_some()), (None, true));
    let kept =
        fanfare_entities::upload::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap();
    assert!(kept.token_hash != token && kept.token_hash.len() == 64);
    assert_eq!(rows(&app).await, 1);
}

#[tokio::test]
async fn a_host_of_its_own_serves_files_and_nothing_else() {
    let own = Some("http://media.example.com/files".to_owned());
    let options = Options { workers: false, media_base_url: own, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let url = file["public_url"].as_str().unwrap();
    let path = url.strip_prefix("http://media.example.com").unwrap_or_else(|| panic!("{url}"));
    let host = [("Host", "media.example.com")];
    let at = |path: &str| json!(format!("{}{path}", app.origin));
    let (status, headers, bytes) = user.fetch(&at(path), &host).await;
    assert_eq!((status, bytes), (200, files::png()));
    assert_eq!(headers["x-content-type-options"], "nosniff");
    for path in
        ["/", "/docs", "/openapi.json", "/admin/login", "/api/v1/media", "/files/", "/files/x.png"]
    {
        assert_eq!(user.fetch(&at(path), &host).await.0, 404, "{path}");
    }
    let put = user.put_bytes(&at(path), &host, files::png()).await;
    assert_eq!(put.status, 405);
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "x", "media_url": url, "status": "draft"});
    assert_eq!(user.publish(post).await["media"][0]["asset_id"], file["id"]);
}
