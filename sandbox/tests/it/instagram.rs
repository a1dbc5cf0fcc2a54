//! Instagram: containers, publishing, comments, quotas, and the accounts that pages are linked to.

use reqwest::Method;
use serde_json::{Value, json};

use crate::facebook::call;
use crate::harness::{Account, Got, Net, files, mp4, png, send, until};

/// The head of a JPEG file of this size.
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut file = vec![0xff, 0xd8, 0xff, 0xc0, 0, 17, 8];
    file.extend(height.to_be_bytes());
    file.extend(width.to_be_bytes());
    file.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xd9]);
    file
}

async fn web() -> String {
    files(vec![
        ("/a.jpg", "image/jpeg", jpeg(1_080, 1_080)),
        ("/wide.jpg", "image/jpeg", jpeg(1_910, 1_000)),
        ("/wider.jpg", "image/jpeg", jpeg(1_911, 1_000)),
        ("/high.jpg", "image/jpeg", jpeg(800, 1_000)),
        ("/higher.jpg", "image/jpeg", jpeg(799, 1_000)),
        ("/a.png", "image/png", png(9, 9, 0)),
        ("/a.mp4", "video/mp4", mp4(0)),
    ])
    .await
}

async fn contain(net: &Net, account: &Account, params: &[(&str, &str)]) -> Got {
    call(net, account, Method::POST, &format!("{}/media", account.remote_id), params).await
}

async fn publish(net: &Net, account: &Account, id: &str) -> Got {
    let path = format!("{}/media_publish", account.remote_id);
    call(net, account, Method::POST, &path, &[("creation_id", id)]).await
}

async fn get(net: &Net, account: &Account, path: &str, fields: &str) -> Value {
    call(net, account, Method::GET, path, &[("fields", fields)]).await.is(200)
}

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap().to_owned()
}

fn subcode(body: &Value) -> u64 {
    body["error"]["error_subcode"].as_u64().unwrap_or(0)
}

async fn becomes(net: &Net, account: &Account, id: &str, status: &str) -> Value {
    until(async || {
        let got = get(net, account, id, "status_code,status").await;
        (got["status_code"] == status).then_some(got)
    })
    .await
}

/// Makes a container, waits for it, publishes it.
async fn post(net: &Net, account: &Account, params: &[(&str, &str)]) -> String {
    let container = id(&contain(net, account, params).await.is(200));
    becomes(net, account, &container, "FINISHED").await;
    id(&publish(net, account, &container).await.is(200))
}

#[tokio::test]
async fn a_container_is_processed_then_published_once() {
    let (net, web) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    net.settings(json!({"processing_ms": 60_000})).await;
    let image = format!("{web}/a.jpg");
    let params = [("image_url", &*image), ("caption", "hello"), ("alt_text", "seen")];
    let container = id(&contain(&net, &account, &params).await.is(200));
    let early = publish(&net, &account, &container).await.is(400);
    assert_eq!((early["error"]["code"].as_u64(), subcode(&early)), (Some(9_007), 2_207_027));
    net.settings(json!({"clock_offset_ms": 60_000})).await;
    becomes(&net, &account, &container, "FINISHED").await;
    let made = publish(&net, &account, &container).await;
    assert!(made.headers.contains_key("x-app-usage"));
    let made = id(&made.is(200));
    becomes(&net, &account, &container, "PUBLISHED").await;
    publish(&net, &account, &container).await.is(400);
    let fields = "id,caption,permalink,timestamp,media_type,media_product_type";
    let list = get(&net, &account, &format!("{}/media", account.remote_id), fields).await;
    assert_eq!(
        (id(&list["data"][0]), &list["data"][0]["caption"]),
        (made.clone(), &json!("hello"))
    );
    let posts = net.posts(&account).await;
    let media = &posts[0]["media"][0];
    assert_eq!((&media["mime"], &media["alt"]), (&json!("image/jpeg"), &json!("seen")));
    let path = format!("{made}/comments");
    call(&net, &account, Method::POST, &path, &[("message", "first")]).await.is(200);
    call(&net, &account, Method::POST, &path, &[]).await.is(400);
    let comments = get(&net, &account, &path, "id,text,timestamp").await;
    assert_eq!(comments["data"][0]["text"], "first");
}

