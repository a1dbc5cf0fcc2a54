//! TikTok's protocol: creators, chunks, slideshows, how far a post is, tokens, limits.

use reqwest::{Client, redirect};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, files, mp4, send, until};

const MB: usize = 1_000_000;

async fn ask(net: &Net, account: &Account, path: &str, body: &Value) -> Got {
    let request = net.client.post(format!("{}/v2/{path}", account.base));
    send(request.bearer_auth(account.credential("access_token")).json(body)).await
}

fn info(title: &str) -> Value {
    json!({"title": title, "privacy_level": "PUBLIC_TO_EVERYONE", "disable_comment": false})
}

async fn init(net: &Net, account: &Account, size: usize, chunk: usize, count: usize) -> Got {
    let source = json!({"source": "FILE_UPLOAD", "video_size": size, "chunk_size": chunk, "total_chunk_count": count});
    let body = json!({"post_info": info("A film"), "source_info": source});
    ask(net, account, "post/publish/video/init/", &body).await
}

async fn put(net: &Net, url: &str, film: &[u8], first: usize, end: usize) -> u16 {
    let range = format!("bytes {first}-{}/{}", end - 1, film.len());
    let request =
        net.client.put(url).header("content-range", range).body(film[first..end].to_vec());
    send(request).await.status
}

/// Returns TikTok's record of a post once it is no longer processed.
async fn settled(net: &Net, account: &Account, publish_id: &Value) -> Value {
    until(async || {
        let body = json!({"publish_id": publish_id});
        let status =
            ask(net, account, "post/publish/status/fetch/", &body).await.is(200)["data"].clone();
        (!status["status"].as_str().unwrap().starts_with("PROCESSING")).then_some(status)
    })
    .await
}

#[tokio::test]
async fn a_video_goes_up_chunk_by_chunk_and_becomes_public_after_the_last() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let film = mp4(11 * MB);
    let begun = init(&net, &account, film.len(), 5 * MB, 2).await.is(200)["data"].clone();
    let url = begun["upload_url"].as_str().unwrap();
    assert_eq!(put(&net, url, &film, 5 * MB, film.len()).await, 416);
    assert_eq!(put(&net, url, &film, 0, 5 * MB).await, 206);
    assert_eq!(put(&net, url, &film, 0, 5 * MB).await, 416);
    let wanted = json!({"publish_id": begun["publish_id"]});
    let half =
        ask(&net, &account, "post/publish/status/fetch/", &wanted).await.is(200)["data"].clone();
    assert_eq!(
        (half["status"].as_str(), half["uploaded_bytes"].as_u64()),
        (Some("PROCESSING_UPLOAD"), Some(5_000_000))
    );
    assert!(net.posts(&account).await.is_empty());
    assert_eq!(put(&net, url, &film, 5 * MB, film.len()).await, 201);
    let done = settled(&net, &account, &begun["publish_id"]).await;
    assert_eq!(done["status"], "PUBLISH_COMPLETE");
    let held = net.posts(&account).await;
    assert_eq!(done["publicaly_available_post_id"][0].to_string(), held[0]["id"].as_str().unwrap());
    assert_eq!(
        (held[0]["text"].as_str(), held[0]["media"][0]["size"].as_u64()),
        (Some("A film"), Some(film.len() as u64))
    );
    let page = send(net.client.get(held[0]["url"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("A film"), "{}", page.text);
    let listed =
        ask(&net, &account, "video/list/?fields=id,title,create_time", &json!({"max_count": 20}))
            .await;
    assert_eq!(listed.is(200)["data"]["videos"][0]["title"], "A film");
    assert_eq!(put(&net, url, &film, 0, film.len()).await, 403);
}

#[tokio::test]
async fn what_is_no_film_fails_and_chunks_must_fit() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let text = vec![b'n'; 100];
    let begun = init(&net, &account, 100, 100, 1).await.is(200)["data"].clone();
    assert_eq!(put(&net, begun["upload_url"].as_str().unwrap(), &text, 0, 100).await, 201);
    let failed = settled(&net, &account, &begun["publish_id"]).await;
    assert_eq!(
        (failed["status"].as_str(), failed["fail_reason"].as_str()),
        (Some("FAILED"), Some("file_format_check_failed"))
    );
    assert!(net.posts(&account).await.is_empty());
    for (size, chunk, count) in [
        (0, 0, 1),
        (100, 50, 2),
        (20 * MB, 5 * MB, 3),
        (200 * MB, 70 * MB, 2),
        (4_001 * MB, 64 * MB, 62),
    ] {
        let refused = init(&net, &account, size, chunk, count).await.is(400);
        assert_eq!(refused["error"]["code"], "invalid_params", "{size} {chunk} {count}");
    }
    init(&net, &account, 20 * MB, 5 * MB, 4).await.is(200);
    let url = format!("{}/video/?upload_id=none&upload_token=none", account.base);
    assert_eq!(put(&net, &url, &text, 0, 100).await, 403);
}

