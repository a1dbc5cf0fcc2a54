//! LinkedIn: members and the pages of organizations. Files are uploaded first, then one call publishes the post.
//!
//! After a lost response the post can be looked up among an organization's posts. Hardly any app may read a member's
//! posts, so such a post is never sent again automatically.

mod analytics;
mod check;
mod client;
mod content;
mod error;
mod little_text;
mod publish;
mod reconcile;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod verify;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Days, Utc};
use serde_json::{Map, Value, json};

use settings::Settings;

use crate::{
    Account, CaptionLimits, ConnectSpec, DocNotes, DocumentRules, Draft, EndsBasis, Error, Example,
    FrameRules, Identity, LimitScope, MediaRules, Platform, PlatformId, PostType, Progress,
    RateLimit, ReconcileOutcome, RecoveryClass, Result, Session, Spec, SpecSource, Step,
    SupportedApi, VideoFormat, Violation, Warning,
    analytics::Analytics,
    oauth::{Endpoint, Oauth, Permission, TokenRenewal},
    overrides::{linkedin_permissions, overrides},
    text::{Alteration, Alterations},
};

/// The longest caption as it is sent: LinkedIn cuts it there, and counts the backslashes that it demands.
const TEXT_MAX: usize = 3_000;
/// Most images of one post.
const IMAGES_MAX: usize = 20;
/// Largest image in pixels, and in bytes.
const PIXELS_MAX: u64 = 36_152_320;
const IMAGE_BYTES_MAX: u64 = 20_000_000;
/// Largest video and document in bytes.
const VIDEO_BYTES_MAX: u64 = 500_000_000;
const DOCUMENT_BYTES_MAX: u64 = 100_000_000;
/// The largest part of a video that is sent at once; LinkedIn asks for 4 MiB.
const PART_BYTES_MAX: u64 = 16 << 20;
/// Longest alt text in characters.
const ALT_TEXT_MAX: usize = 4_086;
/// Post type of a document.
const DOCUMENT: &str = "document";

/// The version of the API. Each ends in the middle of its month a year later: 202511 on 2026-11-16, 202603 on 2027-03-16
/// (<https://learn.microsoft.com/linkedin/marketing/versioning>).
const SUPPORTED: SupportedApi = SupportedApi {
    version: "202608",
    released: None,
    ends: Some("2027-08-16"),
    ends_basis: EndsBasis::Computed,
    newest_known: "202608",
    checked_at: "2026-11-26",
};
/// The host of the API.
const API: &str = "https://api.linkedin.com";
const WEBSITE: &str = "https://www.linkedin.com";

/// The time to wait when throttled: LinkedIn never says.
const DEFAULT_WAIT: Duration = Duration::from_secs(15 * 60);

/// 150 requests of a member and 100,000 of an app a day
/// (<https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/share-on-linkedin#rate-limits>).
const RATE_LIMITS: &[RateLimit] = &[
    RateLimit::new(LimitScope::Account, 150, 86_400),
    RateLimit::new(LimitScope::App, 100_000, 86_400),
];

/// Access tokens are valid for 60 days. Only approved apps get a refresh token, which is valid for a year and is not
/// extended by use.
const OAUTH: Oauth = Oauth {
    authorize: Endpoint::at(WEBSITE, "/oauth/v2/authorization"),
    permissions: &[
        Permission::required("openid", "Know who you are"),
        Permission::required("profile", "See your name and picture"),
        Permission::required("w_member_social", "Publish posts in your name"),
        Permission::optional("r_organization_social", "Read the posts of your pages"),
        Permission::optional("w_organization_social", "Publish posts on your pages"),
        Permission::optional("rw_organization_admin", "List your pages and read their figures"),
    ],
    // An app that asks for more than it was approved for cannot connect anybody.
    added_permissions: linkedin_permissions,
    token: Endpoint::at(WEBSITE, "/oauth/v2/accessToken"),
    renewal: TokenRenewal::RefreshToken { idle: Duration::from_secs(365 * 86_400) },
    shares_tokens: true,
    revoke: Some(Endpoint::at(WEBSITE, "/oauth/v2/revoke")),
    ..Oauth::DEFAULTS
};

