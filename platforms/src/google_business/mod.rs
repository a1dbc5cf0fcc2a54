//! Google Business Profile: one call makes a post on a location, with a photo that Google fetches itself.
//!
//! Posts have no idempotency key. After a lost response, the post is looked up among the latest of the location.

mod analytics;
mod business;
mod check;
mod client;
mod content;
mod error;
mod photos;
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
    Account, CaptionLimits, ConnectSpec, DocNotes, Draft, Example, FrameRules, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    Result, Session, Spec, SpecSource, Step, SupportedApi, VideoFormat, Violation, Warning,
    analytics::Analytics,
    google,
    oauth::{Oauth, Permission},
};

/// The display name.
const LABEL: &str = "Google Business Profile";
/// The host of the API for posts.
const API: &str = "https://mybusiness.googleapis.com";
/// Longest text, and longest title of an event, in characters.
const SUMMARY_MAX: usize = 1_500;
const EVENT_TITLE_MAX: usize = 58;
/// Least sides of a photo in a post, in pixels.
const PHOTO_WIDTH_MIN: u32 = 400;
const PHOTO_HEIGHT_MIN: u32 = 300;
/// The actions of a button.
const LABELS: &[&str] = &["BOOK", "ORDER", "SHOP", "LEARN_MORE", "SIGN_UP", "CALL"];
/// The public fact that says whether the location may post.
const CAN_POST: &str = "can_operate_local_post";

/// Ten changes of a location per minute, which Google does not raise, and 300 calls per minute of an app
/// (<https://developers.google.com/my-business/content/limits>).
const RATE_LIMITS: &[RateLimit] =
    &[RateLimit::new(LimitScope::Account, 10, 60), RateLimit::new(LimitScope::App, 300, 60)];

const OAUTH: Oauth = Oauth {
    permissions: &[Permission::required(
        "https://www.googleapis.com/auth/business.manage",
        "Publish posts on your locations",
    )],
    shares_tokens: true,
    ..google::OAUTH
};

const MEDIA: MediaRules = MediaRules {
    min: 0,
    images_max: 1,
    videos_max: 1,
    total_max: 1,
    mixed: false,
    image_types: &["image/jpeg", "image/png"],
    video_types: &["video/mp4", "video/quicktime"],
    video_forms: &[VideoFormat::H264],
    image_bytes_max: 5_000_000,
    video_bytes_max: 75_000_000,
    video_ms_max: Some(30_000),
    frame: FrameRules { image_width_min: Some(PHOTO_WIDTH_MIN), ..FrameRules::ANY },
};

const SPEC: Spec = Spec {
    base_url: API,
    connect: ConnectSpec::Oauth(OAUTH),
    caption: CaptionLimits::characters(SUMMARY_MAX),
    media: MEDIA,
    post_types: &[
        PostType {
            name: "standard",
            doc: "What is new, with a button if there is one.",
            media: None,
        },
        PostType { name: "event", doc: "Something that happens at a time.", media: None },
        PostType { name: "offer", doc: "Something that is had for less for a time.", media: None },
    ],
    settings: Settings::FIELDS,
    rate_limits: RATE_LIMITS,
    default_wait: Some(google::DEFAULT_WAIT),
    api: Some(SupportedApi::lasting("v4", "2026-11-26")),
    doc_notes: DocNotes {
        reconcile: "`GET /v4/{location}/localPosts`, by text, title and time",
        tokens: "1 hour, by a refresh token that lasts until half a year passes without use",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "posts, events, offers, buttons, states",
            "https://developers.google.com/my-business/reference/rest/v4/accounts.locations.localPosts",
        ),
        SpecSource::documented(
            "locations, and which of them may post",
            "https://developers.google.com/my-business/reference/businessinformation/rest/v1/accounts.locations",
        ),
        google::OAUTH_SOURCE,
        SpecSource::observed(
            "statuses of errors, how long a post is looked over, which part goes with which kind of post",
            "programs that publish on Business Profiles",
        ),
        SpecSource::assumed(
            "length of texts, sizes of files, rate limits, longest code and terms of an offer",
            "Google's help pages; easy to change",
        ),
    ],
    examples: EXAMPLES,
    analytics: true,
    ..Spec::with_defaults(PlatformId::GoogleBusiness, LABEL)
};

const EXAMPLES: &[Example] = &[
    Example::new(
        "news with a photo and a button",
        r#"{"caption": "The new paper is in", "settings": {"language_code": "en", "call_to_action": {"action_type": "LEARN_MORE", "url": "https://example.org/paper"}}}"#,
    )
    .with(&["image/jpeg"]),
    Example::new(
        "news with a button that calls",
        r#"{"caption": "We are open again", "settings": {"call_to_action": {"action_type": "CALL"}}}"#,
    ),
    Example::new(
        "an event that comes back",
        r#"{"caption": "Fold with us", "post_type": "event", "settings": {"event": {"title": "Evening of cranes", "schedule": {"start_date": {"year": 2031, "month": 3, "day": 7}, "start_time": {"hours": 19, "minutes": 30}, "end_date": {"year": 2031, "month": 3, "day": 7}, "end_time": {"hours": 22}}}, "recurrence_info": {"weeklyPattern": {"daysOfWeek": ["FRIDAY"]}}}}"#,
    ),
    Example::new(
        "an offer",
        r#"{"caption": "Two sheets for one", "post_type": "offer", "settings": {"event": {"title": "Spring offer", "schedule": {"start_date": {"year": 2031, "month": 4, "day": 1}, "end_date": {"year": 2031, "month": 4, "day": 30}}}, "offer": {"coupon_code": "CRANE", "redeem_online_url": "https://example.org/redeem", "terms_conditions": "One for each guest."}}}"#,
    )
    .with(&["image/jpeg"]),
    Example::new("a video", r#"{"caption": "A video"}"#).with(&["video/mp4"]),
];

/// The connector.
pub struct GoogleBusiness;

#[async_trait]
impl Platform for GoogleBusiness {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn settings_suffice(&self, draft: &Draft) -> bool {
        draft.settings::<Settings>().is_ok_and(|settings| settings.event.is_some())
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        check::check(draft)
    }

    fn account_violation(&self, account: &Account) -> Option<Violation> {
        check::lacks(account)
    }

    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        check::warnings(draft)
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
        _state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        publish::reconcile(session, draft, sent_at).await
    }

    fn business_profile(&self) -> Option<&dyn crate::BusinessProfile> {
        Some(self)
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
}
