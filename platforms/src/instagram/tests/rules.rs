//! The rules for drafts.

use serde_json::{Value, json};

use super::{IMAGE, VIDEO, with};
use crate::{
    Account, Draft, Platform,
    instagram::Instagram,
    tests::test_server::{account, media},
    validate,
};

fn codes(post: &Draft) -> Vec<String> {
    let found = validate(&Instagram, &Account::default(), post);
    found.iter().map(|one| format!("{} {}", one.field, one.code)).collect()
}

fn captioned(caption: &str) -> Draft {
    Draft { caption: caption.to_owned(), ..with(&[IMAGE], "feed", json!({})) }
}

#[test]
fn hashtags_and_mentions_are_counted() {
    assert!(codes(&captioned(&"#a ".repeat(30))).is_empty());
    assert_eq!(codes(&captioned(&"#a ".repeat(31))), ["caption caption_too_many_hashtags"]);
    assert!(codes(&captioned(&"@a # ".repeat(20))).is_empty());
    assert_eq!(codes(&captioned(&"@a ".repeat(21))), ["caption caption_too_many_mentions"]);
}

#[test]
fn every_post_has_a_file_that_fits() {
    assert_eq!(codes(&with(&[], "feed", json!({}))), ["media_urls media_required"]);
    assert_eq!(codes(&with(&[IMAGE], "carousel", json!({}))), ["media_urls media_required"]);
    assert!(codes(&with(&[("a.png", "image/png")], "feed", json!({}))).is_empty(), "converted");
    assert!(codes(&with(&[("a.webm", "video/webm")], "reel", json!({}))).is_empty(), "converted");
    let foreign = "media_urls[0] instagram_video_unsupported_container";
    for (name, mime) in [("a.avi", ""), ("a.mkv", "video/x-matroska")] {
        let post = Draft { media: vec![media(name, mime)], ..captioned("x") };
        assert!(codes(&post).contains(&foreign.to_owned()), "{name}");
    }
}

#[test]
fn settings_stand_where_they_have_an_effect() {
    let invalid = |settings: Value, files: &[(&'static str, &str)], post_type: &str| {
        codes(&with(files, post_type, settings))
    };
    let story = invalid(json!({"first_comment": "x"}), &[IMAGE], "story");
    assert_eq!(story, ["settings.first_comment setting_invalid"]);
    let image = invalid(json!({"audio_id": "1"}), &[IMAGE], "feed");
    assert_eq!(image, ["settings.audio_id setting_invalid"]);
    assert!(invalid(json!({"audio_id": "1"}), &[("a", "")], "feed").is_empty(), "not known yet");
    let strategy = json!({"graduation_strategy": "MANUAL"});
    let no_trial = invalid(strategy, &[VIDEO], "reel");
    assert_eq!(no_trial, ["settings.graduation_strategy setting_invalid"]);
    let placeless = json!({"user_tags": [{"username": "cat"}]});
    assert_eq!(
        invalid(placeless.clone(), &[IMAGE], "feed"),
        ["settings.user_tags[0] setting_invalid"]
    );
    assert!(invalid(placeless, &[VIDEO], "reel").is_empty());
    let outside = json!({"user_tags": [{"username": "cat", "x": 1.5, "y": 0.5}]});
    let outside = invalid(outside, &[IMAGE], "feed");
    assert_eq!(outside, ["settings.user_tags[0].x setting_invalid"]);
    let four = invalid(json!({"collaborators": ["a", "b", "c", "d"]}), &[IMAGE], "feed");
    assert_eq!(four, ["settings.collaborators setting_invalid"]);
}

#[test]
fn what_a_post_does_not_get_is_told() {
    let fields = |post: &Draft| -> Vec<String> {
        Instagram.warnings(post).into_iter().map(|one| one.field).collect()
    };
    assert_eq!(fields(&with(&[IMAGE], "story", json!({}))), ["caption"]);
    let trial = json!({"is_trial_reel": true, "collaborators": ["dog"]});
    assert_eq!(fields(&with(&[VIDEO], "reel", trial)), ["settings.collaborators"]);
    let alt = json!({"media_alt_texts": ["A film"]});
    assert_eq!(fields(&with(&[VIDEO], "reel", alt)), ["settings.media_alt_texts"]);
}

#[test]
fn an_account_without_its_business_id_must_be_connected_again() {
    let found = validate(&Instagram, &account("55", json!({})), &captioned("x"));
    let codes: Vec<_> = found.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["missing_instagram_business_account_id"]);
    let linked = account("55", json!({"instagram_business_account_id": "55"}));
    assert!(validate(&Instagram, &linked, &captioned("x")).is_empty());
}

#[test]
fn a_poll_or_a_prompt_needs_a_caption_and_no_story() {
    let poll = json!({"poll": {"options": ["Tea", "Coffee"]}});
    assert!(codes(&with(&[IMAGE], "feed", poll.clone())).is_empty());
    assert!(codes(&with(&[IMAGE, VIDEO], "carousel", poll.clone())).is_empty());
    let silent = Draft { caption: " ".to_owned(), ..with(&[VIDEO], "reel", poll.clone()) };
    assert_eq!(codes(&silent), ["settings.poll setting_invalid"]);
    assert_eq!(codes(&with(&[IMAGE], "story", poll)), ["settings.poll setting_invalid"]);
    let both = json!({"poll": {"options": ["Tea", "Coffee"]}, "comment_prompt": true});
    assert_eq!(codes(&with(&[IMAGE], "feed", both)), ["settings.poll setting_invalid"]);
    for options in
        [json!(["Tea"]), json!(["a", "b", "c", "d", "e"]), json!(["Tea", "n".repeat(26)])]
    {
        let post = with(&[IMAGE], "feed", json!({"poll": {"options": options}}));
        assert_eq!(codes(&post).len(), 1, "{options}");
    }
}

#[test]
fn more_than_five_hashtags_are_told() {
    let told = |count: usize| Instagram.warnings(&captioned(&"#a ".repeat(count)));
    assert!(told(5).is_empty());
    let told = told(6);
    assert_eq!(told[0].code, crate::WarningCode::ManyHashtags);
    assert_eq!((told[0].limit.clone(), told[0].actual.clone()), (Some(json!(5)), Some(json!(6))));
}
