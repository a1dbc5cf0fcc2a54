//! Pinterest: one call creates a pin with pictures that Pinterest fetches itself; a video is uploaded and processed
//! first.
//!
//! Pins have no idempotency key. After a lost response, the pin is looked up among the latest of the board.

mod analytics;
mod check;
mod client;
mod error;
mod publish;
mod settings;
#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, DocNotes, Draft, Error, Example, FrameRules, Identity, MediaRules,
    Platform, PlatformId, PostType, Progress, ReconcileOutcome, RecoveryClass, Result, Session,
    Spec, SpecSource, Step, SupportedApi, VideoFormat, Violation, Warning,
    analytics::Analytics,
    oauth::{self, ClientAuth, Endpoint, Oauth, Permission, TokenRenewal},
};

/// Longest description, title, alt text and link in characters.
const DESCRIPTION_MAX: usize = 800;
const TITLE_MAX: usize = 100;
const ALT_TEXT_MAX: usize = 500;
const LINK_MAX: usize = 2_048;
/// Most images of a carousel.
const IMAGES_MAX: usize = 5;
/// Largest files in bytes.
const IMAGE_BYTES_MAX: u64 = 20_000_000;
const VIDEO_BYTES_MAX: u64 = 2_000_000_000;
/// Longest video.
const VIDEO_MS_MAX: u64 = 15 * 60 * 1_000;

/// Host of the API.
const API: &str = "https://api.pinterest.com";

/// Access tokens are valid for 30 days; refresh tokens for 60, and each is replaced when it is used.
/// <https://developers.pinterest.com/docs/getting-started/set-up-authentication-and-authorization/>
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at("https://www.pinterest.com", "/oauth/"),
    permissions: &[
        Permission::required("user_accounts:read", "See your profile"),
        Permission::required("boards:read", "List your boards"),
        Permission::required("pins:read", "See your pins"),
        Permission::required("pins:write", "Make pins"),
        Permission::required("boards:write", "Pin to your boards"),
        Permission::optional("boards:read_secret", "List your secret boards"),
        Permission::optional("pins:read_secret", "See your secret pins"),
        Permission::optional("pins:write_secret", "Make pins on secret boards"),
    ],
    separator: ",",
    token: Endpoint::at(API, "/v5/oauth/token"),
    // Without it, apps created before 2025-09-25 get a refresh token that expires.
    exchange_extra: &[("continuous_refresh", "true")],
    client_auth: ClientAuth::Basic,
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(60 * 86_400) },
    ..Oauth::DEFAULTS
};

const MEDIA: MediaRules = MediaRules {
    min: 1,
    images_max: IMAGES_MAX,
    videos_max: 1,
    total_max: IMAGES_MAX,
    mixed: false,
    image_types: &["image/jpeg", "image/png"],
    video_types: &["video/mp4", "video/quicktime", "video/x-m4v"],
    video_forms: &[VideoFormat::H264],
    image_bytes_max: IMAGE_BYTES_MAX,
    video_bytes_max: VIDEO_BYTES_MAX,
    video_ms_max: Some(VIDEO_MS_MAX),
    frame: FrameRules { video_ms_min: Some(4_000), ..FrameRules::ANY },
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits::characters(DESCRIPTION_MAX),
    media: MEDIA,
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "An image, a video or a carousel of 2 to 5 images of one size, as the files are.",
            media: None,
        },
        PostType {
            name: "image",
            doc: "One image.",
            media: Some(MediaRules { images_max: 1, videos_max: 0, total_max: 1, ..MEDIA }),
        },
        PostType {
            name: "video",
            doc: "One video.",
            media: Some(MediaRules { images_max: 0, total_max: 1, ..MEDIA }),
        },
        PostType {
            name: "carousel",
            doc: "2 to 5 images of one size.",
            media: Some(MediaRules { min: 2, videos_max: 0, ..MEDIA }),
        },
    ],
    settings: Settings::FIELDS,
    analytics: true,
    unseen: Some(
        "Only their creators see pins that an app with trial access makes. The access is shown at developers.pinterest.com, on the app's page.",
    ),
    recovery_class: RecoveryClass::Search,
    tools: &[BOARDS],
    api: Some(SupportedApi::lasting("v5", "2026-11-26")),
    doc_notes: DocNotes {
        reconcile: "`GET /v5/boards/{board}/pins`, by title, text, link and time",
        tokens: "30 days, by a refresh token of 60 days that is replaced with each use",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "pins, boards, media, limits of texts, tokens",
            "https://developers.pinterest.com/docs/api/v5/",
        ),
        SpecSource::documented(
            "sizes and length of files",
            "https://help.pinterest.com/en/business/article/pinterest-product-specs",
        ),
        SpecSource::observed(
            "errors, waits, unequal images of a carousel are refused",
            "programs that publish on Pinterest",
        ),
        SpecSource::assumed(
            "tags of products, most of them",
            "a beta of Pinterest's; its public schema 5.23 has none",
        ),
    ],
    examples: EXAMPLES,
    ..Spec::with_defaults(PlatformId::Pinterest, "Pinterest")
};

