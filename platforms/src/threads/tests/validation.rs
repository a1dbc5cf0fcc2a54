//! The rules for drafts.

use serde_json::json;

use super::chain;
use crate::{
    Draft,
    tests::test_server::{draft, media},
    threads::Threads,
    validate,
};

fn codes(post: &Draft) -> Vec<String> {
    let found = validate(&Threads, &crate::Account::default(), post);
    found.iter().map(|one| format!("{} {}", one.field, one.code)).collect()
}

#[test]
fn texts_count_emoji_as_bytes() {
    assert!(codes(&draft(&"😀".repeat(125), json!({"ai_disclosure": true}))).is_empty());
    assert_eq!(codes(&draft(&"😀".repeat(126), json!({}))), ["caption caption_too_long"]);
    let long = "x".repeat(501);
    let found = codes(&chain(&["fine", &long], json!({})));
    assert_eq!(found, ["metadata.threads_thread_posts[1] thread_segment_too_long"]);
}

#[test]
fn some_settings_make_a_post_and_some_do_not() {
    assert_eq!(codes(&draft("", json!({}))), ["caption caption_required"]);
    assert!(
        codes(&draft("", json!({"gif_attachment": {"gif_id": "g1", "provider": "GIPHY"}})))
            .is_empty()
    );
    assert!(
        codes(&draft("", json!({"text_attachment": {"plaintext": "x".repeat(10_000)}}))).is_empty()
    );
    assert_eq!(
        codes(&draft("", json!({"poll": {"options": ["A", "B"]}}))),
        ["caption caption_required"]
    );
}

#[test]
fn attachments_exclude_each_other_and_media() {
    let poll = json!({"options": ["A", "B"]});
    let two = json!({"poll": poll, "link_attachment": "https://example.org"});
    assert_eq!(codes(&draft("x", two)), ["settings.poll setting_invalid"]);
    let mut post = draft("x", json!({ "poll": poll }));
    post.media = vec![media("a.png", "image/png")];
    assert_eq!(codes(&post), ["settings.poll setting_invalid"]);
    let tenor = json!({"gif_attachment": {"gif_id": "g1", "provider": "TENOR"}});
    assert_eq!(codes(&draft("x", tenor)), ["settings.gif_attachment.provider setting_invalid"]);
}

#[test]
fn links_are_counted_once_each() {
    let links = |number: usize| {
        (0..number).map(|n| format!("https://example.org/{n} ")).collect::<String>()
    };
    assert!(codes(&draft(&links(5), json!({}))).is_empty());
    assert!(codes(&draft(&format!("{}(https://example.org/0).", links(5)), json!({}))).is_empty());
    assert_eq!(codes(&draft(&links(6), json!({}))), ["caption caption_too_many_links"]);
    let attached = json!({"link_attachment": "https://example.org/else"});
    assert_eq!(codes(&draft(&links(5), attached)), ["caption caption_too_many_links"]);
    assert_eq!(
        codes(&chain(&["x", &links(6)], json!({}))),
        ["metadata.threads_thread_posts[1] caption_too_many_links"]
    );
}

#[test]
fn ghosts_topics_and_spoilers_have_their_rules() {
    let ghost = json!({"is_ghost_post": true});
    assert!(codes(&draft("x", ghost.clone())).is_empty());
    let mut post = draft("x", ghost.clone());
    post.media = vec![media("a.png", "image/png")];
    assert_eq!(codes(&post), ["settings.is_ghost_post setting_invalid"]);
    assert_eq!(codes(&chain(&["a", "b"], ghost)), ["settings.is_ghost_post setting_invalid"]);
    for tag in ["a.b", "a&b"] {
        assert_eq!(
            codes(&draft("x", json!({ "topic_tag": tag }))),
            ["settings.topic_tag setting_invalid"]
        );
    }
    let spoilers = json!({"spoilers": [{"offset": 0, "length": 5}, {"offset": 3, "length": 3}]});
    assert_eq!(codes(&draft("12345", spoilers)), ["settings.spoilers[1] setting_invalid"]);
    assert_eq!(
        codes(&draft("x", json!({"is_spoiler_media": true}))),
        ["settings.is_spoiler_media setting_invalid"]
    );
}

#[test]
fn media_are_limited_in_number_size_and_length() {
    let mut post = draft("", json!({}));
    post.media = vec![media("a.png", "image/png"); 20];
    assert!(codes(&post).is_empty());
    post.media.push(media("b.mp4", "video/mp4"));
    assert_eq!(codes(&post), ["media_urls too_many_media"]);
    post.media = vec![media("a.png", "image/png"), media("b.mp4", "video/mp4")];
    post.media[0].bytes = Some(8_000_001);
    post.media[0].animated = true;
    post.media[1].duration_ms = Some(300_001);
    assert_eq!(codes(&post), ["media_urls[0] media_too_large", "media_urls[1] video_too_long"]);
}
