//! The steps of an article.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    client::{self, Post, PublishPostInput, Tag},
    settings::{Settings, TITLE_MAX},
};
use crate::{
    Candidate, Draft, Error, Listing, Progress, ReconcileOutcome, Result, Session, Step, article,
    outcome::read_state,
};

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

/// Looks up the article by its slug. One that was made from the key is unique; a chosen one may be another article's.
pub async fn reconcile(session: &Session, draft: &Draft) -> Result<ReconcileOutcome> {
    let is_chosen = draft.settings.contains_key("slug");
    let input = input(session, draft, draft.settings()?);
    let found = client::by_slug(session, &input.publication_id, &input.slug).await?;
    let Some(post) = found else { return Ok(ReconcileOutcome::NotCommitted) };
    if !is_chosen {
        return Ok(ReconcileOutcome::Committed(done(post)));
    }
    let Some(created_at) = post.published_at else { return Ok(ReconcileOutcome::Unknown) };
    let id = post.id.clone();
    let candidate = Candidate { id, created_at, is_same: true, progress: done(post) };
    Ok(Listing { candidates: vec![candidate], is_whole: true }.into())
}

fn done(post: Post) -> Progress {
    Progress::done(post.id, post.url)
}
