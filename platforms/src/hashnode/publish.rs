//! The steps of an article.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    client::{self, Post, PublishPostInput, Tag},
    settings::{Settings, TITLE_MAX},
};
use crate::{
    Draft, Error, Progress, ReconcileOutcome, Result, Session, Step, article, outcome::read_state,
};

/// The time for which a read may be stale after a write.
const READS_LAG: TimeDelta = TimeDelta::seconds(30);

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct State {
    /// True once the slug of the settings was looked up and is free.
    slug_is_free: bool,
}

/// Returns the step of the next call. A slug made from the key is unique; a chosen one may be taken, and is looked up
/// first.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let chosen = draft.settings.contains_key("slug");
    if chosen && !read_state::<State>(state).unwrap_or_default().slug_is_free {
        return Step::prepare("look_up_slug");
    }
    Step::commit("publish_post")
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let input = input(session, draft, draft.settings()?);
    read_state::<State>(state.as_ref())?;
    if step(draft, state.as_ref()).name == "look_up_slug" {
        let taken = client::by_slug(session, &input.publication_id, &input.slug).await?;
        return match taken {
            None => Progress::continue_with(&State { slug_is_free: true }),
            Some(_) => Err(Error::rejected(format!(
                "The publication already has an article with the slug {:?}.",
                input.slug
            ))
            .with_remedy("Choose another slug, or leave it out.")),
        };
    }
    client::publish(session, &input).await.map(done)
}

/// Returns the article of a draft.
pub fn input(session: &Session, draft: &Draft, settings: Settings) -> PublishPostInput {
    let title = article::title(settings.title.as_deref(), &draft.caption, TITLE_MAX);
    let text = article::body(settings.title.as_deref(), &draft.caption);
    let own = session.account.meta_str("publication_id").unwrap_or_default();
    let tag = |name: &String| Tag { slug: article::slugify(name), name: name.clone() };
    PublishPostInput {
        publication_id: settings.publication_id.unwrap_or_else(|| own.to_owned()),
        slug: settings.slug.unwrap_or_else(|| article::slug(&title, draft.key)),
        content_markdown: article::with_images(text, draft, &settings.media_alt_texts),
        title,
        tags: settings.tags.iter().map(tag).collect(),
        subtitle: settings.subtitle,
        cover_image: draft.media.first().map(|media| media.url.clone()),
        original_article_url: settings.original_article_url,
        meta_title: settings.meta_title,
        meta_description: settings.meta_description,
        disable_comments: settings.disable_comments,
        series_id: settings.series_id,
    }
}

/// Looks up the article by its slug. Reads may be stale, so the result is unknown until they cannot be any more.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let input = input(session, draft, draft.settings()?);
    Ok(match client::by_slug(session, &input.publication_id, &input.slug).await? {
        Some(post) => ReconcileOutcome::Committed(done(post)),
        None if session.now - sent_at < READS_LAG => ReconcileOutcome::Unknown,
        None => ReconcileOutcome::NotCommitted,
    })
}

fn done(post: Post) -> Progress {
    Progress::done(post.id, post.url)
}
