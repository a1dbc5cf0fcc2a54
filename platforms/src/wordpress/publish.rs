//! The steps of a post.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    IMAGE_BYTES_MAX, SPEC, article,
    client::{NewPost, Post, Site, Upload},
    settings::Settings,
};
use crate::{
    Candidate, Draft, Error, Likeness, Listing, Media, Progress, PublishedPost, ReconcileOutcome,
    Result, Session, Step, Warning, article::slugify, kept, outcome::read_state,
    recent_posts::CLOCK_SLACK, text, visibility::Difference,
};

/// The highest number that is looked for of those that a site adds to a slug.
const NUMBERS_MAX: u32 = 10;

/// The number of seconds within which two times count as whole quarters of an hour apart.
const ZONE_SLACK: i64 = 120;

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
            // An answer that a cache kept would say that the slug is free, and be kept for the next one who asks.
            let session = session.asking_anew(&SPEC);
            let slugs = [slug.clone()];
            let taken = Site::of_account(&session).posts_with_slugs(&slugs).await?;
            if taken.iter().any(|post| post.slug == slug) {
                return Err(Error::rejected(format!(
                    "The site already has a post with the slug {slug:?}."
                ))
                .with_remedy("Choose another slug, or leave it out."));
            }
            state.slug_is_free = true;
        }
        NextStep::Create => {
            let sent = new_post(draft, &settings, &state);
            let post = site.create(&sent).await?;
            let kept = kept::warning(&SPEC, "caption", &[], (&sent.content, &post.content.raw));
            let mut made = published(post);
            made.warnings.extend(kept);
            return Ok(Progress::Done(made));
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

/// Looks up the post by its slug, with the numbers that the site adds to one that is taken. A slug that was made from the
/// key is nobody else's; with a chosen one, the text decides.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let (slug, site) = (article::slug(draft, &settings), Site::of_account(session));
    let numbered = (2..=NUMBERS_MAX).map(|number| format!("{slug}-{number}"));
    let slugs: Vec<_> = std::iter::once(slug.clone()).chain(numbered).collect();
    let mut posts = site.posts_with_slugs(&slugs).await?;
    posts.retain(|post| slugs.contains(&post.slug));
    if settings.slug.is_none() {
        posts.sort_by_key(|post| post.slug.len());
        let first = posts.into_iter().next();
        return Ok(first.map_or(ReconcileOutcome::NotCommitted, |post| {
            ReconcileOutcome::Committed(Progress::Done(published(post)))
        }));
    }
    let sent = new_post(draft, &settings, &read_state(state.as_ref())?);
    let may_be_off = |post: &Post| {
        likeness(post, &sent) == Likeness::Same && is_hours_off(session, post, sent_at)
    };
    if posts.iter().any(may_be_off) {
        return Ok(ReconcileOutcome::Unknown);
    }
    let candidates = posts.into_iter().map(|post| candidate(post, &slug, &sent)).collect();
    let Some(candidates) = candidates else { return Ok(ReconcileOutcome::Unknown) };
    Ok(Listing { candidates, is_whole: true }.into())
}

/// Returns a post with a chosen slug, or with a number added to it, as what a call may have made. `None` for one that does
/// not say when it was made.
fn candidate(post: Post, slug: &str, sent: &NewPost) -> Option<Candidate> {
    // The address was free a moment before. Sites change texts, but one with an added number may be anybody's.
    let is_same = match post.slug == slug {
        true => likeness(&post, sent) != Likeness::Different,
        false => likeness(&post, sent) == Likeness::Same,
    };
    Some(Candidate {
        id: post.id.to_string(),
        created_at: post.date_gmt.or(post.modified_gmt)?.and_utc(),
        is_same,
        progress: Progress::Done(published(post)),
    })
}

fn likeness(post: &Post, sent: &NewPost) -> Likeness {
    let title = text::likeness(&sent.title, &post.title.raw);
    title.min(text::likeness(&sent.content, &post.content.raw))
}

/// Returns true if the time of a post differs from that of a call by quarters of an hour, as those of a site do whose zone
/// is set wrongly.
fn is_hours_off(session: &Session, post: &Post, sent_at: DateTime<Utc>) -> bool {
    const QUARTER: i64 = 15 * 60;
    let Some(date) = post.date_gmt else { return false };
    let ahead = session.http.server_clock().now().map(|now| now - session.now);
    let off = date.and_utc() - ahead.unwrap_or_default() - sent_at;
    let (quarters, rest) = (off.num_seconds() / QUARTER, off.num_seconds() % QUARTER);
    let is_near = rest.abs() <= ZONE_SLACK || QUARTER - rest.abs() <= ZONE_SLACK;
    is_near && off.abs() > CLOCK_SLACK && quarters.abs() <= 14 * 4
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
