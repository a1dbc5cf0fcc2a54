//! Slack: messages of a bot in one channel.
//!
//! Slack has no idempotency keys, so every message carries the key of its post as metadata, and a lost response is
//! reconciled by reading the channel. A message with files is created by the call that completes their upload; it
//! cannot carry metadata, and is recognized by its files.

mod blocks;
mod client;
mod error;
mod publish;
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
    CaptionLimits, ConnectSpec, DocNotes, Draft, Example, FrameRules, Identity, LimitScope,
    MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Session, Spec, SpecSource, Step, Violation, Warning,
    oauth::{Endpoint, Oauth, Permission, TokenRenewal},
    text,
};

/// The host of the API and of its token endpoints.
const SLACK: &str = "https://slack.com";
/// Longest text; Slack cuts longer ones off.
const TEXT_MAX: usize = 40_000;
/// Longest Markdown text.
const MARKDOWN_MAX: usize = 12_000;
/// Largest file in bytes and most files of a message.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
const FILES_MAX: usize = 10;
/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 1_000;

/// Tokens expire only if the app uses token rotation: then after 12 hours, and there is a refresh token
/// (<https://docs.slack.dev/authentication/using-token-rotation>).
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at(SLACK, "/oauth/v2/authorize"),
    permissions: &[
        Permission::required("chat:write", "Post messages"),
        Permission::optional("chat:write.public", "Post in public channels without an invitation"),
        Permission::required("channels:read", "See the public channels"),
        Permission::optional("groups:read", "See the private channels it was invited to"),
        Permission::required("channels:join", "Join public channels"),
        Permission::required("channels:history", "Find its own messages again"),
        Permission::optional("groups:history", "Find its own messages in private channels"),
        Permission::required("files:write", "Upload pictures and videos"),
        Permission::optional("users:read", "See who is in the workspace"),
    ],
    separator: ",",
    token: Endpoint::at(SLACK, "/api/oauth.v2.access"),
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(365 * 86_400) },
    shares_tokens: true,
    revoke: Some(Endpoint::at(SLACK, "/api/auth.revoke")),
    ..Oauth::DEFAULTS
};

const SPEC: Spec = Spec {
    base_url: SLACK,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        count: text::slack_units,
        unit: "characters (&, < and > as they are escaped)",
        ..CaptionLimits::characters(TEXT_MAX)
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
    post_types: &[PostType {
        name: "feed",
        doc: "A message in the channel: text, Markdown or blocks, with files.",
        media: None,
    }],
    settings: Settings::FIELDS,
    recovery_class: RecoveryClass::Search,
    rate_limits: &[RateLimit::new(LimitScope::Account, 1, 1)],
    doc_notes: DocNotes {
        reconcile: "`conversations.history`, by the metadata that the service sends along",
        tokens: "the bot token does not end; where the app rotates tokens, 12 hours, by a refresh token",
        tested: "",
    },
    sources: &[
        SpecSource::observed(
            "messages, uploads, metadata, errors, length of texts, number of blocks",
            "https://docs.slack.dev/reference/methods/chat.postMessage",
        ),
        SpecSource::observed("rate limits", "https://docs.slack.dev/apis/web-api/rate-limits"),
        SpecSource::assumed(
            "number of files, length of alt texts; 10 MiB a file is what Fanfare promises",
            "limits of Fanfare's own",
        ),
    ],
    examples: &[
        Example::new("text", r#"{"caption": "Hello & welcome, <everyone>"}"#),
        Example::new(
            "Markdown without previews of links",
            r#"{"caption": "**Hello** [there](https://example.org)", "settings": {"markdown": true, "unfurl_links": false, "unfurl_media": false}}"#,
        ),
        Example::new(
            "blocks; the caption is what notifications show",
            r#"{"caption": "We have news", "settings": {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "News"}}, {"type": "section", "text": {"type": "mrkdwn", "text": "*All* is well."}}]}}"#,
        ),
        Example::new(
            "files with alt texts",
            r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
        )
        .with(&["image/png", "image/png"]),
        Example::new(
            "an answer in a thread that the channel sees too",
            r#"{"caption": "And one more", "settings": {"thread_ts": "<earlier>", "reply_broadcast": true}}"#,
        ),
    ],
    ..Spec::with_defaults(PlatformId::Slack, "Slack")
};

/// The connector.
pub struct Slack;

#[async_trait]
impl Platform for Slack {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.contains_key("blocks")
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

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    async fn identities(&self, session: &Session) -> Result<Vec<Identity>> {
        verify::channels(session).await
    }
}
