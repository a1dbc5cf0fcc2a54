//! Facebook: posts, photos, videos, reels, stories and the cover of a page.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, files, film_of, mp4, png, send, until};

/// Calls the Graph API with a form and the page's token.
pub async fn call(
    net: &Net,
    account: &Account,
    method: Method,
    path: &str,
    params: &[(&str, &str)],
) -> Got {
    let request = net.client.request(method.clone(), format!("{}/v25.0/{path}", account.base));
    let request = if method == Method::GET { request.query(params) } else { request.form(params) };
    send(request.bearer_auth(account.credential("access_token"))).await
}

async fn post(net: &Net, page: &Account, edge: &str, params: &[(&str, &str)]) -> Got {
    call(net, page, Method::POST, &format!("{}/{edge}", page.remote_id), params).await
}

async fn get(net: &Net, page: &Account, path: &str, fields: &str) -> Value {
    call(net, page, Method::GET, path, &[("fields", fields)]).await.is(200)
}

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap().to_owned()
}

fn code(body: &Value) -> (u64, u64) {
    let error = &body["error"];
    (error["code"].as_u64().unwrap(), error["error_subcode"].as_u64().unwrap_or(0))
}

#[tokio::test]
async fn a_text_is_public_at_once_and_not_twice() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let form = [("message", "hello"), ("link", "https://example.org")];
    let path = format!("{}/v25.0/{}/feed", page.base, page.remote_id);
    let made = net.client.post(path).query(&[("fields", "id,permalink_url")]).form(&form);
    let made = send(made.bearer_auth(page.credential("access_token"))).await;
    assert!(made.headers.contains_key("x-app-usage"));
    let made = made.is(200);
    assert!(id(&made).starts_with(&format!("{}_", page.remote_id)));
    let url = made["permalink_url"].as_str().unwrap();
    assert!(send(net.client.get(url)).await.text.contains("hello"));
    assert_eq!(code(&post(&net, &page, "feed", &form).await.is(400)), (506, 0));
    post(&net, &page, "feed", &[("message", "other")]).await.is(200);
    let list =
        get(&net, &page, &format!("{}/published_posts", page.remote_id), "id,message,created_time")
            .await;
    let texts: Vec<_> =
        list["data"].as_array().unwrap().iter().map(|one| one["message"].clone()).collect();
    assert_eq!(texts, ["other", "hello"]);
    assert_eq!(
        code(&post(&net, &page, "feed", &[("message", " ")]).await.is(400)),
        (100, 1_349_125)
    );
    let long = "x".repeat(63_206);
    post(&net, &page, "feed", &[("message", &long)]).await.is(200);
    post(&net, &page, "feed", &[("message", &format!("{long}x"))]).await.is(400);
    call(&net, &page, Method::DELETE, &id(&made), &[]).await.is(200);
    assert_eq!(net.posts(&page).await.len(), 2);
}

#[tokio::test]
async fn backgrounds_are_for_short_texts() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let with = async |preset: &str, text: &str| {
        post(&net, &page, "feed", &[("message", text), ("text_format_preset_id", preset)]).await
    };
    let known = "106018623298955";
    with(known, &"x".repeat(130)).await.is(200);
    with(known, &"x".repeat(131)).await.is(400);
    let malformed = with("blue", "x").await.is(400);
    assert!(malformed["error"]["message"].as_str().unwrap().contains("text_format_preset_id"));
    assert_eq!(code(&with("1", "x").await.is(500)), (1, 99));
}

#[tokio::test]
async fn photos_wait_for_their_post() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let web = files(vec![
        ("/a.png", "image/png", png(640, 480, 0)),
        ("/big.png", "image/png", png(640, 480, 4_000_000)),
        ("/a.txt", "text/plain", b"no".to_vec()),
    ])
    .await;
    let photo = async |path: &str, published: &str| {
        let params = [
            ("url", &*format!("{web}{path}")),
            ("published", published),
            ("alt_text_custom", "seen"),
        ];
        post(&net, &page, "photos", &params).await
    };
    assert_eq!(code(&photo("/big.png", "false").await.is(400)), (324, 1_366_046));
    assert_eq!(code(&photo("/a.txt", "false").await.is(400)), (324, 2_069_019));
    assert_eq!(code(&photo("/none.png", "false").await.is(400)), (324, 2_069_019));
    let (one, two) =
        (id(&photo("/a.png", "false").await.is(200)), id(&photo("/a.png", "false").await.is(200)));
    assert!(net.posts(&page).await.is_empty());
    let attached = json!([{"media_fbid": one}, {"media_fbid": two}]).to_string();
    let params = [("message", "two"), ("attached_media", attached.as_str())];
    post(&net, &page, "feed", &params).await.is(200);
    let media = net.posts(&page).await[0]["media"].clone();
    assert_eq!((media.as_array().unwrap().len(), media[0]["alt"].as_str()), (2, Some("seen")));
    let again = [("message", "again"), ("attached_media", attached.as_str())];
    assert_eq!(code(&post(&net, &page, "feed", &again).await.is(400)), (100, 1_366_051));
    let public = photo("/a.png", "true").await.is(200);
    assert!(public["post_id"].is_string());
}

