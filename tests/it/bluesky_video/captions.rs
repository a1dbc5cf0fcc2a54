//! Captions and alt texts of a video.

use fanfare_tests::{files, networks};
use serde_json::json;

use super::{CAPTIONS, Stage, steps};

#[tokio::test]
async fn captions_and_an_alt_text_go_out_with_the_video() {
    let stage = Stage::new().await;
    let (en, pt) = (stage.captions(CAPTIONS).await, stage.captions("WEBVTT\n\nNOTE leer\n").await);
    let captions = json!([{"lang": "en", "url": en}, {"lang": "pt-BR", "url": pt}]);
    let settings = json!({"captions": captions, "media_alt_texts": ["Hands fold a paper crane"]});
    let post = stage.publish("How it works", settings).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = stage.held().await;
    let expected = json!([{"lang": "en", "bytes": CAPTIONS.len()}, {"lang": "pt-BR", "bytes": 18}]);
    assert_eq!(held[0]["captions"], expected, "{:#}", held[0]);
    assert_eq!(held[0]["media"][0]["alt"], "Hands fold a paper crane");
    let names = steps(&stage.user, &post).await;
    let last: Vec<_> = names.iter().rev().take(3).rev().map(String::as_str).collect();
    assert_eq!(last, ["upload_captions_1", "upload_captions_2", "create_post"]);
}

#[tokio::test]
async fn captions_are_checked_before_anything_is_sent() {
    let stage = Stage::new().await;
    let ours = stage.captions(CAPTIONS).await;
    let picture =
        stage.user.upload("a.png", "image/png", &files::png()).await["public_url"].clone();
    let long = stage.captions(&format!("WEBVTT\n\n{}", "a".repeat(19_993))).await;
    let others = stage.app.user().await;
    let foreign =
        others.upload("c.vtt", "text/vtt", CAPTIONS.as_bytes()).await["public_url"].clone();
    for (place, captions) in [
        ("[0].url", json!([{"lang": "en", "url": "https://example.org/captions.vtt"}])),
        ("[0].url", json!([{"lang": "en", "url": picture}])),
        ("[0].url", json!([{"lang": "en", "url": long}])),
        ("[0].url", json!([{"lang": "en", "url": foreign}])),
        ("[1].lang", json!([{"lang": "en", "url": ours}, {"lang": "EN", "url": ours}])),
        ("[0].lang", json!([{"lang": "english", "url": ours}])),
    ] {
        let told = stage.refused(json!({"captions": captions}), "setting_invalid").await;
        let field = format!("settings.captions{place}");
        assert_eq!(told.body["validation_errors"][0]["field"], field, "{}", told.text);
    }
    let text = json!({"account_id": stage.account, "caption": "No video", "settings": {"captions": [{"lang": "en", "url": ours}]}});
    stage.user.post("/api/v1/posts", text).await.refused(400, "setting_invalid");
    // Captions are no media of a post.
    let media =
        json!({"account_id": stage.account, "caption": "Captions alone", "media_url": ours});
    stage.user.post("/api/v1/posts", media).await.refused(400, "media_type_unsupported");
    assert!(stage.held().await.is_empty());
}

#[tokio::test]
async fn captions_are_text_of_a_megabyte_at_most() {
    let stage = Stage::new().await;
    let upload = |bytes: Vec<u8>| {
        use base64::prelude::{BASE64_STANDARD, Engine as _};
        let data = BASE64_STANDARD.encode(bytes);
        let body = json!({"filename": "c.vtt", "content_type": "text/vtt", "data": data});
        async { stage.user.post("/api/v1/media/upload", body).await }
    };
    let _ = upload(b"WEBVTT\n\n\xff\xfe".to_vec()).await.refused(400, "media_type_unsupported");
    let _ = upload(b"1\n00:00 --> 00:01\nHello\n".to_vec())
        .await
        .refused(400, "media_type_unsupported");
    let large = |bytes: usize| [b"WEBVTT\n\n".to_vec(), vec![b'a'; bytes - 8]].concat();
    let _ = upload(large(1 << 20)).await.expect(201);
    let _ = upload(large((1 << 20) + 1)).await.refused(400, "media_too_large");
    let announced = json!({"filename": "c.vtt", "content_type": "text/vtt", "size": (1 << 20) + 1});
    let _ = stage
        .user
        .post("/api/v1/media/signed-upload", announced)
        .await
        .refused(400, "media_too_large");

    let url = stage.captions(CAPTIONS).await;
    let (status, headers, bytes) = stage.user.fetch(&url, &[]).await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "text/vtt"));
    assert_eq!(bytes, CAPTIONS.as_bytes());
}

#[tokio::test]
async fn captions_that_a_post_needs_are_kept() {
    let stage = Stage::new().await;
    let first = stage.user.upload("one.vtt", "text/vtt", CAPTIONS.as_bytes()).await;
    let second = stage.user.upload("two.vtt", "text/vtt", CAPTIONS.as_bytes()).await;
    let captions =
        |file: &serde_json::Value| json!({"captions": [{"lang": "en", "url": file["public_url"]}]});
    let mut body = stage.post("Tomorrow", captions(&first));
    body["scheduled_at"] = json!(stage.app.at(86_400));
    let post = stage.user.publish(body).await;
    let remove = |file: &serde_json::Value| {
        let path = format!("/api/v1/media/{}", file["id"].as_str().unwrap());
        let user = stage.user.clone();
        async move { user.delete(&path).await }
    };
    assert_eq!(remove(&first).await.status, 409, "the post needs it");
    let path = format!("/api/v1/posts/{}", post["id"]);
    let changed = json!({"settings": captions(&second)});
    let _ = stage.user.patch(&path, changed).await.expect(200);
    assert_eq!(remove(&first).await.status, 200, "the post needs another one");
    assert_eq!(remove(&second).await.status, 409);
    let now = json!({"scheduled_at": stage.app.at(0)});
    let _ = stage.user.patch(&path, now).await.expect(200);
    let post = networks::ended(&stage.app, &stage.user, &post["id"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(stage.held().await[0]["captions"][0]["lang"], "en");
}