fn slideshow(info: Value, images: &[String]) -> Value {
    let source = json!({"source": "PULL_FROM_URL", "photo_cover_index": 0, "photo_images": images});
    json!({"media_type": "PHOTO", "post_mode": "DIRECT_POST", "post_info": info, "source_info": source})
}

/// The head of a JPEG of 8 by 8 pixels.
fn jpeg() -> Vec<u8> {
    vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 8, 0, 8, 3, 0, 0, 0, 0]
}

#[tokio::test]
async fn a_slideshow_is_fetched() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let web =
        files(vec![("/a.jpg", "image/jpeg", jpeg()), ("/b.txt", "text/plain", b"no".to_vec())])
            .await;
    let picture = format!("{web}/a.jpg");
    let path = "post/publish/content/init/";
    let begin = async |body: Value| ask(&net, &account, path, &body).await;
    let mut said = info("Crane");
    said["description"] = json!("Step by step");
    let made = begin(slideshow(said, &[picture.clone(), picture.clone()])).await.is(200);
    let done = settled(&net, &account, &made["data"]["publish_id"]).await;
    assert_eq!(done["status"], "PUBLISH_COMPLETE");
    let held = net.posts(&account).await;
    assert_eq!(
        (held[0]["text"].as_str(), held[0]["media"].as_array().unwrap().len()),
        (Some("Step by step"), 2)
    );

    for (image, reason) in
        [("none.jpg", "photo_pull_failed"), ("b.txt", "file_format_check_failed")]
    {
        let made = begin(slideshow(info("x"), &[format!("{web}/{image}")])).await.is(200);
        assert_eq!(
            settled(&net, &account, &made["data"]["publish_id"]).await["fail_reason"],
            reason
        );
    }
    let unverified =
        begin(slideshow(info("x"), &["https://unverified.example/a.jpg".to_owned()])).await.is(403);
    assert_eq!(unverified["error"]["code"], "url_ownership_unverified");
    begin(slideshow(info(&"n".repeat(91)), std::slice::from_ref(&picture))).await.is(400);
    begin(slideshow(info("x"), &vec![picture.clone(); 36])).await.is(400);
    let mut labelled = info("x");
    labelled["is_aigc"] = json!(true);
    begin(slideshow(labelled, std::slice::from_ref(&picture))).await.is(400);
    let mut hidden = info("x");
    hidden["privacy_level"] = json!("FOLLOWER_OF_CREATOR");
    let refused = begin(slideshow(hidden.clone(), std::slice::from_ref(&picture))).await.is(403);
    assert_eq!(refused["error"]["code"], "privacy_level_option_mismatch");
    // A post that only its creator sees has no public id.
    hidden["privacy_level"] = json!("SELF_ONLY");
    let made = begin(slideshow(hidden, &[picture])).await.is(200);
    let done = settled(&net, &account, &made["data"]["publish_id"]).await;
    assert_eq!(done["publicaly_available_post_id"], json!([]));
}

#[tokio::test]
async fn a_creator_is_asked_about_and_begins_six_posts_a_minute() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let told = ask(&net, &account, "post/publish/creator_info/query/", &json!({})).await.is(200);
    assert_eq!(told["error"]["code"], "ok");
    assert_eq!(told["data"]["creator_username"], account.username.as_str());
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..6 {
        init(&net, &account, 100, 100, 1).await.is(200);
    }
    let full = init(&net, &account, 100, 100, 1).await;
    assert!(full.headers.get("retry-after").is_none());
    assert_eq!(full.is(429)["error"]["code"], "rate_limit_exceeded");
}

