//! Bluesky, through the personal data server (PDS) of the account.
//!
//! The connector chooses the key of the record before it sends, so a post can be sent again as often as needed: the
//! server keeps one record per key.

mod analytics;
mod captions;
mod card;
mod cid;
mod client;
mod error;
mod facets;
mod publish;
mod quote;
mod record;
mod reply_rules;
mod settings;
mod state;
mod tid;
mod verify;
mod video;
mod video_service;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, Identity, LimitScope,
    MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, RefreshedTokens, Result, Secrets, Session, Spec, SpecSource, Step, ThreadRules,
    VideoFormat, Violation, analytics::Analytics, text,
};

/// Largest image in bytes (lexicon `app.bsky.embed.images`).
const IMAGE_BYTES_MAX: u64 = 2_000_000;

/// Largest video in bytes (lexicon `app.bsky.embed.video`), and its longest duration.
const VIDEO_BYTES_MAX: u64 = 300_000_000;
const VIDEO_MS_MAX: u64 = 180_000;

/// Post type of a chain.
const CHAIN: &str = "bluesky_thread";
/// Key of a chain's texts in the metadata.
const CHAIN_KEY: &str = "bluesky_thread_posts";
/// Longest text in graphemes and in bytes (lexicon `app.bsky.feed.post`).
const TEXT_MAX: usize = 300;
const TEXT_BYTES_MAX: usize = 3_000;

/// Creating a record costs 3 points of the 5,000 an hour and 35,000 a day that an account has
/// (<https://docs.bsky.app/docs/advanced-guides/rate-limits>).
const RATE_LIMITS: &[RateLimit] = &[
    RateLimit::new(LimitScope::Account, 1_666, 3_600),
    RateLimit::new(LimitScope::Account, 11_666, 86_400),
];

const SPEC: Spec = Spec {
    base_url: "https://bsky.social",
    connect: ConnectSpec::Credentials(&[
        CredentialField::required(
            "identifier",
            "Handle of the account, for example name.bsky.social, or its e-mail address.",
        ),
        CredentialField::required(
            "app_password",
            "An app password, made in Bluesky under Settings, Privacy and security, App passwords.",
        ),
        CredentialField::optional(
            "service",
            "Address of the account's own server, if that is not https://bsky.social.",
        ),
    ]),
    caption: CaptionLimits {
        max: TEXT_MAX,
        max_with_media: None,
        max_bytes: Some(TEXT_BYTES_MAX),
        count: text::graphemes,
        unit: "graphemes",
    },
    media: MediaRules {
        images_max: 4,
        videos_max: 1,
        total_max: 4,
        image_types: &["image/jpeg", "image/png", "image/webp", "image/gif"],
        image_bytes_max: IMAGE_BYTES_MAX,
        video_types: &["video/mp4"],
        video_forms: &[VideoFormat { types: &["video/mp4"], ..VideoFormat::H264 }],
        video_bytes_max: VIDEO_BYTES_MAX,
        video_ms_max: Some(VIDEO_MS_MAX),
        ..MediaRules::NONE
    },
    alt_text_max: settings::ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A post. Web addresses, @handles and #tags become links; without files and quote the first address \
              gets a preview card.",
            media: None,
        },
        PostType {
            name: CHAIN,
            doc: "A chain of 2 to 50 posts, public all at once: each text of metadata.bluesky_thread_posts is one post. \
              Media, quote, hidden tags and who may reply go with the first; languages, content label and \
              disable_quotes with each. The caption is not published.",
            media: None,
        },
    ],
    thread: Some(ThreadRules {
        post_type: CHAIN,
        metadata_key: CHAIN_KEY,
        segment_max: TEXT_MAX,
        segments_max: 50,
        urls_allowed: true,
    }),
    settings: Settings::FIELDS,
    analytics: true,
    recovery_class: RecoveryClass::Key { window: None },
    rate_limits: RATE_LIMITS,
    doc_notes: DocNotes {
        reconcile: "`com.atproto.repo.getRecord` of the record key that the service chose; the same record may be written again",
        tokens: "2 hours, by a refresh token of about 2 months that is replaced with each use; the app password makes new ones",
        tested: "a Bluesky PDS (npm)",
    },
    sources: &[
        SpecSource::documented(
            "text, media, alt texts, settings",
            "https://github.com/bluesky-social/atproto/tree/main/lexicons",
        ),
        SpecSource::documented(
            "rate limits",
            "https://docs.bsky.app/docs/advanced-guides/rate-limits",
        ),
        SpecSource::documented(
            "the way of a video",
            "https://docs.bsky.app/docs/tutorials/video",
        ),
        SpecSource::observed("length of videos", "announcements of Bluesky, 2024 and 2025"),
        SpecSource::observed("length of alt texts", "Bluesky's own app"),
    ],
    examples: &[
        Example::new("text", r#"{"caption": "Hello #launch"}"#),
        Example::new(
            "every setting of a text",
            r#"{"caption": "Bonjour", "settings": {"languages": ["fr", "en"], "content_label": "nudity", "tags": ["hidden"], "disable_quotes": true}}"#,
        ),
        Example::new(
            "a quote",
            r#"{"caption": "See this", "settings": {"quote_url": "<earlier_url>"}}"#,
        ),
        Example::new(
            "images with alt texts",
            r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new(
            "a video with captions",
            r#"{"caption": "How it works", "settings": {"media_alt_texts": ["Hands fold a paper crane"], "captions": [{"lang": "en", "url": "<captions_url>"}]}}"#,
        )
        .with(&["video/mp4"]),
        Example::new(
            "a quote with a video",
            r#"{"caption": "See this", "settings": {"quote_url": "<earlier_url>"}}"#,
        )
        .with(&["video/mp4"]),
        Example::new(
            "a chain",
            r#"{"post_type": "bluesky_thread", "metadata": {"bluesky_thread_posts": ["First of all", "And last"]}}"#,
        ),
        Example::new(
            "a text that some may answer",
            r#"{"caption": "Only for those who follow", "settings": {"allow_replies_from": ["followers", "mentioned"], "allow_reply_lists": ["https://bsky.app/profile/did:plc:z72i7hdynmk6r22z27h6tvur/lists/3l2s5xxv2ze2c"]}}"#,
        ),
        Example::new(
            "a text that nobody may answer",
            r#"{"caption": "Just so you know", "settings": {"disable_replies": true}}"#,
        ),
    ],
    ..Spec::with_defaults(PlatformId::Bluesky, "Bluesky")
};

/// Returns true if the post is a chain.
fn is_chain(draft: &Draft) -> bool {
    draft.post_type == CHAIN
}

/// Returns the texts to publish, one per record.
fn texts(draft: &Draft) -> Vec<String> {
    if is_chain(draft) { draft.metadata_texts(CHAIN_KEY) } else { vec![draft.caption.clone()] }
}

/// The connector.
pub struct Bluesky;

#[async_trait]
impl Platform for Bluesky {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
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

    async fn videos_left(&self, session: &Session) -> Result<Option<u64>> {
        video::videos_left(session).await
    }

    async fn reconcile(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
        _sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        publish::reconcile(session, draft, state.as_ref()).await
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    fn can_refresh(&self, _secrets: &Secrets) -> bool {
        true
    }

    async fn refresh(&self, session: &Session) -> Result<Option<RefreshedTokens>> {
        verify::refresh(session).await.map(Some)
    }

    fn can_revoke(&self) -> bool {
        true
    }

    async fn revoke(&self, session: &Session) -> Result<bool> {
        verify::revoke(session).await
    }
}

#[cfg(test)]
mod tests;
