//! Facebook pages: texts, links, photos and videos in the feed, reels, stories, cover photos.
//!
//! A feed post is one call, and is looked up among the page's posts if the response was lost. Reels and video stories
//! are uploaded first, and have a status. A photo story cannot be looked up.

mod analytics;
mod check;
mod client;
mod error;
mod inbox;
mod publish;
mod reconcile;
mod settings;
mod shape;
mod state;
#[cfg(test)]
mod tests;
mod verify;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, DocNotes, Draft, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Session, Spec, SpecSource, Step, VideoFormat, Violation, Warning,
    analytics::Analytics,
    graph,
    oauth::{Oauth, Permission},
};

const LABEL: &str = "Facebook";

/// Longest text.
const TEXT_MAX: usize = 63_206;

/// Most photos of one post.
const PHOTOS_MAX: usize = 10;

/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 1_000;

/// Post type of a short upright video.
const REEL: &str = "reel";

/// Post type of a post that is visible for a day.
const STORY: &str = "story";

/// Post type of the page's cover photo.
const COVER_PHOTO: &str = "cover_photo";

const HOUR_MS: u64 = 60 * 60 * 1_000;

/// Reels of a page in any 24 hours; other posts are only limited by the number of calls, which usage headers report
/// (<https://developers.facebook.com/docs/video-api/guides/reels-publishing>). Occasional feed posts do not reach
/// either limit.
const RATE_LIMITS: &[RateLimit] =
    &[PAGE, RateLimit::new(LimitScope::Account, 30, 86_400).for_post_types(&["reel"])];

/// What a page may make public, comments included.
const PAGE: RateLimit = RateLimit::new(LimitScope::Account, 10, 60);

const OAUTH: Oauth = Oauth {
    permissions: &[
        Permission::required("pages_show_list", "See which pages you run"),
        Permission::required("pages_manage_posts", "Publish posts on your pages"),
        Permission::required("pages_read_engagement", "See your pages' posts"),
        Permission::optional("pages_manage_engagement", "Answer and hide comments"),
        Permission::optional("pages_read_user_content", "Read comments on your pages"),
        Permission::optional("read_insights", "Read the figures of your pages"),
        Permission::optional("business_management", "Find the pages of your businesses"),
        Permission::optional("pages_messaging", "Answer messages to your pages"),
        Permission::optional(
            "pages_manage_metadata",
            "Change your pages' cover photos, and be notified of new messages",
        ),
    ],
    ..graph::OAUTH
};

const FEED: MediaRules = MediaRules {
    images_max: PHOTOS_MAX,
    videos_max: 1,
    total_max: PHOTOS_MAX,
    image_types: &["image/jpeg", "image/png", "image/gif"],
    video_types: &["video/mp4", "video/quicktime"],
    video_forms: &[VideoFormat::H264],
    image_bytes_max: 4_000_000,
    video_bytes_max: 10_000_000_000,
    video_ms_max: Some(4 * HOUR_MS),
    ..MediaRules::NONE
};

