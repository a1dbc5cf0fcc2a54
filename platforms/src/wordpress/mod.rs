//! Self-hosted WordPress, through its REST API with an application password.
//!
//! A site accepts the same post twice, so each post gets a slug that is made from its key, and a lost response is
//! reconciled by looking up that slug.

mod article;
mod client;
mod error;
mod publish;
mod settings;
mod verify;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Example, Identity, MediaRules,
    Platform, PlatformId, PostType, Progress, ReconcileOutcome, RecoveryClass, Result, Session,
    Spec, SpecSource, Step, Violation, text,
};

/// Longest text in characters. WordPress has no limit; this is Fanfare's own, to keep requests small.
const TEXT_MAX: usize = 1_000_000;
/// Largest image in bytes and most images of a post. Sites have their own limits; these are Fanfare's.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;
const IMAGES_MAX: usize = 10;

const SPEC: Spec = Spec {
    base_url: "",
    connect: ConnectSpec::Credentials(&[
        CredentialField::required("site_url", "Address of the site, for example https://blog.example."),
        CredentialField::required("username", "Name of a user who may publish posts (an Author, Editor or Administrator)."),
        CredentialField::required("application_password", "An application password, made in WordPress under Users, Profile, Application Passwords."),
    ]),
    caption: CaptionLimits {
        max: TEXT_MAX,
        max_with_media: None,
        max_bytes: None,
        count: text::characters,
        unit: "characters",
    },
    media: MediaRules {
        images_max: IMAGES_MAX,
        total_max: IMAGES_MAX,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        image_bytes_max: IMAGE_BYTES_MAX,
        ..MediaRules::NONE
    },
    alt_text_max: settings::ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "An article. The caption is Markdown and is rendered as HTML; the first image is the featured image, \
              further ones stand below the text.",
        media: None,
    }],
    settings: Settings::FIELDS,
    recovery_class: RecoveryClass::Search,
    list_lag: Duration::from_secs(300),
    ignored_parameter: Some("uncached"),
    // Sites have no rate limit; if one asks to wait, we do.
    rate_limits: &[],
    doc_notes: DocNotes {
        reconcile: "`GET /wp/v2/posts?slug=…` of the slug that the service chose",
        tokens: "the application password does not end",
        tested: "WordPress (Debian)",
    },
    sources: &[
        SpecSource::documented(
            "fields of posts and media",
            "https://developer.wordpress.org/rest-api/reference/posts/",
        ),
        SpecSource::assumed(
            "lengths, sizes and numbers of files",
            "WordPress has no limits, or sites set their own: these are Fanfare's",
        ),
        SpecSource::assumed(
            "the time after which a post that is not found is not there",
            "hosts cache reads for minutes: five are Fanfare's",
        ),
    ],
    examples: &[
        Example::new(
            "an article",
            r##"{"caption": "# Hello\n\nThis is **news**.", "settings": {"excerpt": "News", "categories": [1], "tags": []}}"##,
        ),
        Example::new(
            "an article with title, address and featured image",
            r#"{"caption": "This is news.", "settings": {"title": "Hello", "slug": "hello-news", "media_alt_texts": ["A cat"]}}"#,
        )
        .with(&["image/png"]),
    ],
    ..Spec::with_defaults(PlatformId::Wordpress, "WordPress")
};

/// The connector.
pub struct Wordpress;

#[async_trait]
impl Platform for Wordpress {
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
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        publish::reconcile(session, draft, state, sent_at).await
    }

    async fn verify(&self, session: &Session) -> Result<Identity> {
        verify::verify(session).await
    }
}

/// Returns the HTML of a caption, for the growth test.
#[cfg(test)]
pub(crate) fn html_of(caption: &str) -> String {
    let draft = crate::tests::test_server::draft(caption, serde_json::json!({}));
    article::html(&draft, &Settings::default())
}

#[cfg(test)]
mod tests;
