//! TikTok: a video is sent in chunks and becomes public after the last; TikTok fetches the images of a slideshow
//! itself.
//!
//! A video has an id before its first byte is sent, and TikTok reports how much of it has arrived, so a lost response
//! can be recovered. A slideshow has none until it is being processed; it is looked up among the creator's public
//! posts.

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

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, DocNotes, Draft, Error, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Secrets, Session, Spec, SpecSource, Step, SupportedApi, VideoFormat,
    Violation, Warning,
    analytics::Analytics,
    oauth::{self, ACCESS_TOKEN, Endpoint, Oauth, Permission, TokenRenewal},
    text,
};

/// Longest title of a video, and description and title of a slideshow, in UTF-16 units.
const VIDEO_TITLE_MAX: usize = 2_200;
const DESCRIPTION_MAX: usize = 4_000;
const PHOTO_TITLE_MAX: usize = 90;
/// Most images of a slideshow.
const IMAGES_MAX: usize = 35;

/// Host of the API.
const API: &str = "https://open.tiktokapis.com";

/// The permissions of user names and of lists of posts.
const PROFILE: &str = "user.info.profile";
const LIST: &str = "video.list";

/// The time to wait when throttled: TikTok never says; its limits are per minute.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// Six initialized posts per account and minute
/// (<https://developers.tiktok.com/doc/content-posting-api-reference-direct-post>). TikTok counts the posts of a
/// creator per day over all apps, and reports when that limit is reached.
const RATE_LIMITS: &[RateLimit] = &[RateLimit::new(LimitScope::Account, 6, 60)];

/// Access tokens are valid for a day; refresh tokens for a year, and may be replaced when they are used.
/// <https://developers.tiktok.com/doc/oauth-user-access-token-management>
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://www.tiktok.com", "/v2/auth/authorize/"),
    permissions: &[
        Permission::required("user.info.basic", "Know who you are"),
        Permission::required("video.publish", "Publish videos and pictures"),
        Permission::optional(PROFILE, "See your user name"),
        Permission::optional(LIST, "See your public posts"),
    ],
    separator: ",",
    token: Endpoint::at(API, "/v2/oauth/token/"),
    client_id_name: "client_key",
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(365 * 86_400) },
    revoke: Some(Endpoint::at(API, "/v2/oauth/revoke/")),
    ..Oauth::DEFAULTS
};

const MEDIA: MediaRules = MediaRules {
    min: 1,
    images_max: IMAGES_MAX,
    videos_max: 1,
    total_max: IMAGES_MAX,
    mixed: false,
    image_types: &["image/jpeg", "image/webp"],
    video_types: &["video/mp4", "video/quicktime", "video/webm"],
    video_forms: &[
        VideoFormat { frame_rate: (23.0, 60.0), ..VideoFormat::H264 },
        VideoFormat { frame_rate: (23.0, 60.0), ..VideoFormat::WEBM },
    ],
    image_bytes_max: 20_000_000,
    video_bytes_max: 4_000_000_000,
    video_ms_max: Some(10 * 60 * 1_000),
    frame: FrameRules::ANY,
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        max: DESCRIPTION_MAX,
        max_with_media: None,
        max_bytes: None,
        count: text::utf16_units,
        unit: "UTF-16 units",
    },
    caption_max_with_video: Some(VIDEO_TITLE_MAX),
    media: MEDIA,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A video, or a slideshow of 1 to 35 images, as the files are.",
            media: None,
        },
        PostType {
            name: "video",
            doc: "A video.",
            media: Some(MediaRules { images_max: 0, total_max: 1, ..MEDIA }),
        },
        PostType {
            name: "carousel",
            doc: "A slideshow of 2 to 35 images.",
            media: Some(MediaRules { min: 2, videos_max: 0, ..MEDIA }),
        },
        PostType {
            name: "image",
            doc: "A slideshow of one image.",
            media: Some(MediaRules { images_max: 1, videos_max: 0, total_max: 1, ..MEDIA }),
        },
    ],
    settings: Settings::FIELDS,
    ai_label: true,
    analytics: true,
    recovery_class: RecoveryClass::Handle,
    commit_deadline: Duration::from_secs(45),
    rate_limits: RATE_LIMITS,
    default_wait: Some(DEFAULT_WAIT),
    tools: &[CREATOR_INFO],
    api: Some(SupportedApi::lasting("v2", "2026-11-26")),
    doc_notes: DocNotes {
        reconcile: "videos: `POST /v2/post/publish/status/fetch/` with the publish id; slideshows: `POST /v2/video/list/`, public ones only",
        tokens: "24 hours, by a refresh token of a year",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "posts, chunks, states, limits of texts and files, errors",
            "https://developers.tiktok.com/doc/content-posting-api-reference-direct-post",
        ),
        SpecSource::documented(
            "tokens",
            "https://developers.tiktok.com/doc/oauth-user-access-token-management",
        ),
        SpecSource::documented(
            "bytes that have arrived, by which a lost answer is settled",
            "https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status",
        ),
        SpecSource::observed("waits, posts in a day, late ids", "programs that publish on TikTok"),
    ],
    examples: EXAMPLES,
    ..Spec::with_defaults(PlatformId::Tiktok, "TikTok")
};

