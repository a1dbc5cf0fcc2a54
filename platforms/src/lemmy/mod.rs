//! Lemmy, on any instance, in any community it knows: with the username and password of an account, since Lemmy has no
//! other way. The password is used to log in again when the token has expired.
//!
//! Lemmy has no idempotency keys: after a lost response the account's latest posts are read.

mod analytics;
mod client;
mod error;
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
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, Identity, LimitScope,
    MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, RefreshedTokens, Result, Secrets, Session, Spec, SpecSource, Step, SupportedApi,
    Violation,
    analytics::Analytics,
    text::{Alteration, Alterations},
};

/// Longest text in characters.
const BODY_MAX: usize = 50_000;
/// Largest image in bytes. Instances set their own limit; this is the default.
const IMAGE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Most images: the one that is linked and those below the text. Fanfare's own limit.
const IMAGES_MAX: usize = 10;

const SPEC: Spec = Spec {
    connect: ConnectSpec::Credentials(&[
        CredentialField::required("instance_url", "Address of the instance, for example https://lemmy.world."),
        CredentialField::required("username", "Name of the account, or its e-mail address."),
        CredentialField::required(
            "password",
            "The password. Lemmy has no app passwords: use an account made for posting. Accounts with a second factor \
             cannot be connected.",
        ),
    ]),
    caption: CaptionLimits::characters(BODY_MAX),
    media: MediaRules {
        images_max: IMAGES_MAX,
        total_max: IMAGES_MAX,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        image_bytes_max: IMAGE_BYTES_MAX,
        ..MediaRules::NONE
    },
    alt_text_max: settings::ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "A post in a community. The caption is Markdown; its first line is the title unless one is given. The \
              first image is linked, further ones stand below the text.",
        media: None,
    }],
    settings: Settings::FIELDS,
    analytics: true,
    recovery_class: RecoveryClass::Search,
    ignored_parameter: Some("uncached"),
    alterations: Alterations {
        text: &[
            Alteration::ImageProxy("/api/v3/image_proxy"),
            Alteration::ImageProxy("/api/v4/image/proxy"),
            Alteration::Mask("*removed*"),
        ],
        ..Alterations::NONE
    },
    rate_limits: &[RateLimit::new(LimitScope::Account, 6, 600)],
    api: Some(SupportedApi { newest_known: "v4", ..SupportedApi::lasting("v3", "2026-11-26") }),
    doc_notes: DocNotes {
        reconcile: "`GET /api/v3/user`, by title and time",
        tokens: "the log-in does not end; the password makes a new one",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "title, text, address and alt text, log-in, fields of posts",
            "https://github.com/LemmyNet/lemmy",
        ),
        SpecSource::observed(
            "upload of images, waits after rate_limit_error",
            "https://join-lemmy.org/docs/contributors/04-api.html",
        ),
        SpecSource::observed(
            "changes of texts: parameters of links, addresses of images, unwanted words",
            "https://github.com/LemmyNet/lemmy/blob/0.19.5/crates/api_common/src/utils.rs",
        ),
        SpecSource::assumed(
            "pace and size of images (each instance sets its own), number of images",
            "the defaults of a new instance",
        ),
    ],
    examples: &[
        Example::new(
            "a text in a community of the instance",
            r#"{"caption": "Hello, Lemmy\n\nThis is **news**.", "settings": {"community": "fanfare@lemmy.example"}}"#,
        ),
        Example::new(
            "a link in a community of another instance",
            r#"{"caption": "Worth reading.", "settings": {"community": "rust@programming.example", "title": "Rust news", "url": "https://example.org/news", "nsfw": false, "language_id": 37}}"#,
        ),
        Example::new(
            "an image",
            r#"{"caption": "Our cat", "settings": {"community": "pics@lemmy.example", "media_alt_texts": ["A cat"]}}"#,
        )
        .with(&["image/png"]),
    ],
    ..Spec::with_defaults(PlatformId::Lemmy, "Lemmy")
};

/// The connector.
pub struct Lemmy;

#[async_trait]
impl Platform for Lemmy {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.contains_key("title")
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
    }

    /// Returns the instance, since each has its own limits.
    fn app(&self, account: &crate::Account) -> Option<String> {
        account.meta_str("instance_url").map(str::to_owned)
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

    fn can_refresh(&self, _secrets: &Secrets) -> bool {
        true
    }

    async fn refresh(&self, session: &Session) -> Result<Option<RefreshedTokens>> {
        verify::refresh(session).await.map(Some)
    }
}
