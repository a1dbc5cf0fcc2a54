//! Threads: containers, publishing, chains.

use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, files, mp4, png, send, until};

/// Calls with parameters in the query, as most clients do.
pub async fn call(
    net: &Net,
    account: &Account,
    method: reqwest::Method,
    path: &str,
    params: &[(&str, &str)],
) -> Got {
    let request = net.client.request(method, format!("{}/v1.0/{path}", account.base));
    send(request.query(params).query(&[("access_token", account.credential("access_token"))])).await
}

pub async fn get(net: &Net, account: &Account, path: &str, fields: &str) -> Got {
    call(net, account, reqwest::Method::GET, path, &[("fields", fields)]).await
}

pub async fn contain(net: &Net, account: &Account, params: &[(&str, &str)]) -> Got {
    call(net, account, reqwest::Method::POST, &format!("{}/threads", account.remote_id), params)
        .await
}

pub async fn publish(net: &Net, account: &Account, id: &str) -> Got {
    call(
        net,
        account,
        reqwest::Method::POST,
        &format!("{}/threads_publish", account.remote_id),
        &[("creation_id", id)],
    )
    .await
}

pub fn id(body: &Value) -> String {
    body["id"].as_str().unwrap().to_owned()
}

/// Waits until a container is what it should become.
async fn becomes(net: &Net, account: &Account, id: &str, status: &str) -> Value {
    until(async || {
        let got = get(net, account, id, "status,error_message").await.is(200);
        (got["status"] == status).then_some(got)
    })
    .await
}

/// Makes a container, waits for it, publishes it.
pub async fn post(net: &Net, account: &Account, params: &[(&str, &str)]) -> String {
    let container = id(&contain(net, account, params).await.is(200));
    becomes(net, account, &container, "FINISHED").await;
    id(&publish(net, account, &container).await.is(200))
}

#[tokio::test]
async fn a_container_is_processed_then_published_once() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    net.settings(json!({"processing_ms": 60_000})).await;
    let container =
        id(&contain(&net, &account, &[("media_type", "TEXT"), ("text", "hello")]).await.is(200));
    assert_eq!(get(&net, &account, &container, "status").await.is(200)["status"], "IN_PROGRESS");
    let early = publish(&net, &account, &container).await.is(400)["error"].clone();
    assert_eq!(
        (early["code"].as_u64(), early["error_subcode"].as_u64()),
        (Some(24), Some(4_279_009))
    );
    net.settings(json!({"clock_offset_ms": 60_000})).await;
    assert_eq!(get(&net, &account, &container, "status").await.is(200)["status"], "FINISHED");
    let made = publish(&net, &account, &container).await;
    assert!(made.headers.contains_key("x-app-usage"));
    let made = id(&made.is(200));
    assert_eq!(get(&net, &account, &container, "status").await.is(200)["status"], "PUBLISHED");
    publish(&net, &account, &container).await.is(400);
    let posts = net.posts(&account).await;
    assert_eq!(
        (posts.len(), posts[0]["id"].as_str(), posts[0]["text"].as_str()),
        (1, Some(made.as_str()), Some("hello"))
    );

    let media = get(&net, &account, &made, "permalink,text,timestamp,media_type").await.is(200);
    assert_eq!(
        (media["permalink"].as_str(), media["media_type"].as_str()),
        (posts[0]["url"].as_str(), Some("TEXT_POST"))
    );
    assert!(
        send(net.client.get(media["permalink"].as_str().unwrap())).await.text.contains("hello")
    );
    let list = get(&net, &account, "me/threads", "id,text").await.is(200);
    assert_eq!(list["data"], json!([{"id": made, "text": "hello"}]));
    let field = get(&net, &account, &made, "permalinks").await.is(400);
    assert!(field["error"]["message"].as_str().unwrap().contains("nonexisting field (permalinks)"));
    call(&net, &account, reqwest::Method::DELETE, &made, &[]).await.is(200);
    get(&net, &account, &made, "id").await.is(400);
}

#[tokio::test]
async fn a_container_expires_after_a_day() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let container =
        id(&contain(&net, &account, &[("media_type", "TEXT"), ("text", "old")]).await.is(200));
    net.settings(json!({"clock_offset_ms": 24 * 3_600_000 + 1_000})).await;
    assert_eq!(get(&net, &account, &container, "status").await.is(200)["status"], "EXPIRED");
    publish(&net, &account, &container).await.is(400);
    assert!(net.posts(&account).await.is_empty());
}

