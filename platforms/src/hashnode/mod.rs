//! Hashnode: articles of one publication through its GraphQL API, with a personal access token.
//!
//! Hashnode has no idempotency keys, so every article gets a slug that is made from its key, and a lost response is
//! reconciled by looking up that slug.

mod analytics;
mod client;
mod error;
mod publish;
mod settings;
#[cfg(test)]
mod tests;
mod verify;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, Identity, LimitScope,
    MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Session, Spec, SpecSource, Step, Violation, analytics::Analytics,
};

/// The longest text: a request may have 100 KB, including titles, tags and JSON syntax.
const TEXT_BYTES_MAX: usize = 90_000;
/// The most images: the cover and those below the text. This is Fanfare's own limit.
const IMAGES_MAX: usize = 10;

const SPEC: Spec = Spec {
    base_url: "https://gql-beta.hashnode.com",
    connect: ConnectSpec::Credentials(&[
        CredentialField::required(
            "personal_access_token",
            "A personal access token, made on Hashnode under Account Settings, Developer.",
        ),
        CredentialField::optional(
            "publication_id",
            "Id of the publication to publish in; may be left out where there is one only.",
        ),
    ]),
    caption: CaptionLimits { max_bytes: Some(TEXT_BYTES_MAX), ..CaptionLimits::characters(TEXT_BYTES_MAX) },
    media: MediaRules {
        images_max: IMAGES_MAX,
        total_max: IMAGES_MAX,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        image_bytes_max: 8 * 1024 * 1024,
        ..MediaRules::NONE
    },
    alt_text_max: settings::ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "An article in a publication with the Pro plan. The caption is Markdown; the first image is the cover, \
              further ones stand below the text.",
        media: None,
    }],
    settings: Settings::FIELDS,
    analytics: true,
    recovery_class: RecoveryClass::Search,
    list_lag: Duration::from_secs(300),
    rate_limits: &[RateLimit::new(LimitScope::Account, 500, 60)],
    doc_notes: DocNotes {
        reconcile: "`publication.post` of the slug that the service chose",
        tokens: "the token does not end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "address, input of publishPost, error codes, rate_limits, size of requests and images, the Pro plan",
            "https://docs.hashnode.com/api",
        ),
        SpecSource::assumed(
            "lengths of title, subtitle and alt texts, number of images",
            "Hashnode names no limits: these are Fanfare's",
        ),
        SpecSource::assumed(
            "the time after which an article that is not found is not there",
            "reads are stale for a time that Hashnode does not name: five minutes are Fanfare's",
        ),
    ],
    examples: &[
        Example::new("an article", r##"{"caption": "# Hello there\n\nThis is **news**."}"##),
        Example::new(
            "an article with its settings",
            r#"{"caption": "This is news.", "settings": {"title": "What is new", "subtitle": "In short", "tags": ["Rust", "Web Dev"], "slug": "what-is-new", "original_article_url": "https://example.org/what-is-new", "meta_title": "News", "meta_description": "News in short", "disable_comments": true, "media_alt_texts": ["A cat"]}}"#,
        )
        .with(&["image/png"]),
        Example::new(
            "an article of a series in another publication",
            r#"{"caption": "Part two of it", "settings": {"publication_id": "650b01dbd3bd5e7ab2b2ab10", "series_id": "650b01dbd3bd5e7ab2b2ab11"}}"#,
        )
        .requiring("the publication and the series"),
    ],
    ..Spec::with_defaults(PlatformId::Hashnode, "Hashnode")
};

/// The connector.
pub struct Hashnode;

#[async_trait]
impl Platform for Hashnode {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
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
        _sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        publish::reconcile(session, draft).await
    }

    fn analytics(&self) -> Option<&'static dyn Analytics> {
        Some(&analytics::MetricsReader)
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }
}
