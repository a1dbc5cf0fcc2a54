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
    About, Caption, Class, Connect, Draft, Example, Found, Frame, Identity, MediaRules, Per,
    Platform, PlatformId, PostType, Progress, RateLimit, Result, Session, Source, Spec, Step,
    Violation, Warning,
    oauth::{Endpoint, Oauth, Permission, Renewal},
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
        Permission::needed("chat:write", "Post messages"),
        Permission::wanted("chat:write.public", "Post in public channels without an invitation"),
        Permission::needed("channels:read", "See the public channels"),
        Permission::wanted("groups:read", "See the private channels it was invited to"),
        Permission::needed("channels:join", "Join public channels"),
        Permission::needed("channels:history", "Find its own messages again"),
        Permission::wanted("groups:history", "Find its own messages in private channels"),
        Permission::needed("files:write", "Upload pictures and films"),
        Permission::wanted("users:read", "See who is in the workspace"),
    ],
    separator: ",",
    token: Endpoint::at(SLACK, "/api/oauth.v2.access"),
    renewal: Renewal::RefreshToken { idle: Duration::from_secs(365 * 86_400) },
    shared: true,
    revoke: Some(Endpoint::at(SLACK, "/api/auth.revoke")),
    ..Oauth::USUAL
};

const SPEC: Spec = Spec {
    base_url: SLACK,
    connect: Connect::Oauth(OAUTH),
    caption: Caption {
        count: text::slack_units,
        unit: "characters (&, < and > as they are escaped)",
        ..Caption::characters(TEXT_MAX)
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
        frame: Frame::ANY,
    },
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "A message in the channel: text, Markdown or blocks, with files.",
        media: None,
    }],
    settings: Settings::FIELDS,
    class: Class::Search,
    rate_limits: &[RateLimit::new(Per::Account, 1, 1)],
    about: About {
        reconcile: "`conversations.history`, by the metadata that the service sends along",
        tokens: "the bot token does not end; where the app rotates tokens, 12 hours, by a refresh token",
        tested: "",
    },
    sources: &[
        Source::observed(
            "messages, uploads, metadata, errors, length of texts, number of blocks",
            "https://docs.slack.dev/reference/methods/chat.postMessage",
        ),
        Source::observed("rate limits", "https://docs.slack.dev/apis/web-api/rate-limits"),
        Source::assumed(
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
    ..Spec::usual(PlatformId::Slack, "Slack")
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
    ) -> Result<Found> {
        publish::reconcile(session, draft, state, sent_at).await
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    async fn identities(&self, session: &Session) -> Result<Vec<Identity>> {
        verify::channels(session).await
    }
}