async fn token(net: &Net, account: &Account, path: &str, fields: &[(&str, &str)]) -> Got {
    let mut form = vec![("client_key", "1"), ("client_secret", "s")];
    form.extend(fields);
    send(net.client.post(format!("{}/v2/oauth/{path}/", account.base)).form(&form)).await
}

async fn me(net: &Net, account: &Account, token: &str) -> Got {
    let url = format!("{}/v2/user/info/?fields=open_id,display_name,username", account.base);
    send(net.client.get(url).bearer_auth(token)).await
}

/// Asks for fields of the one scope that everybody grants.
async fn basics(net: &Net, account: &Account, token: &str) -> Got {
    let url = format!("{}/v2/user/info/?fields=open_id,avatar_url_100,display_name", account.base);
    send(net.client.get(url).bearer_auth(token)).await
}

#[tokio::test]
async fn a_person_consents_and_tokens_are_refreshed_and_given_back() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let back = "http://127.0.0.1/back";
    let query = [
        ("client_key", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "user.info.basic"),
        ("state", "s"),
    ];
    let page = client.get(format!("{}/v2/auth/authorize/", account.base)).query(&query);
    assert!(send(page.try_clone().unwrap()).await.text.contains(&account.username));
    let refused = send(page.try_clone().unwrap().query(&[("account", "none")])).await;
    assert!(refused.headers["location"].to_str().unwrap().contains("error=access_denied"));
    let given = send(page.query(&[("account", account.remote_id.as_str())])).await;
    let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let fields =
        [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", back)];
    let tokens = token(&net, &account, "token", &fields).await.is(200);
    assert_eq!(token(&net, &account, "token", &fields).await.is(400)["error"], "invalid_grant");
    assert_eq!(
        (tokens["expires_in"].as_u64(), tokens["refresh_expires_in"].as_u64()),
        (Some(86_400), Some(31_536_000))
    );
    let access = tokens["access_token"].as_str().unwrap();
    // Its name takes a scope that was not asked for, and fails the whole call.
    let refused = me(&net, &account, access).await.is(401);
    assert_eq!(refused["error"]["code"], "scope_not_authorized");
    let user = basics(&net, &account, access).await.is(200)["data"]["user"].clone();
    assert_eq!(
        (user["open_id"].as_str(), user.get("username")),
        (Some(account.remote_id.as_str()), None)
    );

    net.settings(json!({"clock_offset_ms": 86_401_000})).await;
    assert_eq!(me(&net, &account, access).await.is(401)["error"]["code"], "access_token_invalid");
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
    ];
    let fresh = token(&net, &account, "token", &refresh).await.is(200);
    assert_ne!(fresh["refresh_token"], tokens["refresh_token"]);
    token(&net, &account, "token", &refresh).await.is(400);
    let access = fresh["access_token"].as_str().unwrap();
    basics(&net, &account, access).await.is(200);
    token(&net, &account, "revoke", &[("token", access)]).await.is(200);
    basics(&net, &account, access).await.is(401);
    let born =
        [("grant_type", "refresh_token"), ("refresh_token", account.credential("refresh_token"))];
    token(&net, &account, "token", &born).await.is(400);
}

#[tokio::test]
async fn posts_come_in_pages() {
    let net = Net::new().await;
    let account = net.account("tiktok").await;
    let film = mp4(0);
    for second in 1..=3 {
        net.settings(json!({"processing_ms": 0, "clock_offset_ms": second * 1_000})).await;
        let begun = init(&net, &account, film.len(), film.len(), 1).await.is(200)["data"].clone();
        put(&net, begun["upload_url"].as_str().unwrap(), &film, 0, film.len()).await;
    }
    let path = "video/list/?fields=id,create_time";
    let first = ask(&net, &account, path, &json!({"max_count": 2})).await.is(200)["data"].clone();
    assert_eq!((first["videos"].as_array().unwrap().len(), &first["has_more"]), (2, &json!(true)));
    let next = json!({"max_count": 2, "cursor": first["cursor"]});
    let last = ask(&net, &account, path, &next).await.is(200)["data"].clone();
    assert_eq!((last["videos"].as_array().unwrap().len(), &last["has_more"]), (1, &json!(false)));
    assert!(last["videos"][0]["create_time"].as_i64() < first["videos"][1]["create_time"].as_i64());
}