/// Begins and hands over a video; gives its id.
async fn hand_over(net: &Net, page: &Account, edge: &str, url: &str) -> (String, Got) {
    let started = post(net, page, edge, &[("upload_phase", "start")]).await.is(200);
    let upload = net
        .client
        .post(started["upload_url"].as_str().unwrap())
        .header("authorization", format!("OAuth {}", page.credential("access_token")))
        .header("file_url", url);
    (started["video_id"].as_str().unwrap().to_owned(), send(upload).await)
}

#[tokio::test]
async fn a_reel_is_begun_handed_over_and_finished() {
    let net = Net::new().await;
    net.settings(json!({"processing_ms": 60_000})).await;
    let page = net.account("facebook").await;
    let web =
        files(vec![("/a.mp4", "video/mp4", mp4(0)), ("/a.png", "image/png", png(9, 16, 0))]).await;
    let (bad, got) = hand_over(&net, &page, "video_reels", &format!("{web}/a.png")).await;
    got.is(400);
    assert_eq!(get(&net, &page, &bad, "status").await["status"]["video_status"], "error");
    let started = post(&net, &page, "video_reels", &[("upload_phase", "start")]).await.is(200);
    let finish = async |video: &str| {
        let params = [
            ("upload_phase", "finish"),
            ("video_id", video),
            ("video_state", "PUBLISHED"),
            ("description", "short"),
        ];
        post(&net, &page, "video_reels", &params).await
    };
    finish(started["video_id"].as_str().unwrap()).await.is(400);
    let (video, got) = hand_over(&net, &page, "video_reels", &format!("{web}/a.mp4")).await;
    got.is(200);
    let status = get(&net, &page, &video, "status").await["status"].clone();
    assert_eq!(
        (&status["video_status"], &status["publishing_phase"]["status"]),
        (&json!("upload_complete"), &json!("not_started"))
    );
    let form = reqwest::multipart::Form::new()
        .text("is_preferred", "true")
        .part("source", reqwest::multipart::Part::bytes(png(9, 16, 0)).file_name("c.png"));
    let thumbnails = format!("{}/v25.0/{video}/thumbnails", page.base);
    let thumbnails = net.client.post(thumbnails).multipart(form);
    send(thumbnails.bearer_auth(page.credential("access_token"))).await.is(200);
    assert_eq!(finish(&video).await.is(200)["success"], true);
    finish(&video).await.is(400);
    let phase = async || {
        let status = get(&net, &page, &video, "status,permalink_url").await["status"].clone();
        status["publishing_phase"]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(phase().await, "in_progress");
    net.settings(json!({"clock_offset_ms": 60_000})).await;
    assert_eq!(phase().await, "complete");
    let posts = net.posts(&page).await;
    assert_eq!((posts.len(), posts[0]["kind"].as_str()), (1, Some("reel")));
    assert!(posts[0]["thumbnail"].is_string());
}

#[tokio::test]
async fn the_thirty_first_reel_of_a_day_has_to_wait() {
    let net = Net::new().await;
    net.settings(json!({"rate_limits": true})).await;
    let page = net.account("facebook").await;
    let web = files(vec![("/a.mp4", "video/mp4", mp4(0))]).await;
    let reel = async || {
        let (video, _) = hand_over(&net, &page, "video_reels", &format!("{web}/a.mp4")).await;
        let params =
            [("upload_phase", "finish"), ("video_id", &video), ("video_state", "PUBLISHED")];
        post(&net, &page, "video_reels", &params).await
    };
    for _ in 0..30 {
        reel().await.is(200);
    }
    let refused = reel().await;
    let usage = refused.headers["x-business-use-case-usage"].to_str().unwrap().to_owned();
    assert!(usage.contains("estimated_time_to_regain_access"), "{usage}");
    assert_eq!(code(&refused.is(400)), (613, 0));
    net.settings(json!({"clock_offset_ms": 86_400_000})).await;
    reel().await.is(200);
}

#[tokio::test]
async fn stories_and_the_cover_have_calls_of_their_own() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let web =
        files(vec![("/a.mp4", "video/mp4", mp4(0)), ("/a.png", "image/png", png(9, 16, 0))]).await;
    let url = format!("{web}/a.png");
    let photo = async || {
        id(&post(&net, &page, "photos", &[("url", &url), ("published", "false")]).await.is(200))
    };
    let story = post(&net, &page, "photo_stories", &[("photo_id", &photo().await)]).await.is(200);
    assert!(story["post_id"].is_string());
    let (video, _) = hand_over(&net, &page, "video_stories", &format!("{web}/a.mp4")).await;
    let finish = [("upload_phase", "finish"), ("video_id", video.as_str())];
    post(&net, &page, "video_stories", &finish).await.is(200);
    let stories = get(&net, &page, &format!("{}/stories", page.remote_id), "post_id").await;
    assert_eq!(stories["data"].as_array().unwrap().len(), 2);
    let cover = photo().await;
    let params = [("cover", cover.as_str()), ("offset_y", "20"), ("no_feed_story", "true")];
    call(&net, &page, Method::POST, &page.remote_id, &params).await.is(200);
    call(&net, &page, Method::POST, &page.remote_id, &[("cover", "1")]).await.is(400);
    let whole = get(&net, &page, &page.remote_id, "cover,name").await;
    assert_eq!(whole["cover"]["cover_id"], cover.as_str());
    assert_eq!(net.posts(&page).await.len(), 3);
}

