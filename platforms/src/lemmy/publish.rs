//! The steps of a post.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    IMAGE_BYTES_MAX, SPEC,
    client::{CreatePost, Instance, Post},
    settings::Settings,
};
use crate::{
    Draft, Error, Progress, ReconcileOutcome, Result, Session, Step, article, kept,
    outcome::read_state, recent_posts, settings::alt_text, text, visibility::Difference,
};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct State {
    /// The id of the community on the account's instance.
    community: Option<u64>,
    /// True if the instance does not know the community and must look it up.
    unknown: bool,
    /// Addresses of the uploaded images, in order.
    images: Vec<String>,
}

/// The next step.
enum NextStep {
    Find,
    Resolve,
    Upload(usize),
    Create(u64),
}

impl State {
    fn next(&self, draft: &Draft) -> NextStep {
        match self.community {
            None if self.unknown => NextStep::Resolve,
            None => NextStep::Find,
            Some(_) if self.images.len() < draft.media.len() => NextStep::Upload(self.images.len()),
            Some(community) => NextStep::Create(community),
        }
    }
}

/// Returns the step of the next call.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    match read_state::<State>(state).unwrap_or_default().next(draft) {
        NextStep::Find => Step::prepare("find_community"),
        NextStep::Resolve => Step::prepare("resolve_community"),
        NextStep::Upload(index) => Step::prepare(format!("upload_image_{}", index + 1)),
        NextStep::Create(_) => Step::commit("create_post"),
    }
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    let there = Instance::of_account(session);
    match state.next(draft) {
        NextStep::Find => {
            state.community = there.community(&settings.community).await?;
            state.unknown = state.community.is_none();
        }
        NextStep::Resolve => {
            let found = there.resolve(&settings.community).await?;
            state.community = Some(found.ok_or_else(|| {
                Error::rejected(format!("The community {} does not exist.", settings.community))
                    .with_remedy("Check settings.community.")
            })?);
        }
        NextStep::Upload(index) => {
            let media = draft
                .media
                .get(index)
                .ok_or_else(|| Error::media_rejected("An image is missing."))?;
            let bytes = media.read(IMAGE_BYTES_MAX).await?;
            state.images.push(there.upload(&media.filename, &media.mime, bytes).await?);
        }
        NextStep::Create(community) => {
            let sent = post(draft, &settings, &state, community);
            let made = there.create(&sent).await?;
            return done(&there, &sent, &made);
        }
    }
    Progress::continue_with(&state)
}

/// Returns the post of a draft.
fn post(draft: &Draft, settings: &Settings, state: &State, community: u64) -> CreatePost {
    let (name, body) = settings.title_and_body(&draft.caption);
    let mut uploaded = draft.clone();
    for (media, url) in uploaded.media.iter_mut().zip(&state.images) {
        media.url.clone_from(url);
    }
    let first = state.images.first().cloned();
    CreatePost {
        name: name.trim().to_owned(),
        community_id: community,
        custom_thumbnail: settings.url.as_ref().and(first.clone()),
        url: settings.url.clone().or(first),
        body: article::with_images(body, &uploaded, &settings.media_alt_texts),
        nsfw: settings.nsfw,
        language_id: settings.language_id,
        alt_text: alt_text(&settings.media_alt_texts, 0).map(str::to_owned),
    }
}

fn done(there: &Instance<'_>, sent: &CreatePost, made: &Post) -> Result<Progress> {
    let shown = made.body.as_deref().unwrap_or_default();
    let kept = kept::warning(&SPEC, "caption", SPEC.alterations.text, (&sent.body, shown));
    let difference = Difference {
        field: "settings.community",
        asked: "public",
        given: if made.removed { "nobody" } else { "" },
        cause: "The community removed it at once, by a rule or a moderator.",
        remedy: "Read the community's rules and its modlog.",
    };
    let progress =
        Progress::done(made.id.to_string(), there.public_url(&format!("/post/{}", made.id)));
    Ok(progress.with_warnings(difference.warning().into_iter().chain(kept).collect()))
}

/// Looks for the post among the account's latest: same title and text, created since the call.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let there = Instance::of_account(session);
    let state: State = read_state(state.as_ref())?;
    let sent = post(draft, &draft.settings()?, &state, 0);
    let name = session.account.meta_str("name").unwrap_or_default();
    let changes = SPEC.alterations;
    let has_text = text::has_words(&sent.body);
    let likeness = |one: &Post| {
        let body = one.body.as_deref().unwrap_or_default();
        let title = text::likeness_altered(changes.title, &sent.name, &one.name);
        let body = text::likeness_altered(changes.text, &sent.body, body);
        text::of_article(title, body, has_text)
    };
    let looked = recent_posts::search(sent_at, likeness, |next| there.latest(name, next)).await?;
    looked.listing(|one| Ok((one.id.to_string(), done(&there, &sent, &one)?))).map(Into::into)
}
