//! Discord, through an incoming webhook of one channel.
//!
//! A webhook can send, and can fetch a message whose id is known, but it cannot list. So a lost response cannot be
//! recovered, and a post is one call with the text and all files.

mod client;
mod error;
mod publish;
mod settings;
#[cfg(test)]
mod tests;
mod verify;
mod watch;
mod webhook;

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, RecoveryClass,
    Result, Session, Spec, SpecSource, Step, Violation, analytics::Analytics,
    outcome::expect_no_state, text,
};

/// Largest file in bytes. Servers without boosts may accept less: then Discord responds with 40005.
const FILE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// Most files of one message.
const FILES_MAX: usize = 10;

/// Longest description of a file in characters.
const ALT_TEXT_MAX: usize = 1_024;

/// Discord publishes no limits and says to read its headers; these are their values for a webhook
/// (<https://discord.com/developers/docs/topics/rate-limits>).
const RATE_LIMITS: &[RateLimit] =
    &[RateLimit::new(LimitScope::Account, 5, 2), RateLimit::new(LimitScope::Account, 30, 60)];

const SPEC: Spec = Spec {
    base_url: "https://discord.com",
    connect: ConnectSpec::Credentials(&[CredentialField::required(
        "webhook_url",
        "Address of a webhook, as Discord copies it: Channel settings, Integrations, Webhooks. With `?thread_id=` behind it, messages go into that thread.",
    )]),
    caption: CaptionLimits {
        max: 2_000,
        max_with_media: None,
        max_bytes: None,
        count: text::characters,
        unit: "characters",
    },
    media: MediaRules {
        min: 0,
        images_max: FILES_MAX,
        videos_max: FILES_MAX,
        total_max: FILES_MAX,
        mixed: true,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        video_types: &["video/mp4", "video/quicktime", "video/webm"],
        // Files are passed on as they are.
        video_forms: &[],
        image_bytes_max: FILE_BYTES_MAX,
        video_bytes_max: FILE_BYTES_MAX,
        video_ms_max: None,
        frame: FrameRules::ANY,
    },
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[PostType { name: "feed", doc: "A message in the channel.", media: None }],
    settings: Settings::FIELDS,
    recovery_class: RecoveryClass::Blind,
    rate_limits: RATE_LIMITS,
    prepare_lead: Duration::ZERO,
    doc_notes: DocNotes {
        reconcile: "",
        tokens: "the webhook address works until it is deleted",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "text, files, alt texts, threads",
            "https://discord.com/developers/docs/resources/webhook#execute-webhook",
        ),
        SpecSource::observed(
            "rate limits",
            "headers of webhooks; https://discord.com/developers/docs/topics/rate-limits gives no numbers",
        ),
    ],
    examples: &[
        Example::new("text", r#"{"caption": "Hello, @everyone"}"#),
        Example::new(
            "a message in a thread",
            r#"{"caption": "In a thread", "settings": {"thread_id": "123456789012345678"}}"#,
        )
        .requiring("a thread with this id"),
        Example::new(
            "a new thread of a forum",
            r#"{"caption": "A new thread", "settings": {"thread_name": "News"}}"#,
        )
        .requiring("a webhook of a forum channel"),
        Example::new(
            "files with alt texts",
            r#"{"caption": "", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
    ],
    ..Spec::with_defaults(PlatformId::Discord, "Discord")
};

/// The connector.
pub struct Discord;

#[async_trait]
impl Platform for Discord {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    /// <https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans>
    fn blocks_addresses(&self) -> bool {
        true
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
    }

    fn step(&self, _draft: &Draft, _state: Option<&Value>) -> Step {
        Step::commit("execute_webhook")
    }

    async fn publish(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
    ) -> Result<Progress> {
        expect_no_state(state.as_ref())?;
        publish::execute_webhook(session, draft).await.map(Progress::Done)
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&watch::Watch)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }
}
