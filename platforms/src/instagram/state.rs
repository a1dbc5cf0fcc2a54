//! The progress of a post, and the next step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Form, settings::Settings};
use crate::{Draft, PublishedPart, PublishedPost, Step};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// True once the account is known to have posts left for today.
    pub may_post: bool,
    /// Containers of the carousel's items created so far.
    pub items: Vec<String>,
    /// The number of them that are processed.
    pub items_ready: usize,
    /// The post itself.
    pub main: ContainerProgress,
    /// The companion story.
    pub story: ContainerProgress,
    /// Id of the first comment.
    pub comment: Option<String>,
    /// The container that failed, if one did.
    pub broken: Option<FailedContainer>,
    /// The number of containers that took the place of one that Instagram had lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub remade: u32,
    /// The number of times files were fetched again that Instagram could not fetch.
    #[serde(skip_serializing_if = "is_zero")]
    pub fetched_again: u32,
}

/// The progress of one container.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ContainerProgress {
    /// Its id.
    pub container: Option<String>,
    /// True if it is processed.
    pub ready: bool,
    /// Since when the post waits for it.
    pub since: Option<DateTime<Utc>>,
    /// The number of times its status was read.
    pub polls: u32,
    /// True if Instagram did not find it when it was to be published.
    pub lost: bool,
    /// The id of the published post.
    pub published: Option<String>,
}

/// A container that Instagram could not process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FailedContainer {
    /// The reason that was given.
    pub reason: String,
    /// When the failure was noticed.
    pub since: DateTime<Utc>,
    /// True for the story's container, false for the post's.
    pub story: bool,
    /// The place of its file among the draft's.
    #[serde(default)]
    pub file: usize,
}

/// Which container: the post's or its companion story's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContainerKind {
    Main,
    Story,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Read how many posts are left.
    CheckQuota,
    /// Create the container of this item of the carousel.
    Item(usize),
    /// Wait for the items.
    WaitItems,
    /// Create a container.
    Create(ContainerKind),
    /// Wait for it.
    Wait(ContainerKind, String),
    /// Publish it.
    Publish(ContainerKind, String),
    /// Comment on the post with this id.
    Comment(String, String),
    /// Read the address of the post with this id.
    Permalink(String),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl State {
    /// Returns the progress of one of the two containers.
    pub fn container_mut(&mut self, what: ContainerKind) -> &mut ContainerProgress {
        match what {
            ContainerKind::Main => &mut self.main,
            ContainerKind::Story => &mut self.story,
        }
    }

    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if let Some(next) = self.prepare(draft) {
            return next;
        }
        let story = settings.companion_story.then_some(&self.story);
        if story.is_some_and(|story| story.container.is_none()) {
            return NextStep::Create(ContainerKind::Story);
        }
        let Some(id) = &self.main.published else {
            let container = self.main.container.clone().unwrap_or_default();
            return NextStep::Publish(ContainerKind::Main, container);
        };
        match (&settings.first_comment, story) {
            (Some(text), _) if self.comment.is_none() => {
                NextStep::Comment(id.clone(), text.clone())
            }
            (_, Some(ContainerProgress { container: Some(container), ready: false, .. })) => {
                NextStep::Wait(ContainerKind::Story, container.clone())
            }
            (_, Some(ContainerProgress { container: Some(container), published: None, .. })) => {
                NextStep::Publish(ContainerKind::Story, container.clone())
            }
            _ => NextStep::Permalink(id.clone()),
        }
    }

    fn prepare(&self, draft: &Draft) -> Option<NextStep> {
        let is_carousel = Form::of(draft) == Form::Carousel;
        match &self.main.container {
            _ if self.main.published.is_some() => None,
            None if !self.may_post => Some(NextStep::CheckQuota),
            None if is_carousel && self.items.len() < draft.media.len() => {
                Some(NextStep::Item(self.items.len()))
            }
            None if is_carousel && self.items_ready < self.items.len() => Some(NextStep::WaitItems),
            None => Some(NextStep::Create(ContainerKind::Main)),
            Some(container) if !self.main.ready => {
                Some(NextStep::Wait(ContainerKind::Main, container.clone()))
            }
            Some(_) => None,
        }
    }

    /// Discards the failed containers.
    pub fn restart(&mut self) {
        let is_story = self.broken.take().is_some_and(|broken| broken.story);
        self.discard(if is_story { ContainerKind::Story } else { ContainerKind::Main });
    }

    /// Discards a container, and the items of a carousel with it. What is public stays.
    pub fn discard(&mut self, what: ContainerKind) {
        if what == ContainerKind::Story {
            self.story = ContainerProgress::default();
        } else if self.main.published.is_none() {
            self.items.clear();
            self.items_ready = 0;
            self.main = ContainerProgress::default();
        }
    }

    /// Returns the published post with its parts, once everything is public.
    pub fn result(self, id: String, url: Option<String>) -> PublishedPost {
        let part = |name: &str, id: Option<String>| {
            id.map(|id| PublishedPart { name: name.to_owned(), id, url: None })
        };
        let parts = [part("first_comment", self.comment), part("story", self.story.published)];
        PublishedPost {
            id,
            url,
            parts: parts.into_iter().flatten().collect(),
            ..PublishedPost::default()
        }
    }
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::CheckQuota => Step::prepare("check_quota"),
            Self::Item(index) => Step::prepare(format!("create_item_{}", index + 1)),
            Self::WaitItems => Step::prepare("wait_items"),
            Self::Create(ContainerKind::Main) => Step::prepare("create_container"),
            Self::Create(ContainerKind::Story) => Step::prepare("create_story"),
            Self::Wait(ContainerKind::Main, _) => Step::prepare("wait_container"),
            Self::Wait(ContainerKind::Story, _) => Step::prepare("wait_story"),
            Self::Publish(ContainerKind::Main, _) => Step::commit("publish"),
            Self::Publish(ContainerKind::Story, _) => Step::commit("publish_story"),
            Self::Comment(..) => Step::commit("first_comment"),
            Self::Permalink(_) => Step::confirm("permalink"),
        }
    }
}
