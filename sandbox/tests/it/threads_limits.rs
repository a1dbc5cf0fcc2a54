//! Threads' limits: each at its edge and one past it.

use serde_json::json;

use crate::harness::{Net, files, png, send};
use crate::threads::{contain, id, post, publish};

#[tokio::test]
async fn texts_links_and_tags_have_their_limits() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let text = async |text: &str| {
        contain(&net, &account, &[("media_type", "TEXT"), ("text", text)]).await.status
    };
    assert_eq!((text(&"ä".repeat(500)).await, text(&"ä".repeat(501)).await), (200, 400));
    assert_eq!(
        (text(&"😀".repeat(125)).await, text(&format!("{}a", "😀".repeat(125))).await),
        (200, 400)
    );
    let links = |n: usize| {
        (0..n).map(|n| format!("https://e.com/{n} https://e.com/0")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((text(&links(5)).await, text(&links(6)).await, text("  ").await), (200, 400, 400));
    let with = async |name: &str, value: &str| {
        contain(&net, &account, &[("media_type", "TEXT"), ("text", "x"), (name, value)])
            .await
            .status
    };
    let tag = "t".repeat(50);
    assert_eq!(
        (with("topic_tag", &tag).await, with("topic_tag", &format!("{tag}t")).await),
        (200, 400)
    );
    assert_eq!(
        (
            with("topic_tag", "a.b").await,
            with("topic_tag", "a&b").await,
            with("topic_tag", "").await
        ),
        (400, 400, 400)
    );
    assert_eq!(
        (with("reply_control", "mentioned_only").await, with("reply_control", "nobody").await),
        (200, 400)
    );
    assert_eq!(
        (
            with("media_type", "TEXT").await,
            with("reply_to_id", "123").await,
            with("quote_post_id", "123").await
        ),
        (200, 400, 400)
    );
    assert_eq!(contain(&net, &account, &[("text", "x")]).await.is(400)["error"]["code"], 100);
    assert_eq!(contain(&net, &account, &[("media_type", "IMAGE")]).await.status, 400);
}

#[tokio::test]
async fn attachments_exclude_each_other() {
    let net = Net::new().await;
    let account = net.account("threads").await;
    let with = async |params: &[(&str, &str)]| {
        let all: Vec<_> =
            [("media_type", "TEXT"), ("text", "x")].iter().chain(params).copied().collect();
        contain(&net, &account, &all).await.status
    };
    let poll = |a: &str, b: &str| json!({"option_a": a, "option_b": b}).to_string();
    let link = ("link_attachment", "https://example.com");
    assert_eq!(with(&[link]).await, 200);
    assert_eq!(with(&[("link_attachment", "nowhere")]).await, 400);
    assert_eq!(with(&[("poll_attachment", &poll("yes", &"n".repeat(25)))]).await, 200);
    assert_eq!(with(&[("poll_attachment", &poll("yes", &"n".repeat(26)))]).await, 400);
    assert_eq!(with(&[("poll_attachment", r#"{"option_a":"only"}"#)]).await, 400);
    assert_eq!(with(&[("poll_attachment", &poll("yes", "no")), link]).await, 400);
    assert_eq!(with(&[("gif_attachment", r#"{"gif_id":"1","provider":"GIPHY"}"#)]).await, 200);
    assert_eq!(with(&[("gif_attachment", r#"{"gif_id":"1","provider":"TENOR"}"#)]).await, 400);
    let long = |n: usize| json!({"plaintext": "p".repeat(n)}).to_string();
    // A text of ten thousand characters is sent in the body, not in the address.
    let body = async |n: usize| {
        let form = [("media_type", "TEXT"), ("text", "x"), ("text_attachment", &long(n))];
        let url = format!("{}/v1.0/me/threads", account.base);
        send(net.client.post(url).bearer_auth(account.credential("access_token")).form(&form))
            .await
            .status
    };
    assert_eq!((body(10_000).await, body(10_001).await), (200, 400));
    assert_eq!(with(&[("is_ghost_post", "true")]).await, 200);
    let root = post(&net, &account, &[("media_type", "TEXT"), ("text", "root")]).await;
    assert_eq!(with(&[("is_ghost_post", "true"), ("reply_to_id", &root)]).await, 400);
    let web = files(vec![("/a.png", "image/png", png(9, 9, 0))]).await;
    let image = [("media_type", "IMAGE"), ("image_url", &format!("{web}/a.png")), link];
    assert_eq!(contain(&net, &account, &image).await.status, 400);
}

#[tokio::test]
async fn the_daily_quota_ends_when_limits_are_on() {
    let net = Net::new().await;
    net.settings(json!({"processing_ms": 0, "rate_limits": true})).await;
    let account = net.account("threads").await;
    let one = || async {
        id(&contain(&net, &account, &[("media_type", "TEXT"), ("text", "x")]).await.is(200))
    };
    for _ in 0..250 {
        publish(&net, &account, &one().await).await.is(200);
    }
    assert_eq!(
        publish(&net, &account, &one().await).await.is(400)["error"]["error_subcode"],
        2_207_042
    );
    net.settings(json!({"clock_offset_ms": 86_400_000})).await;
    publish(&net, &account, &one().await).await.is(200);
}
