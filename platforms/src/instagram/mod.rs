//! Instagram, for professional accounts that are linked to a Facebook page.
//!
//! Containers are created first, then one call publishes each. The status of a container tells whether it was
//! published, so a lost response can be recovered. Comment and companion story follow the post.

mod analytics;
mod check;
mod client;
mod container;
mod error;
mod inbox;
mod publish;
mod reconcile;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod verify;

use std::borrow::Cow;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use settings::Settings;

use crate::{
    Account, AccountFacts, CaptionLimits, ConnectSpec, DocNotes, Draft, Example, FrameRules,
    Identity, LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit,
    ReconcileOutcome, RecoveryClass, Result, Session, Spec, SpecSource, Step, VideoFormat,
    Violation, Warning,
    analytics::Analytics,
    graph,
    oauth::{Oauth, Permission},
};

const LABEL: &str = "Instagram";

/// Longest caption.
const CAPTION_MAX: usize = 2_200;

/// Longest comment.
const COMMENT_MAX: usize = 2_200;

/// Most items of a carousel.
const CAROUSEL_MAX: usize = 10;

/// Most co-authors of a post.
const COLLABORATORS_MAX: usize = 3;

/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 1_000;

/// Posts in any 24 hours, a carousel counting once, until the account's own number is known: Instagram's pages say 25,
/// 50 and 100 (<https://developers.facebook.com/docs/instagram-platform/content-publishing>).
const RATE_LIMITS: &[RateLimit] = &[RateLimit::new(LimitScope::Account, 50, 86_400)];

const OAUTH: Oauth = Oauth {
    permissions: &[
        Permission::required("instagram_basic", "See your Instagram account"),
        Permission::required("instagram_content_publish", "Publish posts on Instagram"),
        Permission::required("pages_show_list", "See which pages you run"),
        Permission::required("pages_read_engagement", "See what is linked to your pages"),
        Permission::optional("instagram_manage_comments", "Write and answer comments"),
        Permission::optional("instagram_manage_insights", "Read the figures of your posts"),
        Permission::optional("instagram_manage_messages", "Answer messages"),
        Permission::optional("business_management", "Find the pages of your businesses"),
        // A page is subscribed to messages with both of these
        // (<https://developers.facebook.com/docs/messenger-platform/webhooks>).
        Permission::optional("pages_manage_metadata", "Be notified of new messages"),
        Permission::optional("pages_messaging", "Receive messages through your pages"),
    ],
    ..graph::OAUTH
};

const FILES: MediaRules = MediaRules {
    min: 1,
    images_max: CAROUSEL_MAX,
    videos_max: CAROUSEL_MAX,
    total_max: CAROUSEL_MAX,
    mixed: true,
    image_types: &["image/jpeg"],
    video_types: &["video/mp4", "video/quicktime"],
    // <https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media>
    video_forms: &[VideoFormat {
        channels_max: Some(2),
        frame_rate: (23.0, 60.0),
        width_max: Some(1_920),
        bit_rate_max: Some(25_000_000),
        faststart: true,
        ..VideoFormat::H264
    }],
    image_bytes_max: 8_000_000,
    video_bytes_max: 300_000_000,
    video_ms_max: Some(15 * 60 * 1_000),
    frame: FrameRules {
        image_ratio: Some((0.8, 1.91)),
        image_width_max: Some(1_440),
        video_ratio: Some((0.01, 10.0)),
        video_ms_min: Some(3_000),
        ..FrameRules::ANY
    },
};

