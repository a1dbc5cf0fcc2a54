//! Telegram, through a bot that may post in one chat.
//!
//! A bot cannot list what it has sent, so a lost response cannot be recovered. Most posts are one call; a poll with a
//! caption, or buttons with an album, takes two, each its own step.

mod client;
mod credentials;
mod error;
mod markup;
mod message;
mod publish;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod verify;

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, FrameRules,
    Identity, LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, PublishedPart,
    RateLimit, RecoveryClass, RefreshedTokens, Result, Session, Spec, SpecSource, Step,
    VideoFormat, Violation, outcome, text,
};

/// The largest photo that can be uploaded, in bytes.
const PHOTO_BYTES_MAX: u64 = 10_000_000;

/// Largest video in bytes. A bot could upload 50 MB; the limit promised to callers is 20 MB.
const VIDEO_BYTES_MAX: u64 = 20_000_000;

/// Most items of an album.
const ALBUM_MAX: usize = 10;

/// One message per second to a chat, 20 per minute to a group, 30 per second for all chats of a bot
/// (<https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>).
const RATE_LIMITS: &[RateLimit] = &[
    RateLimit::new(LimitScope::Account, 1, 1),
    RateLimit::new(LimitScope::Account, 20, 60),
    RateLimit::new(LimitScope::App, 30, 1),
];

const SPEC: Spec = Spec {
    base_url: "https://api.telegram.org",
    connect: ConnectSpec::Credentials(&[
        CredentialField::required("bot_token", "Token of the bot, as @BotFather shows it: digits, a colon, letters."),
        CredentialField::required("chat_id", "The channel, group or chat: @name, or its number (-100… for channels)."),
    ]),
    caption: CaptionLimits {
        max: 4_096,
        max_with_media: Some(1_024),
        max_bytes: None,
        count: text::utf16_units,
        unit: "UTF-16 units",
    },
    media: MediaRules {
        min: 0,
        images_max: ALBUM_MAX,
        videos_max: ALBUM_MAX,
        total_max: ALBUM_MAX,
        mixed: true,
        image_types: &["image/jpeg", "image/png", "image/webp", "image/gif"],
        video_types: &["video/mp4"],
        video_forms: &[VideoFormat::H264],
        image_bytes_max: PHOTO_BYTES_MAX,
        video_bytes_max: VIDEO_BYTES_MAX,
        video_ms_max: None,
        // <https://core.telegram.org/bots/api#sendphoto>
        frame: FrameRules {
            image_ratio: Some((0.05, 20.0)),
            image_sides_max: Some(10_000),
            ..FrameRules::ANY
        },
    },
    alt_text_max: 0,
    post_types: &[PostType {
        name: "feed",
        doc: "A message: text, photo, video, animation, album or poll.",
        media: None,
    }],
    settings: Settings::FIELDS,
    recovery_class: RecoveryClass::Blind,
    commit_deadline: Duration::from_secs(60),
    rate_limits: RATE_LIMITS,
    prepare_lead: Duration::ZERO,
    doc_notes: DocNotes {
        reconcile: "",
        tokens: "the bot token does not end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "text, media, polls, buttons",
            "https://core.telegram.org/bots/api",
        ),
        SpecSource::documented(
            "rate limits",
            "https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this",
        ),
    ],
    examples: &[
        Example::new("text", r#"{"caption": "Hello"}"#),
        Example::new(
            "marked-up text with buttons",
            r#"{"caption": "<b>Hello</b>", "settings": {"parse_mode": "HTML", "inline_buttons": [{"text": "Open", "url": "https://example.org"}]}}"#,
        ),
        Example::new(
            "a poll",
            r#"{"caption": "", "settings": {"poll": {"question": "Tea?", "options": ["Yes", "No"], "is_anonymous": true, "allows_multiple_answers": true}}}"#,
        ),
        Example::new("an album", r#"{"caption": "Two pictures"}"#).with(&["image/png", "image/png"]),
        Example::new("a live photo", r#"{"caption": "It moves", "settings": {"is_live_photo": true}}"#)
            .with(&["image/jpeg", "video/mp4"]),
        Example::new(
            "a video",
            r#"{"caption": "A video", "settings": {"start_timestamp": 1, "video_cover_url": "https://example.org/cover.jpg"}}"#,
        )
        .with(&["video/mp4"])
        .requiring("a picture at this address"),
    ],
    ..Spec::with_defaults(PlatformId::Telegram, "Telegram")
};

/// The connector.
pub struct Telegram;

#[async_trait]
impl Platform for Telegram {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    /// Returns the length of the caption without its markup.
    fn caption_length(&self, draft: &Draft) -> usize {
        markup::length(settings::parse_mode(draft), &draft.caption)
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings.contains_key("poll")
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
    }

    /// Returns the bot, since each has its own limits.
    fn app(&self, account: &Account) -> Option<String> {
        account.meta_str("bot_username").map(str::to_owned)
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

    fn public_parts(&self, _: &Draft, state: &Value) -> Vec<PublishedPart> {
        let state = outcome::read_state::<state::State>(Some(state)).unwrap_or_default();
        state.parts(|_| None)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    /// Bots' tokens do not end; a group has another id once it is a supergroup.
    async fn refresh(&self, session: &Session) -> Result<Option<RefreshedTokens>> {
        verify::moved(session).await
    }
}