const MEDIA: MediaRules = MediaRules {
    min: 0,
    images_max: IMAGES_MAX,
    videos_max: 1,
    total_max: IMAGES_MAX,
    mixed: false,
    image_types: &["image/jpeg", "image/png", "image/gif"],
    video_types: &["video/mp4"],
    video_forms: &[VideoFormat::H264],
    image_bytes_max: IMAGE_BYTES_MAX,
    video_bytes_max: VIDEO_BYTES_MAX,
    video_ms_max: Some(30 * 60 * 1_000),
    frame: FrameRules { video_ms_min: Some(3_000), ..FrameRules::ANY },
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits {
        max: TEXT_MAX,
        max_with_media: None,
        max_bytes: None,
        count: little_text::sent_length,
        unit: "characters (signs that need a backslash count twice)",
    },
    alterations: Alterations {
        text: &[Alteration::LittleText, Alteration::CutAt(TEXT_MAX)],
        ..Alterations::NONE
    },
    media: MEDIA,
    alt_text_max: ALT_TEXT_MAX,
    post_types: &[
        PostType {
            name: "feed",
            doc: "A text, one to 20 images, a video or a poll. The first address in a text alone is shown as a card.",
            media: None,
        },
        PostType {
            name: DOCUMENT,
            doc: "A PDF that is leafed through.",
            media: Some(MediaRules { min: 1, total_max: 1, ..MediaRules::NONE }),
        },
    ],
    settings: Settings::FIELDS,
    documents: Some(DocumentRules {
        post_type: DOCUMENT,
        types: &["application/pdf"],
        bytes_max: DOCUMENT_BYTES_MAX,
    }),
    analytics: true,
    recovery_class: RecoveryClass::Blind,
    rate_limits: RATE_LIMITS,
    default_wait: Some(DEFAULT_WAIT),
    tools: &[RECENT_MENTIONS, COMPANY_LOOKUP],
    api: Some(SUPPORTED),
    doc_notes: DocNotes {
        reconcile: "pages: `GET /rest/posts?q=author`, by text and time; members: nothing",
        tokens: "60 days; a refresh token of a year for approved apps only",
        tested: "",
    },
    equal_text_hours: Some(24),
    sources: &[
        SpecSource::documented(
            "posts, little text, uploads, calls to action, mentions",
            "https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api",
        ),
        SpecSource::documented(
            "pixels of images, length and size of videos, pages of documents",
            "https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares",
        ),
        SpecSource::observed(
            "length of texts, polls and alt texts, duplicates answered with the earlier URN, time in a URN's number",
            "programs that publish on LinkedIn",
        ),
        SpecSource::documented(
            "roles and names of organizations, numbers of members' posts, end of the API version",
            "https://learn.microsoft.com/en-us/linkedin/marketing/versioning",
        ),
        SpecSource::observed(
            "counting of texts with their backslashes, hashtags as elements in what is read",
            "claude-linkedin-plugin",
        ),
        SpecSource::observed("rate limits, waits", "programs that publish on LinkedIn"),
        SpecSource::assumed("largest image in bytes", "easy to change"),
        SpecSource::assumed(
            "hours within which an equal text may be refused",
            "LinkedIn refuses the same text again and names no time: the hours are Fanfare's",
        ),
    ],
    examples: EXAMPLES,
    ..Spec::with_defaults(PlatformId::Linkedin, "LinkedIn")
};