#[tokio::test]
async fn images_are_really_fetched() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let head = png(0, 0, 0).len();
    let web = files(vec![
        ("/a.png", "image/png", png(640, 480, 0)),
        ("/a.gif", "image/gif", b"GIF89a\x05\0\x06\0".to_vec()),
        ("/edge.png", "image/png", png(10, 10, (8 << 20) - head)),
        ("/big.png", "image/png", png(10, 10, (8 << 20) - head + 1)),
        ("/wide.png", "image/png", png(1_000, 100, 0)),
        ("/wider.png", "image/png", png(1_001, 100, 0)),
        ("/a.mp4", "video/mp4", mp4(9)),
    ])
    .await;
    let image = async |path: &str| {
        contain(
            &net,
            &account,
            &[
                ("media_type", "IMAGE"),
                ("image_url", &format!("{web}{path}")),
                ("alt_text", "seen"),
            ],
        )
        .await
    };
    for path in ["/a.png", "/edge.png", "/wide.png"] {
        image(path).await.is(200);
    }
    for path in ["/none.png", "/a.gif", "/big.png", "/wider.png"] {
        assert_eq!(image(path).await.is(400)["error"]["code"], 9004, "{path}");
    }
    post(
        &net,
        &account,
        &[("media_type", "IMAGE"), ("image_url", &format!("{web}/a.png")), ("alt_text", "seen")],
    )
    .await;
    let media = net.posts(&account).await[0]["media"][0].clone();
    assert_eq!((media["mime"].as_str(), media["alt"].as_str()), (Some("image/png"), Some("seen")));

    let video = async |path: &str| {
        id(&contain(
            &net,
            &account,
            &[("media_type", "VIDEO"), ("video_url", &format!("{web}{path}"))],
        )
        .await
        .is(200))
    };
    becomes(&net, &account, &video("/a.mp4").await, "FINISHED").await;
    assert_eq!(
        becomes(&net, &account, &video("/none.mp4").await, "ERROR").await["error_message"],
        "FAILED_DOWNLOADING_VIDEO"
    );
    let bad = video("/a.png").await;
    assert_eq!(
        becomes(&net, &account, &bad, "ERROR").await["error_message"],
        "FAILED_PROCESSING_VIDEO"
    );
    publish(&net, &account, &bad).await.is(400);
}

#[tokio::test]
async fn a_carousel_has_two_to_twenty_children() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let web = files(vec![("/a.png", "image/png", png(640, 480, 0))]).await;
    let url = format!("{web}/a.png");
    let child = async |item: &str| {
        id(&contain(
            &net,
            &account,
            &[("media_type", "IMAGE"), ("image_url", &url), ("is_carousel_item", item)],
        )
        .await
        .is(200))
    };
    let item = child("true").await;
    let carousel = async |children: &str| {
        contain(
            &net,
            &account,
            &[("media_type", "CAROUSEL"), ("children", children), ("text", "many")],
        )
        .await
    };
    carousel(&item).await.is(400);
    let list = |n: usize| vec![item.as_str(); n].join(",");
    carousel(&list(20)).await.is(200);
    carousel(&list(21)).await.is(400);
    carousel(&format!("{item},{}", child("false").await)).await.is(400);
    carousel(&format!("{item},123")).await.is(400);
    let two = id(&carousel(&format!("{item},{}", child("true").await)).await.is(200));
    becomes(&net, &account, &two, "FINISHED").await;
    publish(&net, &account, &item).await.is(400);
    let made = id(&publish(&net, &account, &two).await.is(200));
    assert_eq!(net.posts(&account).await[0]["media"].as_array().unwrap().len(), 2);
    let view = get(&net, &account, &made, "media_type,children{media_url}").await.is(200);
    assert_eq!(
        (view["media_type"].as_str(), view["children"]["data"].as_array().unwrap().len()),
        (Some("CAROUSEL_ALBUM"), 2)
    );
}

#[tokio::test]
async fn a_chain_is_read_back_and_counted() {
    let net = Net::new().await;
    net.settings(json!({"processing_ms": 0})).await;
    let account = net.account("threads").await;
    let root = post(&net, &account, &[("media_type", "TEXT"), ("text", "1")]).await;
    let second =
        post(&net, &account, &[("media_type", "TEXT"), ("text", "2"), ("reply_to_id", &root)])
            .await;
    let third =
        post(&net, &account, &[("media_type", "TEXT"), ("text", "3"), ("reply_to_id", &second)])
            .await;
    let posts = net.posts(&account).await;
    assert_eq!(
        (posts[1]["reply_to"].as_str(), posts[2]["reply_to"].as_str()),
        (Some(root.as_str()), Some(second.as_str()))
    );
    let view = get(&net, &account, &third, "root_post,replied_to,is_reply").await.is(200);
    assert_eq!(
        (view["root_post"]["id"].as_str(), view["replied_to"]["id"].as_str()),
        (Some(root.as_str()), Some(second.as_str()))
    );
    let ids = |got: Value| got["data"].as_array().unwrap().iter().map(id).collect::<Vec<_>>();
    assert_eq!(
        ids(get(&net, &account, "me/threads", "id").await.is(200)),
        std::slice::from_ref(&root)
    );
    assert_eq!(
        ids(get(&net, &account, "me/replies", "id").await.is(200)),
        [third.clone(), second.clone()]
    );
    assert_eq!(
        ids(get(&net, &account, &format!("{root}/replies"), "id").await.is(200)),
        std::slice::from_ref(&second)
    );
    assert_eq!(
        ids(get(&net, &account, &format!("{root}/conversation"), "id").await.is(200)),
        [third, second]
    );
    let limit =
        get(&net, &account, "me/threads_publishing_limit", "quota_usage,config,reply_quota_usage")
            .await
            .is(200);
    assert_eq!(
        (limit["data"][0]["quota_usage"].as_u64(), limit["data"][0]["reply_quota_usage"].as_u64()),
        (Some(1), Some(2))
    );
    assert_eq!(limit["data"][0]["config"]["quota_total"], 250);
    let insights = call(
        &net,
        &account,
        reqwest::Method::GET,
        &format!("{root}/insights"),
        &[("metric", "replies,views")],
    )
    .await
    .is(200);
    assert_eq!(insights["data"][0]["values"][0]["value"], 1);
}