const EXAMPLES: &[Example] = &[
    Example::new(
        "a video with its settings",
        r##"{"caption": "A video #launch", "settings": {"privacy_level": "PUBLIC_TO_EVERYONE", "disable_comment": false, "disable_duet": true, "disable_stitch": true, "brand_content_toggle": false, "brand_organic_toggle": true, "video_cover_timestamp_ms": 1000, "ai_generated": true}}"##,
    )
    .with(&["video/mp4"]),
    Example::new(
        "a video by name, without a caption",
        r#"{"post_type": "video", "settings": {"title": "A video", "media_type": "VIDEO", "ai_disclosure": true}}"#,
    )
    .with(&["video/mp4"]),
    Example::new(
        "a slideshow",
        r#"{"caption": "Step by step", "post_type": "carousel", "settings": {"title": "A crane", "auto_add_music": true, "photo_cover_index": 1, "media_type": "PHOTO"}}"#,
    )
    .with(&["image/jpeg", "image/jpeg"]),
    Example::new("a picture", r#"{"caption": "One picture", "post_type": "image"}"#)
        .with(&["image/jpeg"]),
    Example::new(
        "a picture for nobody else",
        r#"{"caption": "Only for me", "settings": {"privacy_level": "SELF_ONLY"}}"#,
    )
    .with(&["image/jpeg"]),
];

/// The tool that returns a creator's permissions.
const CREATOR_INFO: &str = "tiktok.creator_info";

/// The connector.
pub struct Tiktok;

#[async_trait]
impl Platform for Tiktok {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
    }

    /// A slideshow cannot be labelled.
    fn is_ai_labelled(&self, draft: &Draft) -> bool {
        let is_aigc = || draft.settings::<Settings>().is_ok_and(|settings| settings.is_aigc());
        !content::is_video(draft) || is_aigc()
    }

    fn recovery_class(&self, _account: &Account, draft: &Draft) -> RecoveryClass {
        if content::is_video(draft) { RecoveryClass::Handle } else { RecoveryClass::Search }
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
        let user = client::user(session).await.map_err(Error::while_connecting)?;
        let shown = user.display_name.clone().unwrap_or_else(|| user.open_id.clone());
        Ok(Identity {
            remote_id: user.open_id,
            // Without the permission for it there is no username.
            username: user.username.filter(|name| !name.is_empty()).unwrap_or(shown),
            display_name: user.display_name,
            meta: Map::new(),
            secrets: session.secrets.clone(),
            expires_at: oauth::access_token_expiry(&session.secrets),
        }
        .with_picture_url(user.avatar_url))
    }

    fn tools(&self) -> Option<&dyn crate::Tools> {
        Some(self)
    }

    /// Revokes the access token, and with it its refresh token.
    async fn revoke(&self, session: &Session) -> Result<bool> {
        let access_token = session.secrets.expose(ACCESS_TOKEN);
        let secrets = Secrets::new().with(ACCESS_TOKEN, access_token);
        oauth::revoke(&OAUTH, &Session { secrets, ..session.clone() }).await
    }
}

#[async_trait]
impl crate::Tools for Tiktok {
    async fn run(
        &self,
        session: &Session,
        tool: &str,
        _input: &Map<String, Value>,
    ) -> Result<Value> {
        if tool != CREATOR_INFO {
            return Err(Error::rejected(format!("TikTok has no tool called {tool}.")));
        }
        client::creator_info(session).await
    }
}
