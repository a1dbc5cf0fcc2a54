//! X: posts, polls, images, videos and chains.
//!
//! Files are uploaded first, large ones in chunks. There is no idempotency key: after a lost response the post is
//! looked up among the account's latest ones, and X itself refuses a text that was posted a moment ago.

mod analytics;
mod check;
mod client;
mod error;
mod publish;
mod reconcile;
mod settings;
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
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, PublishedPart, RateLimit,
    ReconcileOutcome, RecoveryClass, Result, Session, Spec, SpecSource, Step, ThreadRules,
    VideoFormat, Violation, Warning,
    analytics::Analytics,
    oauth::{ClientAuth, Endpoint, Oauth, Permission, TokenRenewal},
    outcome, text,
};

const LABEL: &str = "X";

/// The host of the API and of its token endpoints.
const API: &str = "https://api.x.com";

/// Longest text of one post.
const TEXT_MAX: usize = 280;

/// Longest text of an account that pays for more (<https://help.x.com/en/using-x/x-premium>).
const LONG_TEXT_MAX: usize = 25_000;

/// The public fact that holds an account's subscription.
const SUBSCRIPTION: &str = "subscription_type";

/// Most images of one post.
const IMAGES_MAX: usize = 4;

/// The largest image that is not animated, in bytes.
const IMAGE_BYTES_MAX: u64 = 5 << 20;

/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 1_000;

/// Post type of a chain.
const CHAIN: &str = "x_thread";

/// Key of a chain's texts in the metadata.
const CHAIN_KEY: &str = "x_thread_tweets";

/// 100 posts in 15 minutes and 300 in three hours of an account, 10,000 in 24 hours of an app
/// (<https://docs.x.com/x-api/fundamentals/rate-limits>).
const RATE_LIMITS: &[RateLimit] = &[
    RateLimit::new(LimitScope::Account, 100, 15 * 60),
    RateLimit::new(LimitScope::Account, 300, 3 * 3_600),
    RateLimit::new(LimitScope::App, 10_000, 86_400),
];

/// Access tokens are valid for two hours; each refresh token can be used once
/// (<https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code>). X does not say how long an unused
/// one is valid; half a year was observed.
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://x.com", "/i/oauth2/authorize"),
    permissions: &[
        Permission::required("tweet.read", "See your posts"),
        Permission::required("tweet.write", "Publish posts"),
        Permission::required("users.read", "See your profile"),
        Permission::required("media.write", "Upload images and videos"),
        Permission::required("offline.access", "Stay connected"),
    ],
    pkce: true,
    token: Endpoint::at(API, "/2/oauth2/token"),
    client_auth: ClientAuth::Basic,
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(180 * 86_400) },
    revoke: Some(Endpoint::at(API, "/2/oauth2/revoke")),
    ..Oauth::DEFAULTS
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        max: TEXT_MAX,
        max_with_media: None,
        max_bytes: None,
        count: text::x_units,
        unit: "characters (as X weighs them)",
    },
    media: MediaRules {
        images_max: IMAGES_MAX,
        videos_max: 1,
        total_max: IMAGES_MAX,
        image_types: &["image/gif", "image/jpeg", "image/png", "image/webp"],
        video_types: &["video/mp4", "video/quicktime"],
        video_forms: &[VideoFormat {
            sound_profiles: &["LC"],
            frame_rate: (0.0, 60.0),
            ..VideoFormat::H264
        }],
        image_bytes_max: 15 << 20,
        video_bytes_max: 512 << 20,
        video_ms_max: Some(20 * 60 * 1_000),
        frame: FrameRules {
            video_ratio: Some((1.0 / 3.0, 3.0)),
            video_ms_min: Some(500),
            ..FrameRules::ANY
        },
        ..MediaRules::NONE
    },
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A text with up to 4 images, a GIF, a video or a poll.",
            media: None,
        },
        PostType {
            name: CHAIN,
            doc: "A chain: each text of metadata.x_thread_tweets is one post, media and settings go with the first. \
                  The caption is not published.",
            media: None,
        },
    ],
    settings: Settings::FIELDS,
    ai_label: true,
    thread: Some(ThreadRules {
        post_type: CHAIN,
        metadata_key: CHAIN_KEY,
        segment_max: TEXT_MAX,
        segments_max: 100,
        urls_allowed: false,
    }),
    analytics: true,
    recovery_class: RecoveryClass::Search,
    rate_limits: RATE_LIMITS,
    tools: &["x.quota"],
    doc_notes: DocNotes {
        reconcile: "`GET /2/users/{id}/tweets`, by text and time",
        tokens: "2 hours, by a refresh token that is good once",
        tested: "",
    },
    equal_text_hours: Some(168),
    sources: &[
        SpecSource::documented("calls and what they take", "https://docs.x.com/x-api"),
        SpecSource::documented(
            "weights of letters",
            "https://docs.x.com/fundamentals/counting-characters",
        ),
        SpecSource::documented("rate limits", "https://docs.x.com/x-api/fundamentals/rate-limits"),
        SpecSource::observed("replies to oneself, size of pieces", "open-source publishers"),
        SpecSource::assumed(
            "most posts of a chain, longest text of paying accounts, life of refresh tokens",
            "limits of Fanfare's own",
        ),
        SpecSource::assumed(
            "hours within which an equal text may be refused",
            "X refuses the same text again and names no time: the hours are Fanfare's",
        ),
    ],
    examples: &[
        Example::new(
            "a text with its settings",
            r#"{"caption": "Hello, world", "settings": {"reply_settings": "following", "paid_partnership": true, "ai_generated": true}}"#,
        ),
        Example::new(
            "a poll",
            r#"{"caption": "Tea?", "settings": {"poll": {"options": ["Yes", "No"], "duration_minutes": 60}}}"#,
        ),
        Example::new(
            "images with alt texts",
            r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new("a video", r#"{"caption": "A video"}"#).with(&["video/mp4"]),
        Example::new(
            "a chain",
            r#"{"post_type": "x_thread", "metadata": {"x_thread_tweets": ["First of all", "Second", "And last"]}}"#,
        ),
    ],
    ..Spec::with_defaults(PlatformId::X, LABEL)
};

/// Returns true if the post is a chain.
fn is_chain(draft: &Draft) -> bool {
    draft.post_type == CHAIN
}

/// Returns the texts to publish, one per post.
fn segments(draft: &Draft) -> Vec<String> {
    if is_chain(draft) { draft.metadata_texts(CHAIN_KEY) } else { vec![draft.caption.clone()] }
}

/// The connector.
pub struct X;

#[async_trait]
impl Platform for X {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn spec_of(&self, account: &Account) -> Spec {
        let pays = account.meta_str(SUBSCRIPTION).is_some_and(|it| it.starts_with("Premium"));
        let max = if pays { LONG_TEXT_MAX } else { TEXT_MAX };
        Spec { caption: CaptionLimits { max, ..SPEC.caption }, ..SPEC }
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
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
