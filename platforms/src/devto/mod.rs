//! DEV (Forem): articles through the API, with an API key.
//!
//! An article is one call. After a lost response the account's own articles are read: Forem itself refuses a second one
//! with the same address, or with the same title within five minutes.

mod analytics;
mod client;
mod publish;
mod settings;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use settings::Settings;

use crate::{
    CaptionLimits, ConnectSpec, CredentialField, DocNotes, Draft, Error, Example, Identity,
    LimitScope, MediaRules, Platform, PlatformId, PostType, Progress, RateLimit, ReconcileOutcome,
    RecoveryClass, Result, Session, Spec, SpecSource, Step, Violation,
    analytics::Analytics,
    outcome::expect_no_state,
    text::{Alteration, Alterations},
};

/// Longest text in characters. Forem has no limit; this is Fanfare's own, to keep requests small.
const TEXT_MAX: usize = 500_000;
/// The most images: the cover and those below the text. This is Fanfare's own limit.
const IMAGES_MAX: usize = 10;

const SPEC: Spec = Spec {
    base_url: "https://dev.to",
    connect: ConnectSpec::Credentials(&[CredentialField::required(
        "api_key",
        "An API key, made on dev.to under Settings, Extensions, DEV Community API Keys.",
    )]),
    caption: CaptionLimits::characters(TEXT_MAX),
    media: MediaRules {
        images_max: IMAGES_MAX,
        total_max: IMAGES_MAX,
        image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
        image_bytes_max: 25 * 1024 * 1024,
        ..MediaRules::NONE
    },
    alt_text_max: settings::ALT_TEXT_MAX,
    post_types: &[PostType {
        name: "feed",
        doc: "An article. The caption is Markdown; the first image is the cover, further ones stand below the text.",
        media: None,
    }],
    settings: Settings::FIELDS,
    ai_label: true,
    analytics: true,
    recovery_class: RecoveryClass::Search,
    ignored_parameter: Some("uncached"),
    alterations: Alterations { title: &[Alteration::PlainSigns], ..Alterations::NONE },
    rate_limits: &[RateLimit::new(LimitScope::Account, 10, 30)],
    // Images are passed by address, so there is nothing to prepare.
    prepare_lead: std::time::Duration::ZERO,
    doc_notes: DocNotes {
        reconcile: "`GET /api/articles/me/all`, by title and time",
        tokens: "the key does not end",
        tested: "",
    },
    sources: &[
        SpecSource::documented(
            "fields of articles, errors, rate limits",
            "https://developers.forem.com/api/v1",
        ),
        SpecSource::documented("levels of AI disclosure", "https://dev.to/llms.txt"),
        SpecSource::observed(
            "tags as a list, title of at most 128 characters, same title refused for five minutes",
            "https://github.com/forem/forem",
        ),
        SpecSource::observed(
            "changes of titles: signs that no keyboard has become blanks",
            "https://github.com/forem/forem/blob/main/app/models/article.rs",
        ),
        SpecSource::assumed(
            "length of the text and of alt texts, number and size of images",
            "Forem names no limits: these are Fanfare's",
        ),
    ],
    examples: &[
        Example::new("an article", r##"{"caption": "# Hello\n\nThis is **news**."}"##),
        Example::new(
            "an article with every setting",
            r#"{"caption": "This is news.", "settings": {"title": "What is new", "tags": ["rust", "webdev"], "canonical_url": "https://example.org/what-is-new", "description": "News in short", "series": "News", "ai_disclosure_level": "some_ai", "media_alt_texts": ["A cat"]}}"#,
        )
        .with(&["image/png"]),
        Example::new(
            "an article of an organization",
            r#"{"caption": "We have news", "settings": {"organization_id": 1}}"#,
        )
        .requiring("an organization that the user writes for"),
    ],
    ..Spec::with_defaults(PlatformId::Devto, "DEV")
};

/// The connector.
pub struct Devto;

#[async_trait]
impl Platform for Devto {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn check(&self, draft: &Draft) -> Vec<Violation> {
        settings::check(draft)
    }

    fn is_ai_labelled(&self, draft: &Draft) -> bool {
        settings::is_ai_labelled(draft)
    }

    fn step(&self, _draft: &Draft, _state: Option<&Value>) -> Step {
        Step::commit("create_article")
    }

    async fn publish(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
    ) -> Result<Progress> {
        expect_no_state(state.as_ref())?;
        let article = publish::article(draft, &draft.settings()?);
        let made = client::create(session, &article).await?;
        Ok(publish::done(&article, made))
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
        let user = client::me(session).await.map_err(Error::while_connecting)?;
        Ok(Identity {
            remote_id: user.id.to_string(),
            username: user.username,
            display_name: user.name.filter(|name| !name.is_empty()),
            meta: Map::new(),
            secrets: session.secrets.clone(),
            expires_at: None,
        }
        .with_picture_url(user.profile_image))
    }
}
