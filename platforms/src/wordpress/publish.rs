//! The steps of a post.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    IMAGE_BYTES_MAX, article,
    client::{NewPost, Post, Site, Upload},
    settings::Settings,
};
use crate::{
    Candidate, Draft, Error, Listing, Media, Progress, PublishedPost, ReconcileOutcome, Result,
    Session, Step, Warning, article::slugify, outcome::read_state, visibility::Difference,
};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct State {
    /// The uploaded images, in order.
    uploads: Vec<Upload>,
    /// True if the featured image has its alt text.
    described: bool,
    /// True once the slug of the settings was looked up and is free.
    slug_is_free: bool,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NextStep {
    Upload(usize),
    Describe { id: u64, text: String },
    LookUpSlug(String),
    Create,
}

impl State {
    fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if let (Some(featured), Some(text), false) =
            (self.uploads.first(), settings.alt_text(0), self.described)
        {
            return NextStep::Describe { id: featured.id, text: text.to_owned() };
        }
        if self.uploads.len() < draft.media.len() {
            return NextStep::Upload(self.uploads.len());
        }
        match &settings.slug {
            // A slug made from the key is unique; a chosen one may be taken.
            Some(slug) if !self.slug_is_free => NextStep::LookUpSlug(slug.clone()),
            _ => NextStep::Create,
        }
    }
}

impl NextStep {
    fn step(&self) -> Step {
        match self {
            Self::Upload(0) => Step::prepare("upload_featured_image"),
            Self::Upload(index) => Step::prepare(format!("upload_image_{}", index + 1)),
            Self::Describe { .. } => Step::prepare("set_alt_text"),
            Self::LookUpSlug(_) => Step::prepare("look_up_slug"),
            Self::Create => Step::commit("create_post"),
        }
    }
}

/// Returns the step of the next call. If the settings are invalid, that call fails before it sends anything.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    read_state::<State>(state).unwrap_or_default().next(draft, &settings).step()
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    let site = Site::of_account(session);
    let mut remote_id = None;
    match state.next(draft, &settings) {
        NextStep::Upload(index) => {
            let upload = upload(&site, draft, index).await?;
            remote_id = Some(upload.id.to_string());
            state.uploads.push(upload);
        }
        NextStep::Describe { id, text } => {
            site.set_alt_text(id, &text).await?;
            state.described = true;
        }
        NextStep::LookUpSlug(slug) => {
            if site.post_with_slug(&slug).await?.is_some() {
                return Err(Error::rejected(format!(
                    "The site already has a post with the slug {slug:?}."
                ))
                .with_remedy("Choose another slug, or leave it out."));
            }
            state.slug_is_free = true;
        }
        NextStep::Create => {
            let post = site.create(&new_post(draft, &settings, &state)).await?;
            return Ok(Progress::Done(published(post)));
        }
    }
    Progress::continue_with(&state).map(|progress| progress.with_remote_id(remote_id))
}

async fn upload(site: &Site<'_>, draft: &Draft, index: usize) -> Result<Upload> {
    let missing = || Error::media_rejected("An image of the post is missing.");
    let media = draft.media.get(index).ok_or_else(missing)?;
    let file = media.stream(IMAGE_BYTES_MAX).await?;
    site.upload(&media.mime, &filename(media, index), file).await
}

/// Returns a file name that matches the type, which WordPress checks, and is valid in a header.
fn filename(media: &Media, index: usize) -> String {
    let stem = media.filename.rsplit_once('.').map_or(media.filename.as_str(), |(stem, _)| stem);
    let stem = slugify(stem);
    let stem = if stem.is_empty() { format!("image-{}", index + 1) } else { stem };
    let extension = match media.mime.as_str() {
        "image/png" => "png",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => "jpg",
    };
    format!("{}.{extension}", stem.get(..100).unwrap_or(&stem))
}

fn new_post(draft: &Draft, settings: &Settings, state: &State) -> NewPost {
    let mut content = article::html(draft, settings);
    for (index, upload) in state.uploads.iter().enumerate().skip(1) {
        let alt = settings.alt_text(index).unwrap_or_default();
        content.push_str(&article::figure(&upload.source_url, alt));
    }
    NewPost {
        // WordPress prints titles unescaped; a < would start a tag.
        title: article::title(draft, settings).replace('<', "&lt;"),
        content,
        status: "publish",
        slug: article::slug(draft, settings),
        excerpt: settings.excerpt.clone(),
        featured_media: state.uploads.first().map(|upload| upload.id),
        categories: settings.categories.clone(),
        tags: settings.tags.clone(),
    }
}

/// Looks up the post by its slug. One that was made from the key is unique; a chosen one may be another post's, and the
/// site adds a number to a slug that is taken.
pub async fn reconcile(session: &Session, draft: &Draft) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let (slug, site) = (article::slug(draft, &settings), Site::of_account(session));
    if settings.slug.is_none() {
        let found = site.post_with_slug(&slug).await?;
        return Ok(found.map_or(ReconcileOutcome::NotCommitted, |post| {
            ReconcileOutcome::Committed(Progress::Done(published(post)))
        }));
    }
    let posts = site.posts_with_slugs(&format!("{slug},{slug}-2")).await?;
    let candidate = |post: Post| {
        Some(Candidate {
            id: post.id.to_string(),
            created_at: post.date_gmt?.and_utc(),
            is_same: post.slug == slug,
            progress: Progress::Done(published(post)),
        })
    };
    let candidates = posts.into_iter().filter_map(candidate).collect();
    Ok(Listing { candidates, is_whole: true }.into())
}

fn published(post: Post) -> PublishedPost {
    PublishedPost {
        id: post.id.to_string(),
        url: post.link,
        warnings: withheld(&post.status).into_iter().collect(),
        ..PublishedPost::default()
    }
}

/// Returns the warning about a post that the site took and does not show.
fn withheld(status: &str) -> Option<Warning> {
    let (cause, remedy) = match status {
        "pending" => (
            "The site waits for an editor: a plugin, or the role of the user, lets nobody publish alone.",
            "Let an editor approve the post, or give the user the role Author.",
        ),
        "future" => (
            "The clock or the time zone of the site is behind, or a plugin schedules posts.",
            "Publish the post on the site, and correct its time zone.",
        ),
        "private" => (
            "A plugin, or the settings of the site, make posts private.",
            "Change the visibility of the post on the site.",
        ),
        _ => ("The site gave the post another state.", "Look at the post on the site."),
    };
    let (field, asked, given) = ("platform_post_url", "publish", status);
    Difference { field, asked, given, cause, remedy }.warning()
}
