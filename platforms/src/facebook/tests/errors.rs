//! The table of errors, and what drafts may be.

use std::time::Duration;

use serde_json::{Value, json};

use super::of_type;
use crate::{
    Account, Draft, ErrorKind, Platform,
    facebook::{Facebook, error::parse_error},
    tests::test_server::{draft, media, reply},
    validate,
};

fn graph(code: u64, subcode: Option<u64>, message: &str) -> Value {
    json!({"error": {"message": message, "code": code, "error_subcode": subcode}})
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (400, graph(190, Some(463), "Session has expired"), ErrorKind::TokenExpired),
        (400, graph(190, Some(458), "not authorized"), ErrorKind::Reconnect),
        (400, graph(100, Some(1_404_078), "authorization"), ErrorKind::Restricted),
        (403, graph(200, None, "Permission"), ErrorKind::PermissionMissing),
        (403, graph(10, None, "Permission"), ErrorKind::PermissionMissing),
        (400, graph(4, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(80_001, None, "Limit"), ErrorKind::RateLimited),
        (400, graph(368, None, "Blocked"), ErrorKind::RateLimited),
        (400, graph(1, Some(1_390_008), "Too fast"), ErrorKind::RateLimited),
        (400, graph(2, Some(1_363_047), "Away"), ErrorKind::Transient),
        (400, graph(506, None, "Duplicate status message"), ErrorKind::Duplicate),
        (400, graph(100, Some(1_366_051), "Already posted"), ErrorKind::Duplicate),
        (400, graph(368, Some(1_346_003), "Abusive"), ErrorKind::RateLimited),
        (400, graph(100, Some(1_346_003), "Abusive"), ErrorKind::Rejected),
        (400, graph(1_500, Some(2_061_006), "Bad URL"), ErrorKind::Rejected),
        (400, graph(324, Some(2_069_019), "Invalid"), ErrorKind::MediaRejected),
        (400, graph(324, Some(1_366_046), "4 MB"), ErrorKind::MediaRejected),
        (400, graph(100, None, "No permission to publish the video"), ErrorKind::PermissionMissing),
        (400, graph(100, None, "Name parameter too long"), ErrorKind::Rejected),
        (400, graph(100, None, "Invalid"), ErrorKind::Rejected),
        (429, json!({}), ErrorKind::RateLimited),
        (500, graph(1, None, "Unknown"), ErrorKind::Server),
    ];
    for (status, body, kind) in table {
        let error = parse_error(&reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {body}");
        assert!(error.message.ends_with('.'), "{error}");
    }
}

#[test]
fn a_page_that_was_merged_into_another_names_it() {
    // The words of <https://developers.facebook.com/docs/graph-api/guides/error-handling>, code 21.
    let said = "(#21) Page ID 1001 was migrated to page ID 2002. Please update your API calls to the new ID";
    let error = parse_error(&reply(400, &[], &graph(21, None, said)));
    assert_eq!(error.kind, ErrorKind::Reconnect);
    assert_eq!(error.message, "The page has moved on Facebook; it is now the page 2002.");
    assert!(!error.leaves_open());
}

#[test]
fn a_block_is_waited_for() {
    let after = |code: u64, headers: &[(&'static str, &str)]| {
        parse_error(&reply(400, headers, &graph(code, None, "wait"))).retry_after
    };
    assert_eq!(after(368, &[]), Some(Duration::from_secs(3_600)));
    let shown = [
        ("x-app-usage", r#"{"call_count":61,"total_time":9}"#),
        (
            "x-business-use-case-usage",
            r#"{"55":[{"call_count":80,"total_cputime":5,"estimated_time_to_regain_access":3}]}"#,
        ),
    ];
    let used = crate::graph::call_usage(&reply(200, &shown, &json!({}))).unwrap();
    assert_eq!(
        (used.app, used.account, used.available_in),
        (61, 80, Some(Duration::from_secs(180)))
    );
    assert_eq!(crate::graph::call_usage(&reply(200, &[], &json!({}))), None);
    let usage = r#"{"55":[{"type":"pages","call_count":100,"estimated_time_to_regain_access":0}]}"#;
    let header = [("x-business-use-case-usage", usage)];
    assert_eq!(after(32, &header), Some(Duration::from_secs(3_600)), "throttled for nobody says");
    assert_eq!(after(32, &[("x-app-usage", r#"{"call_count":28}"#)]), None);
}

fn codes(post: &Draft) -> Vec<String> {
    let found = validate(&Facebook, &Account::default(), post);
    found.iter().map(|one| format!("{} {}", one.field, one.code)).collect()
}

#[test]
fn settings_stand_where_they_have_an_effect() {
    assert!(codes(&draft("", json!({"link": "https://example.org"}))).is_empty());
    assert_eq!(codes(&draft("", json!({}))), ["caption caption_required"]);
    let background = |text: &str| draft(text, json!({"text_format_preset_id": "1"}));
    assert!(codes(&background(&"x".repeat(130))).is_empty());
    let invalid = ["settings.text_format_preset_id setting_invalid"];
    assert_eq!(codes(&background(&"x".repeat(131))), invalid);
    let both = json!({"text_format_preset_id": "1", "link": "https://example.org"});
    assert_eq!(codes(&draft("x", both)), invalid);
    let mut photo = background("x");
    photo.media = vec![media("a.png", "image/png")];
    assert_eq!(codes(&photo), invalid);
    assert_eq!(codes(&draft("x", json!({"offset_y": 1}))), ["settings.offset_y setting_invalid"]);
    let reel = of_type("reel", "a.mp4", "video/mp4", json!({"reel_cover_url": "https://e.org/a"}));
    assert!(codes(&reel).is_empty());
    let unknown = of_type("feed", "a", "", json!({"title": "The film"}));
    assert!(codes(&unknown).is_empty(), "it may be a video");
    let story = of_type("story", "a.mp4", "video/mp4", json!({"title": "No"}));
    assert_eq!(codes(&story), ["settings.title setting_invalid"]);
}

#[test]
fn what_a_story_does_not_get_is_told() {
    let story = of_type("story", "a.mp4", "video/mp4", json!({"media_alt_texts": ["A cat"]}));
    let fields: Vec<_> = Facebook.warnings(&story).into_iter().map(|one| one.field).collect();
    assert_eq!(fields, ["caption", "settings.media_alt_texts"]);
    assert!(Facebook.warnings(&draft("x", json!({}))).is_empty());
}
