//! The steps of a post: one call creates it, then its status is read until Google has reviewed it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::{
    client::{self, LocalPost},
    content,
    error::rejected,
    settings::Settings,
    verify::location,
};
use crate::{Draft, Found, Progress, Result, Session, Step, outcome::read_state, recent_posts};

/// How often and how long the review status of a post is read; the first time sooner. After that the post counts as
/// accepted.
const FIRST: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(30);
const LOOK_MAX: TimeDelta = TimeDelta::minutes(5);
/// A post that was rejected longer ago than this belongs to an earlier attempt, and a new one is created.
const EARLIER_TRY: TimeDelta = TimeDelta::seconds(20);

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
        State::Rejected { .. } => Progress::go_on(&State::Create),
        State::Create => {
            let settings: Settings = draft.settings()?;
            let post = content::local_post(draft, &settings);
            let made = client::create(session, &location(session)?, &post).await?;
            if made.state == "REJECTED" {
                return Err(rejected());
            }
            judge(session, &made, session.now)
        }
        State::Look { name, since } => {
            let mut post = client::post(session, &name).await?;
            post.name = name;
            judge(session, &post, since)
        }
    }
}

/// Returns the step that follows from the review state of a post.
fn judge(session: &Session, post: &LocalPost, since: DateTime<Utc>) -> Result<Progress> {
    match post.state.as_str() {
        "REJECTED" => {
            under_way(&State::Rejected { since: session.now }, Duration::ZERO, &post.name)
        }
        "PROCESSING" if session.now - since <= LOOK_MAX => {
            let pause = if since == session.now { FIRST } else { PAUSE };
            under_way(&State::Look { name: post.name.clone(), since }, pause, &post.name)
        }
        _ => Ok(public(session, post)),
    }
}

fn under_way(state: &State, after: Duration, name: &str) -> Result<Progress> {
    Ok(Progress::go_on(state)?.after(after).naming(Some(name.to_owned())).in_public())
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

/// Looks for the post among the latest of the location.
pub(super) async fn reconcile(
    session: &Session,
    draft: &Draft,
    sent_at: DateTime<Utc>,
) -> Result<Found> {
    let settings: Settings = draft.settings()?;
    let title = settings.event.as_ref().map_or("", |event| event.title.as_str());
    let topic = content::topic(&draft.post_type);
    let location = location(session)?;
    let is_it = |post: &LocalPost| {
        post.summary.trim() == draft.caption.trim()
            && post.title() == title
            && (post.topic_type.is_empty() || post.topic_type == topic)
    };
    let ask = |next| client::latest(session, &location, next);
    Ok(match recent_posts::look(sent_at, is_it, ask).await?.nearest()? {
        Some(post) => Found::There(judge(session, &post, session.now)?),
        None => Found::Absent,
    })
}