#[tokio::test]
async fn films_are_looked_into_and_a_reel_has_24_to_60_frames_a_second() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let web = files(vec![
        ("/plain.mp4", "video/mp4", film_of(b"avc1", 30)),
        ("/slow.mp4", "video/mp4", film_of(b"avc1", 20)),
        ("/prores.mov", "video/quicktime", film_of(b"apcn", 30)),
    ])
    .await;
    for (edge, path, status) in [
        ("video_reels", "/plain.mp4", 200),
        ("video_reels", "/slow.mp4", 400),
        ("video_reels", "/prores.mov", 400),
        ("video_stories", "/slow.mp4", 200),
        ("video_stories", "/prores.mov", 400),
    ] {
        let (_, got) = hand_over(&net, &page, edge, &format!("{web}{path}")).await;
        assert_eq!(got.status, status, "{edge} {path}");
    }
    let url = format!("{web}/prores.mov");
    let video = id(&post(&net, &page, "videos", &[("file_url", &url)]).await.is(200));
    until(async || {
        let view = get(&net, &page, &video, "status").await;
        (view["status"]["video_status"] == "error").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_video_is_fetched_after_the_call() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let web = files(vec![("/a.mp4", "video/mp4", mp4(0))]).await;
    let url = format!("{web}/a.mp4");
    let params = [("file_url", url.as_str()), ("description", "film"), ("title", "A film")];
    let video = id(&post(&net, &page, "videos", &params).await.is(200));
    until(async || {
        let view = get(&net, &page, &video, "status,description").await;
        (view["status"]["video_status"] == "ready").then_some(())
    })
    .await;
    let list =
        get(&net, &page, &format!("{}/videos", page.remote_id), "id,description,created_time")
            .await;
    assert_eq!(list["data"][0]["description"], "film");
    assert_eq!(net.posts(&page).await[0]["media"][0]["mime"], "video/mp4");
    let post_id = get(&net, &page, &format!("{}/published_posts", page.remote_id), "id").await;
    let post_id = post_id["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{post_id}/comments");
    call(&net, &page, Method::POST, &path, &[("message", "first")]).await.is(200);
    assert_eq!(get(&net, &page, &path, "message").await["data"][0]["message"], "first");
}

#[tokio::test]
async fn posts_come_in_pages() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    for text in ["one", "two", "three"] {
        post(&net, &page, "feed", &[("message", text)]).await.is(200);
    }
    let path = format!("{}/published_posts", page.remote_id);
    let query = [("fields", "message"), ("limit", "2")];
    let first = call(&net, &page, Method::GET, &path, &query).await.is(200);
    assert_eq!(first["data"][1]["message"], "two");
    assert!(first["paging"]["next"].is_string());
    let after = first["paging"]["cursors"]["after"].as_str().unwrap();
    let query = [query[0], query[1], ("after", after)];
    let last = call(&net, &page, Method::GET, &path, &query).await.is(200);
    assert_eq!(
        (last["data"].as_array().unwrap().len(), &last["data"][0]["message"]),
        (1, &json!("one"))
    );
    assert!(last["paging"]["next"].is_null() && last["paging"]["cursors"]["after"].is_string());
}

