//! Threads: containers are created first, then one call publishes each.
//!
//! The status of a container tells whether it was published, so a lost response can be recovered. A chain is a sequence
//! of posts, each a reply to the one before; publishing resumes at the first segment that is not confirmed.

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

use std::{borrow::Cow, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use settings::Settings;

use crate::{
    AccountFacts, CaptionLimits, ConnectSpec, DocNotes, Draft, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, PublishedPart, RateLimit,
    ReconcileOutcome, RecoveryClass, Result, Session, Spec, SpecSource, Step, ThreadRules,
    VideoFormat, Violation,
    analytics::Analytics,
    graph,
    oauth::{Endpoint, Oauth, Permission, TokenExchange, TokenRenewal},
    outcome, text,
};

/// Longest text of one post.
const TEXT_MAX: usize = 500;

/// Most items of a carousel.
const CAROUSEL_MAX: usize = 20;

/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 1_000;

/// Post type of a chain.
const CHAIN: &str = "threads_thread";

/// Key of a chain's texts in the metadata.
const CHAIN_KEY: &str = "threads_thread_posts";

/// The permission to show posts on Instagram.
const SHARE: &str = "threads_share_to_instagram";

/// 250 posts of a profile in any 24 hours, until the account's own number is known
/// (<https://developers.facebook.com/docs/threads/overview#rate-limiting>).
const RATE_LIMITS: &[RateLimit] = &[RateLimit::new(LimitScope::Account, 250, 86_400)];

/// The host of the API and of its token endpoints.
const GRAPH: &str = "https://graph.threads.net";

/// A token that is valid for an hour is exchanged for one of 60 days, which can be refreshed from its second day on
/// (<https://developers.facebook.com/docs/threads/get-started/long-lived-tokens>).
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://www.threads.net", "/oauth/authorize"),
    permissions: &[
        Permission::required("threads_basic", "See your profile and your posts"),
        Permission::required("threads_content_publish", "Publish posts"),
        Permission::optional("threads_read_replies", "Read replies to your posts"),
        Permission::optional("threads_manage_replies", "Answer and hide replies"),
        Permission::optional("threads_manage_insights", "Read the figures of your posts"),
        Permission::optional(SHARE, "Show your posts as stories on Instagram"),
    ],
    separator: ",",
    token: Endpoint::at(GRAPH, "/oauth/access_token"),
    long_lived: Some(TokenExchange {
        endpoint: Endpoint::at(GRAPH, "/access_token"),
        grant_type: "th_exchange_token",
        token_name: "access_token",
        with_client_id: false,
        with_client_secret: true,
    }),
    renewal: TokenRenewal::Exchange(TokenExchange {
        endpoint: Endpoint::at(GRAPH, "/refresh_access_token"),
        grant_type: "th_refresh_token",
        token_name: "access_token",
        with_client_id: false,
        with_client_secret: false,
    }),
    ..Oauth::DEFAULTS
};

const SPEC: Spec = Spec {
    base_url: GRAPH,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        max: TEXT_MAX,
        max_with_media: None,
        max_bytes: None,
        count: text::threads_units,
        unit: "characters (emoji count as bytes)",
    },
    media: MediaRules {
        min: 0,
        images_max: CAROUSEL_MAX,
        videos_max: CAROUSEL_MAX,
        total_max: CAROUSEL_MAX,
        mixed: true,
        image_types: &["image/jpeg", "image/png"],
        video_types: &["video/mp4", "video/quicktime"],
        video_forms: &[VideoFormat {
            channels_max: Some(2),
            frame_rate: (23.0, 60.0),
            faststart: true,
            ..VideoFormat::H264
        }],
        image_bytes_max: 8_000_000,
        video_bytes_max: 1_000_000_000,
        video_ms_max: Some(5 * 60 * 1_000),
        // Threads scales down images that are wider than 1,440 pixels.
        frame: FrameRules { image_ratio: Some((0.1, 10.0)), ..FrameRules::ANY },
    },
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A text, an image, a video or a carousel of 2 to 20 of them.",
            media: None,
        },
        PostType {
            name: CHAIN,
            doc: "A chain: each text of metadata.threads_thread_posts is one post, media go with the first. The \
                  caption is not published.",
            media: None,
        },
    ],
    settings: Settings::FIELDS,
    thread: Some(ThreadRules {
        post_type: CHAIN,
        metadata_key: CHAIN_KEY,
        segment_max: TEXT_MAX,
        segments_max: 100,
        urls_allowed: true,
    }),
    analytics: true,
    recovery_class: RecoveryClass::Handle,
    rate_limits: RATE_LIMITS,
    prepare_lead: Duration::from_secs(2 * 60),
    doc_notes: DocNotes {
        reconcile: "`GET /v1.0/{container}?fields=status`, then the latest posts",
        tokens: "60 days, exchanged for another 60 before they end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "text, media, settings",
            "https://developers.facebook.com/docs/threads",
        ),
        SpecSource::documented(
            "rate limits",
            "https://developers.facebook.com/docs/threads/overview#rate-limiting",
        ),
        SpecSource::assumed("length of alt texts, most segments of a chain", "limits of Fanfare's own"),
    ],
    examples: &[
        Example::new(
            "text with its settings",
            r#"{"caption": "Hello, secret", "settings": {"reply_control": "accounts_you_follow", "topic_tag": "News", "spoilers": [{"offset": 7, "length": 6}], "enable_reply_approvals": true, "share_to_instagram": true}}"#,
        ),
        Example::new(
            "a poll",
            r#"{"caption": "Tea?", "settings": {"poll": {"options": ["Yes", "No"]}}}"#,
        ),
        Example::new(
            "a long text",
            r#"{"caption": "Read on", "settings": {"text_attachment": {"plaintext": "A long story.", "link_attachment_url": "https://example.org"}}}"#,
        ),
        Example::new(
            "a link",
            r#"{"caption": "A link", "settings": {"link_attachment": "https://example.org", "share_to_instagram_dark": true}}"#,
        ),
        Example::new(
            "a GIF",
            r#"{"caption": "A GIF", "settings": {"gif_attachment": {"gif_id": "abc123", "provider": "GIPHY"}}}"#,
        ),
        Example::new(
            "a quote",
            r#"{"caption": "See this", "settings": {"quote_post_id": "<earlier>"}}"#,
        ),
        Example::new(
            "a ghost post",
            r#"{"caption": "Gone tomorrow", "settings": {"is_ghost_post": true}}"#,
        ),
        Example::new(
            "images with alt texts",
            r#"{"caption": "Two pictures", "settings": {"is_spoiler_media": true, "media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new(
            "a chain",
            r#"{"post_type": "threads_thread", "metadata": {"threads_thread_posts": ["One", "Two"]}}"#,
        ),
    ],
    ..Spec::with_defaults(PlatformId::Threads, "Threads")
};

/// The connector.
pub struct Threads;

#[async_trait]
impl AccountFacts for Threads {
    async fn read(&self, session: &Session) -> Result<Map<String, Value>> {
        client::quota(session).await.map(|quota| quota.facts())
    }

    fn are_known(&self, meta: &Map<String, Value>) -> bool {
        graph::quota::is_known(meta)
    }
}

#[async_trait]
impl Platform for Threads {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    /// <https://github.com/gitroomhq/postiz-app/pull/1562>
    fn finds_late(&self) -> bool {
        true
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        settings::settings_suffice(draft)
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

    fn public_parts(&self, _: &Draft, state: &Value) -> Vec<PublishedPart> {
        let state = outcome::read_state::<state::State>(Some(state)).unwrap_or_default();
        PublishedPart::segments(&state.published)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }
}
