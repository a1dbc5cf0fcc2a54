//! The progress of a post, and the next step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Form, settings::Settings};
use crate::{Draft, Part, Published, Step};

/// Kept between two calls.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// The account has posts left for today.
    pub may_post: bool,
    /// Containers of the carousel's items made so far.
    pub items: Vec<String>,
    /// The number of them that are processed.
    pub items_ready: usize,
    /// The post itself.
    pub main: Making,
    /// The story beside it.
    pub story: Making,
    /// Id of the first comment.
    pub comment: Option<String>,
    /// Instagram gave a container up.
    pub broken: Option<Broken>,
}

/// The progress of one container.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Making {
    /// Its id.
    pub container: Option<String>,
    /// It is processed.
    pub ready: bool,
    /// Since when it is waited for.
    pub since: Option<DateTime<Utc>>,
    /// The number of times it was asked.
    pub polls: u32,
    /// The id of what it became.
    pub published: Option<String>,
}

/// A container that Instagram gave up.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Broken {
    /// The reason that was given.
    pub reason: String,
    /// The time at which that was found.
    pub since: DateTime<Utc>,
    /// The story's, not the post's.
    pub story: bool,
}

/// The post or its first comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Main,
    Story,
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask how many posts are left.
    CheckQuota,
    /// Make the container of this item of the carousel.
    Item(usize),
    /// Wait for the items.
    WaitItems,
    /// Make a container.
    Create(What),
    /// Wait for it.
    Wait(What, String),
    /// Make it public.
    Publish(What, String),
    /// Comment on the post with this id.
    Comment(String, String),
    /// Ask for the address of the post with this id.
    Permalink(String),
}

impl State {
    /// One of the two.
    pub fn making(&mut self, what: What) -> &mut Making {
        match what {
            What::Main => &mut self.main,
            What::Story => &mut self.story,
        }
    }

    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> Next {
        if let Some(next) = self.prepare(draft) {
            return next;
        }
        let story = settings.companion_story.then_some(&self.story);
        if story.is_some_and(|story| story.container.is_none()) {
            return Next::Create(What::Story);
        }
        let Some(id) = &self.main.published else {
            let container = self.main.container.clone().unwrap_or_default();
            return Next::Publish(What::Main, container);
        };
        match (&settings.first_comment, story) {
            (Some(text), _) if self.comment.is_none() => Next::Comment(id.clone(), text.clone()),
            (_, Some(Making { container: Some(container), ready: false, .. })) => {
                Next::Wait(What::Story, container.clone())
            }
            (_, Some(Making { container: Some(container), published: None, .. })) => {
                Next::Publish(What::Story, container.clone())
            }
            _ => Next::Permalink(id.clone()),
        }
    }

    fn prepare(&self, draft: &Draft) -> Option<Next> {
        let is_carousel = Form::of(draft) == Form::Carousel;
        match &self.main.container {
            _ if self.main.published.is_some() => None,
            None if !self.may_post => Some(Next::CheckQuota),
            None if is_carousel && self.items.len() < draft.media.len() => {
                Some(Next::Item(self.items.len()))
            }
            None if is_carousel && self.items_ready < self.items.len() => Some(Next::WaitItems),
            None => Some(Next::Create(What::Main)),
            Some(container) if !self.main.ready => Some(Next::Wait(What::Main, container.clone())),
            Some(_) => None,
        }
    }

    /// Forgets the containers that came to nothing.
    pub fn restart(&mut self) {
        if self.broken.take().is_some_and(|broken| broken.story) {
            self.story = Making::default();
        } else if self.main.published.is_none() {
            self.items.clear();
            self.items_ready = 0;
            self.main = Making::default();
        }
    }

    /// Returns the public parts, once everything is.
    pub fn result(self, id: String, url: Option<String>) -> Published {
        let part = |name: &str, id: Option<String>| id.map(|id| Part { name: name.to_owned(), id });
        let parts = [part("first_comment", self.comment), part("story", self.story.published)];
        Published { id, url, parts: parts.into_iter().flatten().collect(), warnings: Vec::new() }
    }
}

impl Next {
    /// As the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::CheckQuota => Step::prepare("check_quota"),
            Self::Item(index) => Step::prepare(format!("create_item_{}", index + 1)),
            Self::WaitItems => Step::prepare("wait_items"),
            Self::Create(What::Main) => Step::prepare("create_container"),
            Self::Create(What::Story) => Step::prepare("create_story"),
            Self::Wait(What::Main, _) => Step::prepare("wait_container"),
            Self::Wait(What::Story, _) => Step::prepare("wait_story"),
            Self::Publish(What::Main, _) => Step::commit("publish"),
            Self::Publish(What::Story, _) => Step::commit("publish_story"),
            Self::Comment(..) => Step::commit("first_comment"),
            Self::Permalink(_) => Step::confirm("permalink"),
        }
    }
}