/// The answers are those that public programs quote of the real network.
#[tokio::test]
async fn a_video_and_a_photo_have_no_shares_and_a_video_no_insights() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let web =
        files(vec![("/a.mp4", "video/mp4", mp4(0)), ("/a.png", "image/png", png(9, 9, 0))]).await;
    let (film, picture) = (format!("{web}/a.mp4"), format!("{web}/a.png"));
    let video = id(&post(&net, &page, "videos", &[("file_url", &film)]).await.is(200));
    let photo = post(&net, &page, "photos", &[("url", &picture)]).await.is(200);
    let refused = async |path: &str, params: (&str, &str), field: &str, node: &str| {
        let told = call(&net, &page, Method::GET, path, &[params]).await.is(400);
        let words =
            format!("(#100) Tried accessing nonexisting field ({field}) on node type ({node})");
        assert_eq!((code(&told), &told["error"]["message"]), ((100, 0), &json!(words)));
    };
    for field in ["shares", "reactions"] {
        let fields = format!("comments.limit(0),{field}.summary(total_count).limit(0)");
        refused(&video, ("fields", &fields), field, "Video").await;
        refused(&id(&photo), ("fields", &fields), field, "Photo").await;
        get(&net, &page, photo["post_id"].as_str().unwrap(), &fields).await;
    }
    let insights = format!("{video}/insights");
    refused(&insights, ("metric", "post_media_view"), "insights", "Video").await;
    let cover = [("url", picture.as_str()), ("published", "false")];
    let cover = id(&post(&net, &page, "photos", &cover).await.is(200));
    call(&net, &page, Method::POST, &page.remote_id, &[("cover", &cover)]).await.is(200);
    for of in [&video, &cover] {
        let metrics = json!({"remote_id": page.remote_id, "post": of, "metrics": {"likes": 4, "comments": 2, "views": 9}});
        net.control(Method::PUT, "facebook/metrics", metrics).await.is(200);
        let fields = "likes.summary(total_count).limit(0),comments.summary(total_count).limit(0)";
        let told = get(&net, &page, of, fields).await;
        let counts = (&told["likes"]["summary"], &told["comments"]["summary"]);
        assert_eq!(counts, (&json!({"total_count": 4}), &json!({"total_count": 2})));
    }
    let told =
        call(&net, &page, Method::GET, &format!("{video}/video_insights"), &[]).await.is(200);
    assert_eq!(told["data"][0]["values"][0]["value"], 9);
}

#[tokio::test]
async fn a_page_tells_follows_under_the_names_that_are_documented() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let metrics = json!({"remote_id": page.remote_id, "date": "2026-11-10", "metrics": {"follows": 5, "unfollows": 2}});
    net.control(Method::PUT, "facebook/metrics", metrics).await.is(200);
    let path = format!("{}/insights", page.remote_id);
    // From the beginning of the day in California to its end.
    let ask = async |metric: &str| {
        let params = [
            ("metric", metric),
            ("period", "day"),
            ("since", "1794297600"),
            ("until", "1794384000"),
        ];
        call(&net, &page, Method::GET, &path, &params).await
    };
    let told = ask("page_daily_follows_unique,page_daily_unfollows_unique").await.is(200);
    let values = told["data"].as_array().unwrap().iter().map(|one| &one["values"][0]["value"]);
    assert_eq!(values.collect::<Vec<_>>(), [5, 2]);
    for gone in ["page_fans", "page_impressions", "page_daily_unfollows"] {
        let told = ask(&format!("page_media_view,{gone}")).await.is(400);
        assert_eq!(told["error"]["message"], "(#100) The value must be a valid insights metric");
    }
}
