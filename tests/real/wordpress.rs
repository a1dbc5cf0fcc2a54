//! A real WordPress.

use fanfare_tests::{Picture, TestApp};
use serde_json::{Value, json};

use crate::peer::Peer;

#[tokio::test]
async fn an_article_with_its_picture_is_read_back_as_sent() {
    let site = Peer::start(&["tests/peers/wordpress/start.sh"]).await;
    let app = TestApp::start().await;
    let user = app.user().await;
    let credentials = json!({"credentials": {
        "site_url": site.greeting["url"], "username": site.greeting["username"],
        "application_password": site.greeting["application_password"],
    }});
    let answer = user.post("/api/v1/connect/wordpress/credentials", credentials).await.expect(200);
    let id = answer.body["account"]["id"].clone();
    let post = user
        .publish(json!({
            "account_id": id, "caption": "A first article\n\nWith **bold** words.",
            "media_url": Picture::serve().await.url, "settings": {"media_alt_texts": ["Four grey squares"]},
        }))
        .await;
    let post =
        app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published", "failed"]).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let url = format!("{}/wp-json/wp/v2/posts", site.greeting["url"].as_str().unwrap());
    let held: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
    let ours: Vec<&Value> = held
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["link"] == post["platform_post_url"])
        .collect();
    assert_eq!(ours.len(), 1, "{held:#}");
    assert_eq!(ours[0]["title"]["rendered"], "A first article");
    assert!(ours[0]["content"]["rendered"].as_str().unwrap().contains("<strong>bold</strong>"));
    assert!(ours[0]["featured_media"].as_i64().unwrap() > 0);
}
