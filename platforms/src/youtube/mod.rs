//! YouTube: a video is sent in chunks to its own upload address, and exists after the last.
//!
//! The upload address reports at any time how much has arrived, and returns the video's id once it is complete, so a
//! lost response can be recovered.

mod analytics;
mod check;
mod client;
mod content;
mod error;
mod publish;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod uploads;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, DocNotes, Draft, Error, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Session, Spec, SpecSource, Step, SupportedApi, Violation, Warning,
    analytics::Analytics,
    google,
    oauth::{self, Oauth, Permission},
    text,
};

/// Longest title in characters, description in bytes, and tags in characters together.
const TITLE_MAX: usize = 100;
const DESCRIPTION_MAX: usize = 5_000;
const TAGS_MAX: usize = 500;

/// Host of the API.
const API: &str = "https://www.googleapis.com";

/// A hundred uploads of an app per day, the initial quota of every project
/// (<https://developers.google.com/youtube/v3/determine_quota_cost>). All other calls together stay below the quota of
/// 10,000 units.
const RATE_LIMITS: &[RateLimit] = &[RateLimit::new(LimitScope::App, 100, 86_400)];

const OAUTH: Oauth = Oauth {
    permissions: &[
        Permission::required("https://www.googleapis.com/auth/youtube.upload", "Upload videos"),
        Permission::required(
            "https://www.googleapis.com/auth/youtube.readonly",
            "See your channel",
        ),
        Permission::optional(
            "https://www.googleapis.com/auth/youtube",
            "Set thumbnails and fill playlists",
        ),
    ],
    ..google::OAUTH
};

const MEDIA: MediaRules = MediaRules {
    min: 1,
    images_max: 0,
    videos_max: 1,
    total_max: 1,
    mixed: false,
    image_types: &[],
    video_types: &["video/mp4", "video/quicktime", "video/webm"],
    // YouTube converts every type.
    video_forms: &[],
    image_bytes_max: 0,
    video_bytes_max: 274_877_906_944,
    video_ms_max: Some(12 * 60 * 60 * 1_000),
    frame: FrameRules::ANY,
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        max: DESCRIPTION_MAX,
        max_with_media: None,
        max_bytes: Some(DESCRIPTION_MAX),
        count: text::characters,
        unit: "characters",
    },
    media: MEDIA,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A video. YouTube itself makes a Short of an upright or square one of up to three minutes.",
            media: None,
        },
        PostType { name: "video", doc: "A video.", media: None },
        PostType {
            name: "short",
            doc: "An upright or square video of up to three minutes.",
            media: Some(MediaRules { video_ms_max: Some(180_000), ..MEDIA }),
        },
    ],
    settings: Settings::FIELDS,
    ai_label: true,
    analytics: true,
    recovery_class: RecoveryClass::Handle,
    commit_deadline: Duration::from_secs(60),
    rate_limits: RATE_LIMITS,
    default_wait: Some(google::DEFAULT_WAIT),
    tools: &[PLAYLISTS],
    api: Some(SupportedApi::lasting("v3", "2026-11-26")),
    doc_notes: DocNotes {
        reconcile: "`PUT` to the address of the upload, with no bytes: it tells how many have arrived, or the id of the video",
        tokens: "1 hour, by a refresh token that lasts until half a year passes without use",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "videos, playlists, thumbnails, sizes, states",
            "https://developers.google.com/youtube/v3/docs/videos",
        ),
        SpecSource::documented(
            "chunks, and how much of them has arrived",
            "https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol",
        ),
        SpecSource::documented(
            "uploads in a day",
            "https://developers.google.com/youtube/v3/determine_quota_cost",
        ),
        google::OAUTH_SOURCE,
        SpecSource::observed(
            "reasons of errors, waits, life of an upload's address",
            "programs that publish on YouTube",
        ),
    ],
    examples: EXAMPLES,
    ..Spec::with_defaults(PlatformId::Youtube, "YouTube")
};

const EXAMPLES: &[Example] = &[
    Example::new(
        "a video with its settings",
        r#"{"caption": "How a crane is folded", "settings": {"title": "A paper crane", "privacy_status": "public", "self_declared_made_for_kids": false, "tags": ["paper", "paper crane"], "category_id": "26", "notify_subscribers": false, "brand_partner": "Paper Ltd", "ai_generated": true}}"#,
    )
    .with(&["video/mp4"]),
    Example::new(
        "a Short",
        r#"{"caption": "Folded at once", "post_type": "short", "settings": {"add_shorts_hashtag": true, "ai_disclosure": true}}"#,
    )
    .with(&["video/mp4"]),
    Example::new(
        "a video that only those see who have its address",
        r#"{"caption": "A draft", "post_type": "video", "settings": {"privacy_status": "unlisted"}}"#,
    )
    .with(&["video/mp4"]),
    Example::new(
        "a video with a thumbnail, in a playlist",
        r#"{"caption": "The third part", "settings": {"thumbnail_url": "https://example.org/cover.jpg", "playlist_id": "PLfold"}}"#,
    )
    .with(&["video/mp4"])
    .requiring("a picture at that address"),
];

/// The tool that lists playlists.
const PLAYLISTS: &str = "youtube.playlists";

/// The connector.
pub struct Youtube;

#[async_trait]
impl Platform for Youtube {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn caption_length(&self, draft: &Draft) -> usize {
        let settings = draft.settings::<Settings>().unwrap_or_default();
        text::characters(&content::description(draft, &settings))
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
    }

    fn recovery_class(&self, _account: &Account, _draft: &Draft) -> RecoveryClass {
        RecoveryClass::Handle
    }

    fn step(&self, _draft: &Draft, state: Option<&Value>) -> Step {
        publish::step(state)
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

    /// Google's own page asks for the channel; a token is for that channel.
    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        let channel = client::channel(session).await.map_err(Error::while_connecting)?;
        let title = channel.snippet.title;
        let handle = channel.snippet.custom_url.filter(|handle| !handle.is_empty());
        let sizes = ["high", "medium", "default"];
        let picture = sizes.iter().find_map(|size| channel.snippet.thumbnails.get(*size));
        let picture = picture.map(|picture| picture.url.clone());
        Ok(Identity {
            remote_id: channel.id,
            username: handle.unwrap_or_else(|| title.clone()),
            display_name: Some(title),
            meta: Map::new(),
            secrets: session.secrets.clone(),
            expires_at: oauth::access_token_expiry(&session.secrets),
        }
        .with_picture_url(picture))
    }

    fn tools(&self) -> Option<&dyn crate::Tools> {
        Some(self)
    }
}

#[async_trait]
impl crate::Tools for Youtube {
    async fn run(
        &self,
        session: &Session,
        tool: &str,
        _input: &Map<String, Value>,
    ) -> Result<Value> {
        if tool != PLAYLISTS {
            return Err(Error::rejected(format!("YouTube has no tool called {tool}.")));
        }
        let (mut playlists, mut next) = (Vec::new(), None);
        for _ in 0..google::PAGES_MAX {
            let page = client::playlists(session, next.as_deref()).await?;
            playlists.extend(page.items.iter().map(client::Playlist::from));
            next = page.next_page_token.filter(|next| !next.is_empty());
            if next.is_none() {
                break;
            }
        }
        Ok(json!({"playlists": playlists, "more": next.is_some()}))
    }
}
