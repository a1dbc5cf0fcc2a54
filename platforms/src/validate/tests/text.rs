use serde_json::json;

use super::{broken, draft, file, object, only};
use crate::text::has_web_address;

#[test]
fn text_is_counted_in_the_unit_of_the_network() {
    let mut draft = draft();
    draft.caption = "e\u{301}".repeat(4); // 8 characters, 12 bytes, 4 graphemes
    assert_eq!(broken(&draft), []);
    draft.caption.push('x');
    let found = only(&draft);
    assert_eq!(found.message, "Caption is 13 bytes in UTF-8; threads allows 12.");
    assert_eq!((found.limit, found.actual), (Some(json!(12)), Some(json!(13))));
}

#[test]
fn beside_media_another_limit_holds() {
    let mut draft = draft();
    draft.caption = "seven77".to_owned();
    assert_eq!(broken(&draft), []);
    draft.media = vec![file("image/png")];
    assert_eq!(only(&draft).message, "Caption is 7 graphemes; threads allows 6 beside media.");
}

#[test]
fn a_post_needs_text_or_media_or_settings_that_suffice() {
    let mut draft = draft();
    draft.caption = " \n".to_owned();
    assert_eq!(only(&draft).code, "caption_required");
    draft.settings = object(json!({"board": "home", "poll": {"question": "why"}}));
    assert_eq!(broken(&draft), []);
    draft.settings = object(json!({"board": "home"}));
    draft.media = vec![file("")];
    assert_eq!(broken(&draft), []);
}

#[test]
fn a_thread_needs_segments_but_no_caption() {
    let mut draft = draft();
    draft.caption.clear();
    draft.post_type = "chain".to_owned();
    assert_eq!(broken(&draft), [("metadata.chain_posts".to_owned(), "setting_required")]);
    draft.metadata = object(json!({"chain_posts": []}));
    assert_eq!(only(&draft).code, "setting_required");
    draft.metadata = object(json!({"chain_posts": "one"}));
    assert_eq!(only(&draft).code, "setting_invalid");
    draft.metadata = object(json!({"chain_posts": ["one", "two"]}));
    assert_eq!(broken(&draft), []);
}

#[test]
fn each_segment_is_checked() {
    let mut draft = draft();
    draft.post_type = "chain".to_owned();
    draft.metadata = object(json!({"chain_posts": ["ten chars!", "www.a.b", ""]}));
    let field = |rest: &str| format!("metadata.chain_posts{rest}");
    let expected = [
        (field(""), "setting_invalid"),
        (field("[0]"), "thread_segment_too_long"),
        (field("[1]"), "thread_segment_has_url"),
        (field("[2]"), "setting_invalid"),
    ];
    assert_eq!(broken(&draft), expected);
}

#[test]
fn segments_without_the_post_type_are_not_ignored_silently() {
    let mut draft = draft();
    draft.metadata = object(json!({"chain_posts": ["one"]}));
    let found = only(&draft);
    assert_eq!((found.field.as_str(), found.code), ("metadata.chain_posts", "setting_invalid"));
}

#[test]
fn web_addresses_are_seen_wherever_they_stand() {
    for text in [
        "http://a.b",
        "see (HTTPS://a.b)",
        "www.a.b",
        "見てhttps://a.b".get(6..).unwrap_or(""),
        "x,www.a",
    ] {
        assert!(has_web_address(text), "{text}");
    }
    for text in ["https://", "http", "awww.cute", "www. no", "a.b", ""] {
        assert!(!has_web_address(text), "{text}");
    }
}