const SPEC: Spec = Spec {
    base_url: graph::HOST,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits::characters(CAPTION_MAX),
    media: FILES,
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "An image, a video (which becomes a reel) or, of several files, a carousel.",
            media: None,
        },
        PostType {
            name: "story",
            doc: "An image or a video of 3 to 60 s, seen for 24 hours, without a text.",
            media: Some(MediaRules {
                images_max: 1,
                videos_max: 1,
                total_max: 1,
                mixed: false,
                video_bytes_max: 100_000_000,
                video_ms_max: Some(60_000),
                frame: FrameRules { image_ratio: None, ..FILES.frame },
                ..FILES
            }),
        },
        PostType {
            name: "reel",
            doc: "A video of 3 s to 15 min.",
            media: Some(MediaRules { images_max: 0, videos_max: 1, total_max: 1, ..FILES }),
        },
        PostType {
            name: "carousel",
            doc: "2 to 10 images and videos.",
            media: Some(MediaRules { min: 2, ..FILES }),
        },
    ],
    captionless: &["story"],
    settings: Settings::FIELDS,
    ai_label: true,
    analytics: true,
    recovery_class: RecoveryClass::Handle,
    rate_limits: RATE_LIMITS,
    api: Some(graph::SUPPORTED),
    doc_notes: DocNotes {
        reconcile: "`GET /{container}?fields=status_code`, then the latest media",
        tokens: "page tokens do not end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "media, captions, containers, posts in 24 hours",
            "https://developers.facebook.com/docs/instagram-platform/content-publishing",
        ),
        SpecSource::documented(
            "codes of errors",
            "https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes",
        ),
        SpecSource::observed(
            "label for AI, licensed sounds, trial reels, first comments",
            "open-source publishers",
        ),
        SpecSource::assumed("people in one post, length of comments", "limits of Fanfare's own"),
    ],
    examples: &[
        Example::new(
            "an image with all that belongs to it",
            r#"{"caption": "Hello #there", "settings": {"media_alt_texts": ["A cat"], "user_tags": [{"username": "cat", "x": 0.5, "y": 0.25}], "collaborators": ["dog"], "is_ai_generated": true, "first_comment": "First!", "companion_story": true}}"#,
        )
        .with(&["image/jpeg"]),
        Example::new("a carousel", r#"{"caption": "Three", "post_type": "carousel"}"#)
            .with(&["image/jpeg", "video/mp4", "image/jpeg"]),
        Example::new(
            "a trial reel",
            r#"{"caption": "Let us see", "post_type": "reel", "settings": {"is_trial_reel": true, "graduation_strategy": "SS_PERFORMANCE", "reel_thumb_offset": 500}}"#,
        )
        .with(&["video/mp4"]),
        Example::new(
            "a reel with a licensed sound and a cover",
            r#"{"caption": "Listen", "post_type": "reel", "settings": {"audio_id": "1", "reel_cover_url": "https://example.org/cover.jpg"}}"#,
        )
        .with(&["video/mp4"])
        .requiring("a sound and an image with these names"),
        Example::new(
            "a poll",
            r#"{"caption": "Tea or coffee?", "settings": {"poll": {"options": ["Tea", "Coffee"], "open_ended": true}}}"#,
        )
        .with(&["image/jpeg"]),
        Example::new(
            "a question to be answered in the comments",
            r#"{"caption": "Where shall we go?", "settings": {"comment_prompt": true}}"#,
        )
        .with(&["image/jpeg"]),
        Example::new("a story", r#"{"post_type": "story"}"#).with(&["image/jpeg"]),
        Example::new("a video story", r#"{"post_type": "story"}"#).with(&["video/mp4"]),
    ],
    ..Spec::with_defaults(PlatformId::Instagram, LABEL)
};

/// The kind of post that a draft becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Image,
    Reel,
    Story,
    Carousel,
}

impl Form {
    fn of(draft: &Draft) -> Self {
        match draft.media.as_slice() {
            _ if draft.post_type == "story" => Self::Story,
            [_, _, ..] => Self::Carousel,
            _ if draft.post_type == "reel" => Self::Reel,
            [one] if one.is_video() => Self::Reel,
            _ => Self::Image,
        }
    }
}

/// The connector.
pub struct Instagram;

#[async_trait]
impl AccountFacts for Instagram {
    async fn read(&self, session: &Session) -> Result<Map<String, Value>> {
        client::quota(session).await.map(|quota| quota.facts())
    }

    fn are_known(&self, meta: &Map<String, Value>) -> bool {
        graph::quota::is_known(meta)
    }
}

#[async_trait]
impl Platform for Instagram {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    /// <https://github.com/gitroomhq/postiz-app/pull/1562>
    fn finds_late(&self) -> bool {
        true
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn rate_limits(&self, meta: &Value) -> Cow<'static, [RateLimit]> {
        graph::quota::rate_limits(RATE_LIMITS, meta)
    }

    fn account_facts(&self) -> Option<&dyn AccountFacts> {
        Some(self)
    }

    fn account_violation(&self, account: &Account) -> Option<Violation> {
        check::lacks(account)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
    }

    fn is_ai_labelled(&self, draft: &Draft) -> bool {
        draft.settings::<Settings>().is_ok_and(|settings| settings.is_ai(draft))
    }

    fn step(&self, draft: &Draft, state: Option<&Value>) -> Step {
        publish::step(draft, state)
    }

    async fn publish(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
    ) -> Result<Progress> {
        publish::publish(session, draft, state).await
    }

    async fn reconcile(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        reconcile::reconcile(session, draft, state, sent_at).await
    }

    fn inbox(&self) -> Option<&dyn crate::Inbox> {
        Some(self)
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    async fn identities(&self, session: &Session) -> Result<Vec<Identity>> {
        verify::identities(session).await
    }
}