const EXAMPLES: &[Example] = &[
    Example::new(
        "a text with a mention and a tag",
        r##"{"caption": "We work with @Devtestco (and like it) #launch", "settings": {"mentions": [{"name": "Devtestco", "urn": "urn:li:organization:2414183"}]}}"##,
    ),
    Example::new(
        "a poll",
        r#"{"caption": "Tell us", "settings": {"poll": {"question": "Tea or coffee?", "options": ["Tea", "Coffee"], "duration": "ONE_DAY"}}}"#,
    ),
    Example::new("a link with its card", r#"{"caption": "Read https://example.org/story"}"#),
    Example::new(
        "images with alt texts",
        r#"{"caption": "Two pictures", "settings": {"media_alt_texts": ["A cat", "A dog"]}}"#,
    )
    .with(&["image/png", "image/png"]),
    Example::new(
        "an image with a button",
        r#"{"caption": "On sale", "settings": {"content_call_to_action_label": "SHOP_NOW", "content_landing_page": "https://example.org/shop"}}"#,
    )
    .with(&["image/png"]),
    Example::new("a video", r#"{"caption": "A video", "settings": {"title": "The video"}}"#)
        .with(&["video/mp4"]),
    Example::new(
        "a video with a thumbnail",
        r#"{"caption": "A video", "settings": {"thumbnail_url": "https://example.org/cover.jpg"}}"#,
    )
    .with(&["video/mp4"])
    .requiring("a picture at that address"),
    Example::new(
        "a document",
        r#"{"caption": "Our report", "post_type": "document", "settings": {"filename": "report.pdf"}}"#,
    )
    .with(&["application/pdf"]),
];

/// The tool that lists mentions of an organization.
const RECENT_MENTIONS: &str = "linkedin.recent_mentions";

/// The tool that finds a company by its vanity name, for mentions.
const COMPANY_LOOKUP: &str = "linkedin.company_lookup";

/// The number of days for which LinkedIn keeps mentions.
const MENTIONS_DAYS: u64 = 60;

/// Returns the version of the API that requests name.
fn version() -> &'static str {
    overrides().version(PlatformId::Linkedin).unwrap_or(SUPPORTED.version)
}

/// Returns true if the account is the page of an organization.
fn is_organization(account: &Account) -> bool {
    is_organization_urn(&account.remote_id)
}

fn is_organization_urn(urn: &str) -> bool {
    urn.starts_with("urn:li:organization:")
}

/// The connector.
pub struct Linkedin;

#[async_trait]
impl Platform for Linkedin {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings::<Settings>().is_ok_and(|settings| settings.poll.is_some())
    }

    fn caption_length(&self, draft: &Draft) -> usize {
        let settings = draft.settings().unwrap_or_default();
        content::commentary(draft, &settings, &state::State::default()).chars().count()
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
    }

    fn recovery_class(&self, account: &Account, _draft: &Draft) -> RecoveryClass {
        if is_organization(account) { RecoveryClass::Search } else { RecoveryClass::Blind }
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

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }

    async fn identities(&self, session: &Session) -> Result<Vec<Identity>> {
        verify::identities(session).await
    }

    fn tools(&self) -> Option<&dyn crate::Tools> {
        Some(self)
    }
}

#[async_trait]
impl crate::Tools for Linkedin {
    async fn run(
        &self,
        session: &Session,
        tool: &str,
        input: &Map<String, Value>,
    ) -> Result<Value> {
        if tool == COMPANY_LOOKUP {
            return company(session, input).await;
        }
        if tool != RECENT_MENTIONS {
            return Err(Error::rejected(format!("LinkedIn has no tool called {tool}.")));
        }
        if !is_organization(&session.account) {
            return Err(Error::rejected("LinkedIn tells mentions of organizations only.")
                .with_remedy("Name the account of a page."));
        }
        let since = session.now.checked_sub_days(Days::new(MENTIONS_DAYS)).unwrap_or(session.now);
        let mentions = client::mentions(session, since).await?;
        Ok(json!({"mentions": mentions}))
    }
}

/// Finds the company whose page address, or its last part, is in `vanity`.
async fn company(session: &Session, input: &Map<String, Value>) -> Result<Value> {
    let asked = input.get("vanity").and_then(Value::as_str).unwrap_or_default().trim();
    let vanity = asked.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if vanity.is_empty() {
        return Err(Error::rejected("The tool asks for the vanity name of a company.")
            .with_remedy("Send input.vanity: what stands behind linkedin.com/company/ in its page's address."));
    }
    let found = client::organization(session, vanity).await?;
    let company = found.map(|one| json!({"name": one.name, "urn": one.urn, "vanity_name": vanity}));
    Ok(json!({"company": company}))
}

/// Returns the commentary of a caption without mentions, for the growth test.
#[cfg(test)]
pub(crate) fn commentary_of(caption: &str) -> String {
    little_text::commentary(caption, &std::collections::BTreeMap::new())
}
