//! The rules for drafts.

use serde_json::json;

use super::chain;
use crate::{
    Account, Draft, Media, Platform,
    tests::test_server::{draft, media},
    validate,
    x::X,
};

fn codes(post: &Draft) -> Vec<String> {
    let found = validate(&X, &Account::default(), post);
    found.iter().map(|one| format!("{} {}", one.field, one.code)).collect()
}

#[test]
fn texts_are_weighed() {
    assert!(codes(&draft(&"日".repeat(140), json!({}))).is_empty());
    assert_eq!(codes(&draft(&"日".repeat(141), json!({}))), ["caption caption_too_long"]);
    let link = format!("{} https://example.org/{}", "x".repeat(256), "y".repeat(500));
    assert!(codes(&draft(&link, json!({}))).is_empty());
    assert_eq!(codes(&draft(&format!("x{link}"), json!({}))), ["caption caption_too_long"]);
    let long = "x".repeat(281);
    let found = codes(&chain(&["fine", &long], json!({})));
    assert_eq!(found, ["metadata.x_thread_tweets[1] thread_segment_too_long"]);
}

#[test]
fn segments_have_no_addresses_and_are_not_alike() {
    let found = codes(&chain(&["one", "see https://example.org"], json!({})));
    assert_eq!(found, ["metadata.x_thread_tweets[1] thread_segment_has_url"]);
    let found = codes(&chain(&["one", "one "], json!({})));
    assert_eq!(found, ["metadata.x_thread_tweets[1] setting_invalid"]);
}

#[test]
fn one_cashtag_is_enough() {
    assert!(codes(&draft("$ABC is up, $100 too", json!({}))).is_empty());
    let two = codes(&draft("$ABC, $DEF!", json!({})));
    assert_eq!(two, ["caption caption_too_many_cashtags"]);
}

fn with(files: Vec<Media>) -> Draft {
    Draft { media: files, ..draft("x", json!({})) }
}

#[test]
fn a_gif_stands_alone_and_may_be_larger() {
    // An animated picture cannot be made smaller.
    let sized = |name, mime: &'static str, bytes| {
        let animated = mime == "image/gif";
        Media { bytes: Some(bytes), animated, ..media(name, mime) }
    };
    let (five, fifteen) = (5 << 20, 15 << 20);
    assert!(codes(&with(vec![sized("a.gif", "image/gif", fifteen)])).is_empty());
    let found = codes(&with(vec![sized("a.gif", "image/gif", fifteen + 1)]));
    assert_eq!(found, ["media_urls[0] media_too_large"]);
    assert!(codes(&with(vec![sized("a.png", "image/png", five)])).is_empty());
    let found = codes(&with(vec![sized("a.png", "image/png", five + 1)]));
    assert_eq!(found, ["media_urls[0] media_too_large"]);
    let mixed = with(vec![media("a.gif", "image/gif"), media("a.png", "image/png")]);
    assert_eq!(codes(&mixed), ["media_urls mixed_media_unsupported"]);
}

#[test]
fn a_poll_stands_without_media() {
    let poll = json!({"poll": {"options": ["A", "B"]}});
    let beside =
        Draft { settings: draft("", poll).settings, ..with(vec![media("a.png", "image/png")]) };
    assert_eq!(codes(&beside), ["settings.poll setting_invalid"]);
    let short = json!({"poll": {"options": ["A", "B"], "duration_minutes": 4}});
    let found = codes(&draft("x", short));
    assert_eq!(found, ["settings.poll.duration_minutes setting_invalid"]);
}

#[test]
fn an_alt_text_of_a_video_is_told() {
    let settings = draft("", json!({"media_alt_texts": ["A film"]})).settings;
    let film = Draft { settings, ..with(vec![media("a.mp4", "video/mp4")]) };
    assert_eq!(X.warnings(&film)[0].field, "settings.media_alt_texts");
}

#[test]
fn what_x_restricts_for_programs_is_told() {
    let told = |draft: &Draft| {
        X.warnings(draft).into_iter().map(|one| (one.code, one.field)).collect::<Vec<_>>()
    };
    let text = |text: &str| draft(text, json!({}));
    assert!(told(&text("mail me at ann@example.org, or @ noon")).is_empty());
    let mention = (crate::WarningCode::MentionMayBeRefused, "caption".to_owned());
    assert_eq!(told(&text("Thanks (@ann_lee)!")), [mention]);
    let wanted = "metadata.x_thread_tweets".to_owned();
    assert_eq!(
        told(&chain(&["One", "Two"], json!({}))),
        [(crate::WarningCode::ChainMayBeRefused, wanted)]
    );
}
