mod counting;
mod forms;
mod media;
mod settings;
mod text;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Violation, validate};
use crate::{
    CaptionLimits, Draft, FrameRules, Identity, Media, MediaRules, Platform, PlatformId, PostType,
    Progress, RecoveryClass, Result, Session, Setting, Shape, Spec, Step, ThreadRules,
};

const WORD: Shape = Shape::Text { min: 1, max: 5 };

const VIDEO: MediaRules = MediaRules {
    min: 1,
    videos_max: 1,
    total_max: 1,
    video_types: &["video/mp4"],
    video_bytes_max: 1_000,
    video_ms_max: Some(90_500),
    frame: FrameRules {
        image_ratio: Some((0.8, 1.91)),
        image_width_max: Some(1_440),
        image_width_min: Some(320),
        image_sides_max: Some(3_000),
        video_ratio: Some((0.01, 10.0)),
        video_ms_min: Some(3_000),
    },
    ..MediaRules::NONE
};

const SPEC: Spec = Spec {
    caption: CaptionLimits {
        max: 10,
        max_with_media: Some(6),
        max_bytes: Some(12),
        count: crate::text::graphemes,
        unit: "graphemes",
    },
    media: MediaRules {
        images_max: 2,
        videos_max: 1,
        total_max: 2,
        image_types: &["image/png"],
        image_bytes_max: 500,
        ..VIDEO_OR_NOTHING
    },
    alt_text_max: 8,
    post_types: &[
        PostType { name: "feed", doc: "A post.", media: None },
        PostType { name: "reel", doc: "A video.", media: Some(VIDEO) },
        PostType { name: "note", doc: "Text only.", media: Some(MediaRules::NONE) },
        PostType { name: "chain", doc: "A chain.", media: None },
    ],
    settings: &[
        Setting::required("board", WORD, "Where it goes."),
        Setting::optional("label", Shape::Choice(&["nudity", "porn"]), "A warning."),
        Setting::optional("link", Shape::Url, "A link."),
        Setting::optional("score", Shape::Integer { min: -1, max: 5 }, "A number."),
        Setting::optional("until", Shape::Time, "An end."),
        Setting::optional("tags", Shape::List { of: &WORD, min: 1, max: 2 }, "Tags."),
        Setting::optional(
            "poll",
            Shape::Object(&[Setting::required("question", WORD, "What is asked.")]),
            "A poll.",
        ),
        Setting::optional(
            "media_alt_texts",
            Shape::List { of: &Shape::Text { min: 0, max: 8 }, min: 0, max: 2 },
            "Alt texts.",
        ),
    ],
    thread: Some(ThreadRules {
        post_type: "chain",
        metadata_key: "chain_posts",
        segment_max: 9,
        segments_max: 2,
        urls_allowed: false,
    }),
    recovery_class: RecoveryClass::Blind,
    prepare_lead: std::time::Duration::ZERO,
    ..Spec::with_defaults(PlatformId::Threads, "Test network")
};

const VIDEO_OR_NOTHING: MediaRules = MediaRules { min: 0, ..VIDEO };

struct Network;

#[async_trait]
impl Platform for Network {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.contains_key("poll")
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        let shouted = draft.caption.contains('!');
        shouted
            .then(|| Violation::new("caption", "setting_invalid", "Loud.", "Whisper."))
            .into_iter()
            .collect()
    }

    fn step(&self, _: &Draft, _: Option<&Value>) -> Step {
        Step::commit("send")
    }

    async fn publish(&self, _: &Session, _: &Draft, _: Option<Value>) -> Result<Progress> {
        Err(crate::Error::rejected("not part of these tests"))
    }

    async fn verify(&self, _: &Session) -> Result<Identity> {
        Err(crate::Error::rejected("not part of these tests"))
    }
}

/// A draft that breaks no rule.
fn draft() -> Draft {
    Draft {
        key: Uuid::nil(),
        due_at: chrono::DateTime::UNIX_EPOCH,
        caption: "hello".to_owned(),
        post_type: "feed".to_owned(),
        settings: object(json!({"board": "home"})),
        metadata: Map::new(),
        media: Vec::new(),
        caption_files: Vec::new(),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

fn file(mime: &str) -> Media {
    Media {
        url: "https://media.example/a".to_owned(),
        mime: mime.to_owned(),
        filename: "a".to_owned(),
        ..Media::default()
    }
}

/// Field and code of all violations.
fn broken(draft: &Draft) -> Vec<(String, &'static str)> {
    validate(&Network, &crate::Account::default(), draft)
        .into_iter()
        .map(|found| (found.field, found.code))
        .collect()
}

/// The only violation.
fn only(draft: &Draft) -> Violation {
    let found = validate(&Network, &crate::Account::default(), draft);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn a_good_draft_breaks_no_rule() {
    assert_eq!(broken(&draft()), []);
}

#[test]
fn all_violations_are_reported_in_the_order_of_the_fields() {
    let mut draft = draft();
    draft.caption = "much too long!".to_owned();
    draft.post_type = "story".to_owned();
    draft.settings = object(json!({"tgas": ["a"]}));
    draft.metadata = object(json!({"chain_post": []}));
    draft.media = vec![file("audio/ogg")];
    let expected = [
        ("caption", "caption_too_long"),
        ("caption", "caption_too_long"),
        ("caption", "setting_invalid"),
        ("media_urls[0]", "media_type_unsupported"),
        ("post_type", "setting_invalid"),
        ("settings.board", "setting_required"),
        ("settings.tgas", "unknown_field"),
        ("metadata.chain_post", "unknown_field"),
    ];
    assert_eq!(broken(&draft), expected.map(|(field, code)| (field.to_owned(), code)));
    assert!(
        validate(&Network, &crate::Account::default(), &draft)
            .iter()
            .all(|found| !found.remedy.is_empty())
    );
}

#[test]
fn a_violation_has_the_shape_of_the_api() {
    let mut draft = draft();
    draft.caption = "elevenchars".to_owned();
    assert_eq!(
        json!(only(&draft)),
        json!({
            "field": "caption", "code": "caption_too_long",
            "message": "Caption is 11 graphemes; threads allows 10.",
            "limit": 10, "actual": 11, "unit": "graphemes",
            "remedy": "Shorten the caption to 10 graphemes.",
        })
    );
}

#[test]
fn an_unknown_post_type_names_the_known_ones_and_document_has_its_own_code() {
    let mut draft = draft();
    draft.post_type = "story".to_owned();
    let found = only(&draft);
    assert_eq!(found.remedy, "Use one of: feed, reel, note, chain.");
    draft.post_type = "document".to_owned();
    assert_eq!(broken(&draft), [("post_type".to_owned(), "pdf_requires_linkedin")]);
}
