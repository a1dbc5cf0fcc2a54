//! Telegram: photos, videos, files and albums.

use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::harness::{Net, files, film_of, mp4, png, send};
use crate::telegram::{call, refused, url};

#[tokio::test]
async fn only_films_that_every_client_plays_are_videos() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let web = files(vec![
        ("/plain.mp4", "video/mp4", film_of(b"avc1", 30)),
        ("/hevc.mp4", "video/mp4", film_of(b"hvc1", 30)),
        ("/vp9.mp4", "video/mp4", film_of(b"vp09", 30)),
    ])
    .await;
    for (method, name) in [("sendVideo", "video"), ("sendAnimation", "animation")] {
        let with = |path: &str| json!({name: format!("{web}{path}")});
        call(&net, &account, method, with("/plain.mp4")).await.is(200);
        for path in ["/hevc.mp4", "/vp9.mp4"] {
            let flaw = refused(&net, &account, method, with(path)).await;
            assert_eq!(flaw, "VIDEO_CONTENT_TYPE_INVALID", "{method} {path}");
        }
    }
    // As a file it goes out as it is.
    let document = json!({"document": format!("{web}/hevc.mp4")});
    call(&net, &account, "sendDocument", document).await.is(200);
}

#[tokio::test]
async fn photos_come_by_address_upload_and_id() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let web = files(vec![
        ("/a.png", "image/png", png(640, 480, 0)),
        ("/page", "text/html", b"<p>".to_vec()),
        ("/fake.png", "image/png", b"text".to_vec()),
        ("/edge.png", "image/png", png(10, 10, (5 << 20) - png(0, 0, 0).len())),
        ("/big.png", "image/png", png(10, 10, 5 << 20)),
        ("/long.png", "image/png", png(210, 10, 0)),
        ("/a.mp4", "video/mp4", mp4(100)),
    ])
    .await;
    let photo = |path: &str| json!({"photo": format!("{web}{path}"), "caption": "look"});
    let sent = call(&net, &account, "sendPhoto", photo("/a.png")).await.is(200)["result"].clone();
    assert_eq!(
        (sent["photo"][0]["width"].as_u64(), sent["caption"].as_str()),
        (Some(640), Some("look"))
    );
    call(&net, &account, "sendPhoto", json!({"photo": sent["photo"][0]["file_id"]})).await.is(200);
    call(&net, &account, "sendPhoto", photo("/edge.png")).await.is(200);
    for (path, flaw) in [
        ("/none", "failed to get HTTP URL content"),
        ("/page", "wrong type of the web page content"),
        ("/fake.png", "IMAGE_PROCESS_FAILED"),
        ("/big.png", "file is too big"),
        ("/long.png", "PHOTO_INVALID_DIMENSIONS"),
    ] {
        assert_eq!(refused(&net, &account, "sendPhoto", photo(path)).await, flaw);
    }
    assert!(
        refused(&net, &account, "sendPhoto", json!({"photo": "AgAnothing"}))
            .await
            .starts_with("wrong remote file identifier")
    );
    let long = refused(
        &net,
        &account,
        "sendPhoto",
        json!({"photo": format!("{web}/a.png"), "caption": "c".repeat(1_025)}),
    )
    .await;
    assert_eq!(long, "message caption is too long");

    let upload = |method: &str, name: &'static str, bytes: Vec<u8>| {
        let form = Form::new()
            .text("chat_id", account.remote_id.clone())
            .part(name, Part::bytes(bytes).file_name("f"));
        net.client.post(url(&account, method)).multipart(form)
    };
    send(upload("sendPhoto", "photo", png(5, 5, (10 << 20) - png(0, 0, 0).len()))).await.is(200);
    send(upload("sendPhoto", "photo", png(5, 5, 10 << 20))).await.is(400);
    send(upload("sendDocument", "document", vec![1; 100])).await.is(200);
    let video = call(
        &net,
        &account,
        "sendVideo",
        json!({"video": format!("{web}/a.mp4"), "width": 9, "duration": 3}),
    )
    .await
    .is(200);
    assert_eq!(
        (
            video["result"]["video"]["mime_type"].as_str(),
            video["result"]["video"]["width"].as_u64()
        ),
        (Some("video/mp4"), Some(9))
    );
    let animation =
        call(&net, &account, "sendAnimation", json!({"animation": format!("{web}/a.mp4")}))
            .await
            .is(200);
    assert!(animation["result"]["animation"].is_object());
    assert_eq!(net.posts(&account).await.len(), 7);
}

#[tokio::test]
async fn an_album_is_two_to_ten_of_a_kind() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let web = files(vec![
        ("/a.png", "image/png", png(9, 9, 0)),
        ("/a.pdf", "application/pdf", b"%PDF".to_vec()),
    ])
    .await;
    let album = |n: usize| json!({"media": (0..n).map(|n| json!({"type": "photo", "media": format!("{web}/a.png"), "caption": if n == 0 { "album" } else { "" }})).collect::<Vec<_>>()});
    let sent = call(&net, &account, "sendMediaGroup", album(2)).await.is(200)["result"].clone();
    assert_eq!(sent.as_array().unwrap().len(), 2);
    assert_eq!(sent[0]["media_group_id"], sent[1]["media_group_id"]);
    call(&net, &account, "sendMediaGroup", album(10)).await.is(200);
    for n in [0, 1, 11] {
        refused(&net, &account, "sendMediaGroup", album(n)).await;
    }
    let mixed = json!({"media": [{"type": "photo", "media": format!("{web}/a.png")}, {"type": "document", "media": format!("{web}/a.pdf")}]});
    assert_eq!(
        refused(&net, &account, "sendMediaGroup", mixed).await,
        "document can't be mixed with other media types"
    );
    let posts = net.posts(&account).await;
    assert_eq!(posts.len(), 2, "an album is one post");
    assert_eq!(
        (posts[0]["media"].as_array().unwrap().len(), posts[0]["message_ids"].clone()),
        (2, json!([1, 2]))
    );

    let parts = json!([{"type": "photo", "media": "attach://one"}, {"type": "photo", "media": "attach://two"}]);
    let form = Form::new()
        .text("chat_id", account.remote_id.clone())
        .text("media", parts.to_string())
        .part("one", Part::bytes(png(1, 1, 0)).file_name("1.png"))
        .part("two", Part::bytes(png(2, 2, 0)).file_name("2.png"));
    send(net.client.post(url(&account, "sendMediaGroup")).multipart(form)).await.is(200);
}