const EXAMPLES: &[Example] = &[
    Example::new(
        "an image with its settings",
        r#"{"caption": "How to fold a crane", "settings": {"board": "549755885175", "title": "A paper crane", "link": "https://example.org/crane", "media_alt_texts": ["A crane of red paper"]}}"#,
    )
    .with(&["image/png"]),
    Example::new(
        "an image by name, with tags of products",
        r#"{"caption": "The chair and the lamp", "post_type": "image", "settings": {"board": "549755885175", "product_tags": ["2318301", "2318302"]}}"#,
    )
    .with(&["image/png"]),
    Example::new(
        "a carousel",
        r#"{"caption": "Step by step", "post_type": "carousel", "settings": {"board": "549755885175"}}"#,
    )
    .with(&["image/png", "image/png"]),
    Example::new(
        "a video with a cover",
        r#"{"caption": "The video", "post_type": "video", "settings": {"board": "549755885175", "cover_image_url": "https://example.org/cover.jpg"}}"#,
    )
    .with(&["video/mp4"])
    .requiring("a picture at that address"),
    Example::new(
        "a video",
        r#"{"caption": "Another video", "settings": {"board": "549755885175"}}"#,
    )
    .with(&["video/mp4"]),
];

/// The tool that lists boards.
const BOARDS: &str = "pinterest.boards";

/// The most pages of boards that the tool reads: 1,000 boards.
const PAGES_MAX: usize = 4;

/// The connector.
pub struct Pinterest;

#[async_trait]
impl Platform for Pinterest {
    fn spec(&self) -> &'static Spec {
        &SPEC
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
        _state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        publish::reconcile(session, draft, sent_at).await
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        let user = client::user(session).await.map_err(Error::while_connecting)?;
        let mut meta = Map::new();
        if let Some(kind) = user.account_type {
            meta.insert("account_type".to_owned(), json!(kind));
        }
        Ok(Identity {
            remote_id: user.id.unwrap_or_else(|| user.username.clone()),
            username: user.username,
            display_name: user.business_name,
            meta,
            secrets: session.secrets.clone(),
            expires_at: oauth::access_token_expiry(&session.secrets),
        }
        .with_picture_url(user.profile_image))
    }

    fn tools(&self) -> Option<&dyn crate::Tools> {
        Some(self)
    }
}

#[async_trait]
impl crate::Tools for Pinterest {
    async fn run(
        &self,
        session: &Session,
        tool: &str,
        _input: &Map<String, Value>,
    ) -> Result<Value> {
        if tool != BOARDS {
            return Err(Error::rejected(format!("Pinterest has no tool called {tool}.")));
        }
        let (mut boards, mut bookmark) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let page = client::boards(session, bookmark.as_deref()).await?;
            boards.extend(page.items);
            bookmark = page.bookmark.filter(|next| !next.is_empty());
            if bookmark.is_none() {
                break;
            }
        }
        Ok(json!({"boards": boards, "more": bookmark.is_some()}))
    }
}
