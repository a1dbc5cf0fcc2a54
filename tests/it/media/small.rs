//! Small files, sent in the body of a request.

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_core::access::PlanTier;
use fanfare_entities::subscription;
use fanfare_tests::{TestApp, files};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};
use serde_json::{Value, json};

use super::{app, comes_to_store, rows, stored};

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
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
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

/// The disposition of a part of a form, and its content.
type Part<'a> = (&'a str, &'a [u8]);

/// A form with these parts: the rest of a part's header, and its body.
fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut text = Vec::new();
    for (header, body) in parts {
        text.extend(format!("--edge\r\nContent-Disposition: form-data; {header}\r\n\r\n").bytes());
        text.extend_from_slice(body);
        text.extend(b"\r\n");
    }
    text.extend(b"--edge--\r\n");
    text
}

#[tokio::test]
async fn a_small_file_may_come_as_a_form() {
    let app = app().await;
    let user = app.user().await;
    let send = async |parts: &[Part<'_>]| {
        let kind = "multipart/form-data; boundary=edge";
        user.send_raw(reqwest::Method::POST, "/api/v1/media/upload", kind, form(parts)).await
    };
    let png = files::png();
    let file = "name=\"file\"; filename=\"a.png\"";
    let typed = "name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png";
    let made = send(&[(typed, &png)]).await.expect(201).body;
    assert_eq!((&made["filename"], &made["mime"]), (&json!("a.png"), &json!("image/png")));
    assert_eq!(user.fetch(&made["public_url"], &[]).await.2, png);
    // The bytes tell their type, and a field the name.
    let named = send(&[("name=\"filename\"", b"b.png"), (file, &png)]).await.expect(201).body;
    assert_eq!((&named["filename"], &named["mime"]), (&json!("b.png"), &json!("image/png")));
    let cases: [(&[Part<'_>], u16, &str); 6] = [
        (&[("name=\"filename\"", b"b.png")], 400, "field_required"),
        (&[(file, &png), (file, &png)], 400, "invalid_field"),
        (&[("name=\"photo\"; filename=\"a.png\"", &png)], 400, "unknown_field"),
        (&[(file, &png), ("name=\"colour\"", b"red")], 400, "unknown_field"),
        (&[(file, b"<svg/>")], 400, "media_type_unsupported"),
        (&[(file, &files::mp4(4_800_000))], 413, "payload_too_large"),
    ];
    for (parts, status, code) in cases {
        let _ = send(parts).await.refused(status, code);
    }
    let kind = "multipart/form-data; boundary=edge";
    let path = "/api/v1/posts";
    let elsewhere = user.send_raw(reqwest::Method::POST, path, kind, form(&[(file, &png)])).await;
    let _ = elsewhere.refused(415, "unsupported_media_type");
    // A repeated form has another boundary and is the same request.
    let keyed = async |edge: &str| {
        let text = String::from_utf8(form(&[(
            "name=\"file\"; filename=\"a.gif\"",
            b"GIF89a\x01\0\x01\0\0\0\0,",
        )]))
        .unwrap();
        let kind = format!("multipart/form-data; boundary={edge}");
        let request = user.http.post(format!("{}/api/v1/media/upload", user.origin));
        let request = request.bearer_auth(&user.key).header("Idempotency-Key", "once");
        let request = request.header("Content-Type", kind).body(text.replace("edge", edge));
        let answer = request.send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotent-replayed");
        (answer.status().as_u16(), replayed, answer.text().await.unwrap())
    };
    let (first, again) = (keyed("one").await, keyed("two").await);
    assert_eq!((first.0, again.0), (201, 201), "{} {}", first.2, again.2);
    assert!(again.1 && first.2 == again.2, "{} {}", first.2, again.2);
}
