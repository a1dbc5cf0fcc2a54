//! Requirements on every network in the list, checked through the API against the simulated one. A new connector is
//! told these stories by being listed: nothing here names a network.

mod answers;
mod caches;
mod changed_words;
pub mod cuts;
mod in_part;
mod not_found;
mod not_the_api;
mod refusals;
mod refused_for_good;
mod refused_though_done;
mod rumours;
mod same_words;
mod wordless;

use std::time::Duration;

use fanfare_tests::{
    Picture, TestApp,
    networks::{self, body_of, connector},
};
use serde_json::{Value, json};

#[tokio::test]
async fn every_example_goes_out() {
    let app = TestApp::start().await;
    let picture = Picture::serve().await;
    for name in networks::all() {
        let user = app.user().await;
        let account = user.connect(name).await;
        let earlier = networks::publish(&app, &user, networks::post(name, account)).await;
        assert_eq!(earlier["status"], "published", "{name}: {earlier:#}");
        let examples = connector(name).spec().examples.iter();
        for example in examples.filter(|example| example.needs.is_none()) {
            let before = user.on_network(name, account).await.len();
            let mut body = body_of(example, account, &picture, &earlier);
            networks::store_captions(&user, &mut body).await;
            let post = networks::publish(&app, &user, body).await;
            let story = format!("{name}, {}", example.what);
            assert_eq!(post["status"], "published", "{story}: {post:#}");
            assert!(post["platform_post_id"].is_string(), "{story}: {post:#}");
            let held = user.on_network(name, account).await.split_off(before);
            assert!(!held.is_empty(), "{story}: nothing is there");
            let media = held.iter().filter_map(|one| one["media"].as_array()).flatten().count();
            assert!(example.media.is_empty() || media > 0, "{story}: {held:#?}");
        }
    }
}

#[tokio::test]
async fn a_caption_as_long_as_it_may_be_goes_out() {
    let app = TestApp::start().await;
    for name in networks::all() {
        let user = app.user().await;
        let account = user.connect(name).await;
        let described = user.get(&format!("/api/v1/accounts/{account}/schema")).await.expect(200);
        let mut body = networks::post(name, account);
        let limit = match body["media_urls"][0].as_str() {
            None => "caption_max",
            Some(url) if url.contains("film.mp4") => "caption_max_with_video",
            Some(_) => "caption_max_with_media",
        };
        let most = described.body["content_limits"][limit].as_u64().unwrap();
        // Limits that no request of ours can reach are tested with the descriptor.
        let most = usize::try_from(most).unwrap().min(500_000);
        let words = "five ".repeat(most / 5 + 1);
        body["caption"] = words[..most - 1].to_owned().into();
        let caption = format!("{}!", body["caption"].as_str().unwrap());
        body["caption"] = json!(caption);
        let post = networks::publish(&app, &user, body.clone()).await;
        assert_eq!(post["status"], "published", "{name}: {post:#}");
        if most < 500_000 {
            body["caption"] = json!(format!("{caption}!"));
            user.post("/api/v1/posts", body).await.refused(400, "caption_too_long");
        }
    }
}

#[tokio::test]
async fn a_disconnected_account_keeps_its_posts_and_sends_no_more() {
    let app = TestApp::start().await;
    for name in networks::all() {
        let user = app.user().await;
        let account = user.connect(name).await;
        let mut body = networks::post(name, account);
        body["scheduled_at"] = json!(app.at(3_600));
        let post = user.publish(body).await;
        let _ = user.delete(&format!("/api/v1/accounts/{account}")).await.expect(200);
        app.pass_time(Duration::from_secs(3_600)).await;
        let post = networks::ended(&app, &user, &post["id"]).await;
        assert_eq!(post["status"], "failed", "{name}: {post:#}");
        assert_eq!(post["error"]["code"], "account_disconnected", "{name}: {post:#}");
        let events = user.get("/api/v1/events").await.expect(200).body["events"].clone();
        let told = |event: &Value| event["type"] == "account.disconnected";
        assert!(events.as_array().unwrap().iter().any(told), "{name}: {events:#}");
    }
}
