//! The steps of a post: one call creates it, then its status is read until Google has reviewed it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::{
    SPEC,
    client::{self, LocalPost},
    content,
    error::rejected,
    settings::Settings,
    verify::{self, location},
};
use crate::{
    Draft, Likeness, Progress, ReconcileOutcome, Result, Session, Step, Warning, kept,
    outcome::read_state,
    recent_posts,
    remains::{FileKind, Remains},
    text,
    visibility::Difference,
};

/// The intervals at which the review status of a post is read, and the longest time; the first time sooner. After that
/// the post counts as accepted.
const FIRST: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(30);
const LOOK_MAX: TimeDelta = TimeDelta::minutes(5);
/// A post that was rejected longer ago than this belongs to an earlier attempt, and a new one is created.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);

/// The state of a post that breaks Google's rules.
pub(super) const REJECTED: &str = "REJECTED";

/// The state that is stored between two calls: the next step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Create the post.
    #[default]
    Create,
    /// Check whether Google accepts it.
    Look { name: String, since: DateTime<Utc> },
    /// Google rejected it.
    Rejected { since: DateTime<Utc> },
}

/// Returns the step of the next call.
pub(super) fn step(state: Option<&Value>) -> Step {
    match read_state::<State>(state).unwrap_or_default() {
        State::Create => Step::commit("create_local_post"),
        State::Look { .. } => Step::confirm("look_at_state"),
        State::Rejected { .. } => Step::prepare("begin_anew"),
    }
}

/// Makes the next call.
pub(super) async fn publish(
    session: &Session,
    draft: &Draft,
    state: Option<Value>,
) -> Result<Progress> {
    match read_state::<State>(state.as_ref())? {
        State::Rejected { since } if session.now - since <= EARLIER_TRY => Err(rejected()),
        State::Rejected { .. } => Progress::continue_with(&State::Create),
        State::Create => {
            let settings: Settings = draft.settings()?;
            let post = content::local_post(draft, &settings);
            let made = client::create(session, &location(session)?, &post).await?;
            if made.state == REJECTED {
                return Err(rejected());
            }
            let shown = (draft, made.summary.as_str());
            with_warnings(session, step_after_review(session, &made, session.now)?, shown).await
        }
        State::Look { name, since } => {
            let mut post = client::post(session, &name).await?;
            post.name = name;
            let shown = (draft, post.summary.as_str());
            with_warnings(session, step_after_review(session, &post, since)?, shown).await
        }
    }
}

/// Returns the step that follows from the review state of a post.
fn step_after_review(
    session: &Session,
    post: &LocalPost,
    since: DateTime<Utc>,
) -> Result<Progress> {
    match post.state.as_str() {
        REJECTED => waiting(&State::Rejected { since: session.now }, Duration::ZERO, &post.name),
        "PROCESSING" if session.now - since <= LOOK_MAX => {
            let pause = if since == session.now { FIRST } else { PAUSE };
            waiting(&State::Look { name: post.name.clone(), since }, pause, &post.name)
        }
        _ => Ok(public(session, post)),
    }
}

fn waiting(state: &State, after: Duration, name: &str) -> Result<Progress> {
    Ok(Progress::continue_with(state)?
        .after(after)
        .with_remote_id(Some(name.to_owned()))
        .mark_public())
}

fn public(session: &Session, post: &LocalPost) -> Progress {
    let url = if post.search_url.is_empty() {
        let id = session.account.remote_id.as_str();
        session.public_url("https://business.google.com", &format!("/locations/{id}"))
    } else {
        Url::parse(&post.search_url).ok().map(String::from)
    };
    Progress::done(post.name.clone(), url)
}

/// Adds the warnings about a text that Google shows otherwise than it was sent, and about a post of a place that Google has not
/// verified. That costs a read, whose failure is no failure of the post.
async fn with_warnings(
    session: &Session,
    progress: Progress,
    (draft, shown): (&Draft, &str),
) -> Result<Progress> {
    if !matches!(progress, Progress::Done(_)) {
        return Ok(progress);
    }
    let is_shown = verify::is_shown(session).await;
    let kept = kept::warning(&SPEC, "caption", &[], (&draft.caption, shown));
    Ok(progress.with_warnings(unverified(is_shown).into_iter().chain(kept).collect()))
}

fn unverified(is_shown: Option<bool>) -> Option<Warning> {
    Difference {
        field: "account_id",
        asked: "public",
        given: if is_shown == Some(false) { "nobody" } else { "" },
        cause: "Google has not verified the business at this place, and shows nothing that it says of itself.",
        remedy: "Verify the business at business.google.com; the post is shown after that.",
    }
    .warning()
}

/// Looks for the post among the latest of the location.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let settings: Settings = draft.settings()?;
    let title = settings.event.as_ref().map_or("", |event| event.title.as_str());
    let topic = content::topic(&draft.post_type);
    let location = location(session)?;
    let wanted = format!("{title}\n{}", draft.caption);
    let (ours, has_words) = (Remains::of(draft), text::has_words(&wanted));
    let likeness = |post: &LocalPost| {
        let is_of_this_kind = post.topic_type.is_empty() || post.topic_type == topic;
        let words = text::likeness(&wanted, &format!("{}\n{}", post.title(), post.summary));
        let likeness = ours.likeness(&remains(post), (words, has_words), false);
        if is_of_this_kind { likeness } else { likeness.min(Likeness::Similar) }
    };
    let ask = |next| client::latest(session, &location, next);
    let listing = recent_posts::search(sent_at, likeness, ask)
        .await?
        .listing(|post| Ok((post.name.clone(), step_after_review(session, &post, session.now)?)));
    listing.map(Into::into)
}

/// Returns what is shown of a post beside its words.
fn remains(post: &LocalPost) -> Remains {
    let kind = |name: &str| match name {
        "PHOTO" => FileKind::Image,
        "VIDEO" => FileKind::Video,
        _ => FileKind::Unknown,
    };
    let kinds = post.media.iter().map(|one| kind(&one.media_format)).collect();
    Remains { kinds: Some(kinds), ..Remains::default() }
}