const SPEC: Spec = Spec {
    base_url: graph::HOST,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits::characters(TEXT_MAX),
    media: FEED,
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A text, a link, up to 10 photos, or a video.",
            media: None,
        },
        PostType {
            name: STORY,
            doc: "A photo or a video of up to 60 s, seen for 24 hours, without a text.",
            media: Some(MediaRules {
                min: 1,
                images_max: 1,
                total_max: 1,
                video_ms_max: Some(60_000),
                ..FEED
            }),
        },
        PostType {
            name: REEL,
            doc: "An upright video of 3 to 90 s.",
            media: Some(MediaRules {
                min: 1,
                images_max: 0,
                total_max: 1,
                video_types: &["video/mp4"],
                video_forms: &[VideoFormat { frame_rate: (24.0, 60.0), ..VideoFormat::H264 }],
                video_ms_max: Some(90_000),
                frame: FrameRules { video_ms_min: Some(3_000), ..FrameRules::ANY },
                ..FEED
            }),
        },
        PostType {
            name: COVER_PHOTO,
            doc: "A new picture at the head of the page.",
            media: Some(MediaRules { min: 1, images_max: 1, videos_max: 0, total_max: 1, ..FEED }),
        },
    ],
    captionless: &[STORY, COVER_PHOTO],
    settings: Settings::FIELDS,
    ai_label: true,
    analytics: true,
    unseen: Some(
        "Only people with a role in the app see posts that were made with it while it is in development mode, though these look public. App mode is shown at developers.facebook.com, on the app's page.",
    ),
    recovery_class: RecoveryClass::Search,
    commit_deadline: Duration::from_secs(60),
    rate_limits: RATE_LIMITS,
    api: Some(graph::SUPPORTED),
    doc_notes: DocNotes {
        reconcile: "posts: `GET /{page}/published_posts`, by text and time; videos and reels: `GET /{video}?fields=status`; stories: nothing",
        tokens: "page tokens do not end",
        tested: "",
    },
    equal_text_hours: Some(24),
    sources: &[
        SpecSource::documented(
            "reels: length, shape, steps, 30 in 24 hours",
            "https://developers.facebook.com/docs/video-api/guides/reels-publishing",
        ),
        SpecSource::documented(
            "page tokens, permissions",
            "https://developers.facebook.com/docs/pages-api",
        ),
        SpecSource::observed(
            "longest text, posts with photos, backgrounds, stories, codes of errors",
            "open-source publishers",
        ),
        SpecSource::assumed(
            "photos in a post, length of alt texts and titles, videos are listed while they are processed, rate limits",
            "limits of Fanfare's own",
        ),
        SpecSource::assumed(
            "hours within which an equal text may be refused",
            "Facebook refuses the same text again and names no time: the hours are Fanfare's",
        ),
    ],
    examples: &[
        Example::new("a text", r#"{"caption": "Hello, page"}"#),
        Example::new(
            "a link",
            r#"{"caption": "Read on", "settings": {"link": "https://example.org"}}"#,
        ),
        Example::new(
            "a text on a coloured background",
            r#"{"caption": "Big news!", "settings": {"text_format_preset_id": "106018623298955"}}"#,
        ),
        Example::new(
            "photos with alt texts",
            r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new(
            "a video",
            r#"{"caption": "A long video", "settings": {"title": "The video"}}"#,
        )
        .with(&["video/mp4"]),
        Example::new("a reel", r#"{"caption": "A short video", "post_type": "reel"}"#)
            .with(&["video/mp4"]),
        Example::new(
            "a reel with a cover",
            r#"{"caption": "A short video", "post_type": "reel", "settings": {"reel_cover_url": "https://example.org/cover.jpg"}}"#,
        )
        .with(&["video/mp4"])
        .requiring("an image at that address"),
        Example::new("a photo story", r#"{"post_type": "story"}"#).with(&["image/png"]),
        Example::new("a video story", r#"{"post_type": "story"}"#).with(&["video/mp4"]),
        Example::new(
            "a cover photo",
            r#"{"post_type": "cover_photo", "settings": {"offset_y": 20, "no_feed_story": true}}"#,
        )
        .with(&["image/png"]),
    ],
    ..Spec::with_defaults(PlatformId::Facebook, LABEL)
};

/// The kind of post that a draft becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Feed,
    Video,
    Reel,
    PhotoStory,
    VideoStory,
    CoverPhoto,
}

impl Form {
    /// Returns true if its file is a video.
    const fn has_video(self) -> bool {
        matches!(self, Self::Video | Self::Reel | Self::VideoStory)
    }

    fn of(draft: &Draft) -> Self {
        let is_video = draft.media.first().is_some_and(crate::Media::is_video);
        match draft.post_type.as_str() {
            REEL => Self::Reel,
            STORY if is_video => Self::VideoStory,
            STORY => Self::PhotoStory,
            COVER_PHOTO => Self::CoverPhoto,
            _ if draft.media.first().is_some_and(shape::is_taken_as_reel) => Self::Reel,
            _ if is_video => Self::Video,
            _ => Self::Feed,
        }
    }

    /// Returns true if Facebook publishes it some time after it has accepted it.
    const fn is_awaited(self) -> bool {
        matches!(self, Self::Video | Self::Reel)
    }

    const fn class(self) -> RecoveryClass {
        match self {
            Self::Feed | Self::Video | Self::CoverPhoto => RecoveryClass::Search,
            Self::Reel | Self::VideoStory => RecoveryClass::Handle,
            Self::PhotoStory => RecoveryClass::Blind,
        }
    }
}

/// The connector.
pub struct Facebook;

#[async_trait]
impl Platform for Facebook {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    /// <https://github.com/gitroomhq/postiz-app/pull/1562>
    fn finds_late(&self) -> bool {
        true
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.get("link").is_some_and(Value::is_string)
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
    }

    fn recovery_class(&self, _account: &Account, draft: &Draft) -> RecoveryClass {
        Form::of(draft).class()
    }

    /// A post without a video cannot be labelled.
    fn is_ai_labelled(&self, draft: &Draft) -> bool {
        !Form::of(draft).has_video() || crate::settings::is_ai_generated(draft)
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
