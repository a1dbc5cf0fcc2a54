//! Mastodon, on any instance. Media are uploaded and processed first. Then one call creates the status, with an
//! idempotency key that the instance remembers for an hour: repeated within it, the call returns the same status.

mod analytics;
mod client;
mod error;
mod limits;
mod publish;
mod settings;
#[cfg(test)]
mod tests;
mod verify;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, FrameRules,
    Identity, LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit,
    ReconcileOutcome, RecoveryClass, Result, Session, Spec, SpecSource, Step, VideoFormat,
    Violation, Warning,
    analytics::Analytics,
    oauth::{self, App, Endpoint, Oauth, Permission},
    text,
};

/// Longest description of a file in characters.
const ALT_TEXT_MAX: usize = 1_500;
/// The most media of a status, unless the instance says otherwise.
const MEDIA_MAX: usize = 4;

/// Each instance keeps its own list of apps, and its tokens do not expire
/// (<https://docs.joinmastodon.org/spec/oauth/>).
const OAUTH: Oauth = Oauth {
    permissions: &[
        Permission::required("read:accounts", "See who you are"),
        Permission::required("read:statuses", "Read your posts"),
        Permission::required("write:statuses", "Publish posts"),
        Permission::required("write:media", "Upload pictures and videos"),
    ],
    pkce: true,
    revoke: Some(Endpoint::on_instance("/oauth/revoke")),
    instance: Some(CredentialField::required(
        oauth::INSTANCE,
        "Address of your instance, for example https://mastodon.social.",
    )),
    ..Oauth::DEFAULTS
};

/// The default limits of instances; `spec_of` overrides them with those of the account's instance.
const SPEC: Spec = Spec {
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        count: text::mastodon_units,
        unit: "characters (an address counts 23)",
        ..CaptionLimits::characters(500)
    },
    media: MediaRules {
        min: 0,
        images_max: MEDIA_MAX,
        videos_max: 1,
        total_max: MEDIA_MAX,
        mixed: false,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        video_types: &["video/mp4", "video/quicktime", "video/webm"],
        video_forms: &[VideoFormat::H264, VideoFormat::WEBM],
        image_bytes_max: 16_777_216,
        video_bytes_max: 103_809_024,
        video_ms_max: None,
        frame: FrameRules::ANY,
    },
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "A status: text, up to four images or a video, a poll, a quote.",
        media: None,
    }],
    settings: Settings::FIELDS,
    analytics: true,
    // Mastodon keeps an idempotency key for an hour, unless its Redis loses it; other servers that speak its API ignore the
    // key (<https://github.com/pixelfed/pixelfed/issues/3581>), and what they say of themselves does not tell.
    recovery_class: RecoveryClass::Search,
    ignored_parameter: Some("uncached"),
    rate_limits: &[RateLimit::new(LimitScope::Account, 300, 300)],
    doc_notes: DocNotes {
        reconcile: "`GET /api/v1/accounts/{id}/statuses`; only when these do not show it, the same call again under its `Idempotency-Key`",
        tokens: "tokens do not end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "statuses, media, polls, the idempotency key and its hour, limits of an instance",
            "https://docs.joinmastodon.org/methods/statuses/",
        ),
        SpecSource::documented("rate limits", "https://docs.joinmastodon.org/api/rate-limits/"),
        SpecSource::observed(
            "how texts are counted, media beside a poll",
            "https://github.com/mastodon/mastodon",
        ),
    ],
    examples: &[
        Example::new("text", r#"{"caption": "Hello, https://example.org and @friend@mastodon.example"}"#),
        Example::new(
            "every setting of a text",
            r#"{"caption": "It was the butler", "settings": {"visibility": "unlisted", "spoiler_text": "The end of a video", "sensitive": true, "language": "en"}}"#,
        ),
        Example::new(
            "a poll",
            r#"{"caption": "Tea?", "settings": {"poll": {"options": ["Yes", "No"], "expires_in": 86400, "multiple": false, "hide_totals": true}}}"#,
        ),
        Example::new(
            "a quote",
            r#"{"caption": "See this", "settings": {"quoted_status_id": "<earlier>"}}"#,
        ),
        Example::new(
            "images with alt texts",
            r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new(
            "an image with a poll",
            r#"{"caption": "Which one?", "settings": {"poll": {"options": ["The left", "The right"], "expires_in": 3600}}}"#,
        )
        .with(&["image/png"]),
    ],
    ..Spec::with_defaults(PlatformId::Mastodon, "Mastodon")
};

/// The connector.
pub struct Mastodon;

#[async_trait]
impl Platform for Mastodon {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn spec_of(&self, account: &Account) -> Spec {
        limits::with_instance_limits(SPEC, account)
    }

    /// Counts the content warning with the text.
    fn caption_length(&self, draft: &Draft) -> usize {
        let warning = draft.settings.get("spoiler_text").and_then(Value::as_str);
        text::mastodon_units(&draft.caption) + warning.map_or(0, text::graphemes)
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.contains_key("poll")
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        settings::warnings(draft)
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
        publish::reconcile(session, draft, state, sent_at).await
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    fn app_registration(&self) -> Option<&dyn crate::AppRegistration> {
        Some(self)
    }

    fn account_facts(&self) -> Option<&dyn crate::AccountFacts> {
        Some(self)
    }
}

#[async_trait]
impl crate::AppRegistration for Mastodon {
    async fn register(&self, session: &Session, redirect_uri: &str) -> Result<App> {
        verify::register(session, redirect_uri).await
    }
}

#[async_trait]
impl crate::AccountFacts for Mastodon {
    async fn read(&self, session: &Session) -> Result<serde_json::Map<String, Value>> {
        limits::read(session).await
    }
}