#[tokio::test]
async fn images_are_fetched_and_looked_at() {
    let (net, web) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    let image =
        async |path: &str| contain(&net, &account, &[("image_url", &format!("{web}{path}"))]).await;
    for path in ["/a.jpg", "/wide.jpg", "/high.jpg"] {
        image(path).await.is(200);
    }
    for (path, reason) in [
        ("/wider.jpg", 2_207_009),
        ("/higher.jpg", 2_207_009),
        ("/a.png", 2_207_005),
        ("/none.jpg", 2_207_052),
    ] {
        assert_eq!(subcode(&image(path).await.is(400)), reason, "{path}");
    }
    let caption = async |text: &str| {
        let url = format!("{web}/a.jpg");
        contain(&net, &account, &[("image_url", &url), ("caption", text)]).await.status
    };
    assert_eq!((caption(&"x".repeat(2_200)).await, caption(&"x".repeat(2_201)).await), (200, 400));
    assert_eq!((caption(&"#a ".repeat(30)).await, caption(&"#a ".repeat(31)).await), (200, 400));
    assert_eq!((caption(&"@a ".repeat(20)).await, caption(&"@a ".repeat(21)).await), (200, 400));
}

#[tokio::test]
async fn reels_and_stories_have_their_own_containers() {
    let (net, web) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    let (film, bad) = (format!("{web}/a.mp4"), format!("{web}/a.png"));
    let reel = async |url: &str, more: &[(&str, &str)]| {
        let params = [&[("media_type", "REELS"), ("video_url", url)], more].concat();
        contain(&net, &account, &params).await
    };
    let broken = id(&reel(&bad, &[]).await.is(200));
    let said = becomes(&net, &account, &broken, "ERROR").await["status"].clone();
    assert!(said.as_str().unwrap().contains("2207026"), "{said}");
    assert_eq!(subcode(&publish(&net, &account, &broken).await.is(400)), 2_207_026);
    let gone = id(&reel(&format!("{web}/none.mp4"), &[]).await.is(200));
    becomes(&net, &account, &gone, "ERROR").await;
    let trial = ("trial_params", r#"{"graduation_strategy":"MANUAL"}"#);
    reel(&film, &[trial]).await.is(200);
    reel(&film, &[trial, ("collaborators", r#"["dog"]"#)]).await.is(400);
    reel(&film, &[("trial_params", r#"{"graduation_strategy":"NEVER"}"#)]).await.is(400);
    reel(&film, &[("collaborators", r#"["a","b","c","d"]"#)]).await.is(400);
    reel(&film, &[("user_tags", r#"[{"username":"cat","x":0.5,"y":0.5}]"#)]).await.is(400);
    let video = contain(&net, &account, &[("media_type", "VIDEO"), ("video_url", &film)]).await;
    assert_eq!(subcode(&video.is(400)), 2_207_023);
    let made = post(&net, &account, &[("media_type", "REELS"), ("video_url", &film)]).await;
    let view = get(&net, &account, &made, "media_type,media_product_type").await;
    assert_eq!(
        (&view["media_type"], &view["media_product_type"]),
        (&json!("VIDEO"), &json!("REELS"))
    );
    post(&net, &account, &[("media_type", "STORIES"), ("video_url", &film)]).await;
    let user = &account.remote_id;
    let stories = get(&net, &account, &format!("{user}/stories"), "id,timestamp").await;
    assert_eq!(stories["data"].as_array().unwrap().len(), 1);
    let media = get(&net, &account, &format!("{user}/media"), "id").await;
    assert_eq!(media["data"].as_array().unwrap().len(), 1, "stories are not among them");
}

#[tokio::test]
async fn a_video_may_be_handed_over_instead_of_fetched() {
    let (net, web) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    let begin = async || {
        contain(&net, &account, &[("media_type", "REELS"), ("upload_type", "resumable")])
            .await
            .is(200)
    };
    let upload = |made: &Value| {
        let token = format!("OAuth {}", account.credential("access_token"));
        net.client.post(made["uri"].as_str().unwrap()).header("authorization", token)
    };
    let made = begin().await;
    let bytes = mp4(100);
    let wrong = upload(&made).header("offset", "0").header("file_size", "1").body(bytes.clone());
    send(wrong).await.is(400);
    let whole = upload(&made).header("offset", "0").header("file_size", bytes.len().to_string());
    send(whole.body(bytes)).await.is(200);
    becomes(&net, &account, &id(&made), "FINISHED").await;
    let made = begin().await;
    send(upload(&made).header("file_url", format!("{web}/a.mp4"))).await.is(200);
    becomes(&net, &account, &id(&made), "FINISHED").await;
    publish(&net, &account, &id(&made)).await.is(200);
}

#[tokio::test]
async fn a_carousel_has_two_to_ten_children() {
    let (net, web) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    let url = format!("{web}/a.jpg");
    let child = async |more: &[(&str, &str)]| {
        let params = [&[("image_url", &*url), ("is_carousel_item", "true")], more].concat();
        contain(&net, &account, &params).await
    };
    child(&[("is_ai_generated", "true")]).await.is(400);
    let item = id(&child(&[("alt_text", "one")]).await.is(200));
    let film = format!("{web}/a.mp4");
    let video = [("media_type", "VIDEO"), ("video_url", &*film), ("is_carousel_item", "true")];
    let video = id(&contain(&net, &account, &video).await.is(200));
    let carousel = async |children: &str| {
        let params = [
            ("media_type", "CAROUSEL"),
            ("children", children),
            ("caption", "many"),
            ("is_ai_generated", "true"),
        ];
        contain(&net, &account, &params).await
    };
    assert_eq!(subcode(&carousel(&item).await.is(400)), 2_207_028);
    let list = |n: usize| vec![item.as_str(); n].join(",");
    carousel(&list(10)).await.is(200);
    carousel(&list(11)).await.is(400);
    assert_eq!(subcode(&carousel(&format!("{item},123")).await.is(400)), 2_207_008);
    let two = id(&carousel(&format!("{item},{video}")).await.is(200));
    becomes(&net, &account, &two, "FINISHED").await;
    publish(&net, &account, &item).await.is(400);
    publish(&net, &account, &two).await.is(200);
    assert_eq!(net.posts(&account).await[0]["media"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_quota_of_a_day_is_told_and_kept() {
    let (net, web) = (Net::new().await, web().await);
    net.settings(json!({"processing_ms": 0, "rate_limits": true})).await;
    let account = net.account("instagram").await;
    let url = format!("{web}/a.jpg");
    let one = async || id(&contain(&net, &account, &[("image_url", &url)]).await.is(200));
    let path = format!("{}/content_publishing_limit", account.remote_id);
    for _ in 0..100 {
        publish(&net, &account, &one().await).await.is(200);
    }
    let told = get(&net, &account, &path, "quota_usage,config").await["data"][0].clone();
    assert_eq!(
        told,
        json!({"quota_usage": 100, "config": {"quota_total": 100, "quota_duration": 86_400}})
    );
    let refused = publish(&net, &account, &one().await).await.is(400);
    assert_eq!((refused["error"]["code"].as_u64(), subcode(&refused)), (Some(9), 2_207_042));
    net.settings(json!({"clock_offset_ms": 86_400_000})).await;
    publish(&net, &account, &one().await).await.is(200);
}

#[tokio::test]
async fn a_page_names_its_account() {
    let net = Net::new().await;
    let account = net.account("instagram").await;
    let me = get(&net, &account, "me", "id,name,instagram_business_account{id,username}").await;
    assert_eq!(me["id"], account.credential("page_id"));
    assert_eq!(me["instagram_business_account"]["id"], account.remote_id.as_str());
    let other = net.account("instagram").await;
    call(&net, &account, Method::GET, &other.remote_id, &[("fields", "username")]).await.is(400);
    net.faults(&account, json!([{"on": "read", "kind": "token_expired"}])).await;
    for _ in 0..2 {
        let got = call(&net, &account, Method::GET, "me", &[("fields", "id")]).await.is(400);
        assert_eq!(subcode(&got), 463);
    }
}

#[tokio::test]
async fn posts_and_comments_come_in_pages() {
    let (net, web) = (Net::new().await, web().await);
    net.settings(json!({"processing_ms": 0})).await;
    let account = net.account("instagram").await;
    let url = format!("{web}/a.jpg");
    let mut made = String::new();
    for caption in ["one", "two", "three"] {
        made = post(&net, &account, &[("image_url", &url), ("caption", caption)]).await;
    }
    let comments = format!("{made}/comments");
    for text in ["one", "two", "three"] {
        call(&net, &account, Method::POST, &comments, &[("message", text)]).await.is(200);
    }
    for (path, field) in [(format!("{}/media", account.remote_id), "caption"), (comments, "text")] {
        let query = [("fields", field), ("limit", "2")];
        let first = call(&net, &account, Method::GET, &path, &query).await.is(200);
        assert_eq!(first["data"][1][field], "two");
        let after = first["paging"]["cursors"]["after"].as_str().unwrap();
        let query = [query[0], query[1], ("after", after)];
        let last = call(&net, &account, Method::GET, &path, &query).await.is(200);
        assert_eq!(last["data"][0][field], "one");
        assert!(first["paging"]["next"].is_string() && last["paging"]["next"].is_null());
    }
}

#[tokio::test]
async fn a_poll_or_a_prompt_is_attached_to_a_caption_and_can_be_read_back() {
    let (net, base) = (Net::new().await, web().await);
    let account = net.account("instagram").await;
    let image = format!("{base}/a.jpg");
    let with = |params: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        let given = params.iter().map(|(name, value)| (*name, (*value).to_owned()));
        [("image_url", image.clone())].into_iter().chain(given).collect()
    };
    let poll = r#"{"option_a": "Tea", "option_b": "Coffee"}"#;
    let long = format!(r#"{{"option_a": "Tea", "option_b": "{}"}}"#, "n".repeat(26));
    let five = r#"{"option_a": "1", "option_c": "3"}"#;
    for refused in [
        with(&[("poll_attachment", poll)]),
        with(&[("caption", "Q"), ("poll_attachment", poll), ("is_comment_prompt_used", "true")]),
        with(&[("caption", "Q"), ("poll_attachment", r#"{"option_a": "Tea"}"#)]),
        with(&[("caption", "Q"), ("poll_attachment", &long)]),
        with(&[("caption", "Q"), ("poll_attachment", five)]),
        with(&[("caption", "Q"), ("poll_attachment", poll), ("media_type", "STORIES")]),
        with(&[("caption", "Q"), ("poll_attachment", poll), ("is_carousel_item", "true")]),
        with(&[("is_comment_prompt_used", "true")]),
    ] {
        let refused: Vec<(&str, &str)> =
            refused.iter().map(|(name, value)| (*name, value.as_str())).collect();
        contain(&net, &account, &refused).await.is(400);
    }
    let asked = [("image_url", image.as_str()), ("caption", "Tea?"), ("poll_attachment", poll)];
    let container = id(&contain(&net, &account, &asked).await.is(200));
    let post = until(async || {
        let made = publish(&net, &account, &container).await;
        (made.status == 200).then(|| id(&made.is(200)))
    })
    .await;
    let read = async |edge: &str| {
        call(&net, &account, Method::GET, &format!("{post}/{edge}"), &[]).await.is(200)
    };
    assert_eq!(read("poll_attachment").await["option_b"], "Coffee");
    assert_eq!(read("prompt_response").await, Value::Null);
    assert_eq!(net.posts(&account).await[0]["attached_addon"], "poll");
}
