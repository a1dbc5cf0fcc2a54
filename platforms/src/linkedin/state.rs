//! The state of a post, and the next step.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{client::Asset, settings::Settings};
use crate::{Draft, Step, Warning, page::PageMetadata, text::first_address};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// The organizations that were looked up by vanity name; `None` for one that does not exist.
    pub organizations: BTreeMap<String, Option<Organization>>,
    /// The link card, once it was fetched.
    pub card: Option<Card>,
    /// Shortcomings the post will have.
    pub warnings: Vec<Warning>,
    /// URNs of the files that are uploaded, in order.
    pub files: Vec<String>,
    /// The upload in progress.
    pub upload: Option<Upload>,
    /// The number of times an upload was restarted.
    pub restarts: u32,
    /// The number of files that LinkedIn has processed.
    pub ready: usize,
    /// Since when the post waits for the first file that is not.
    pub waiting_since: Option<DateTime<Utc>>,
    /// The URN of the video post that LinkedIn accepted, and when it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<(String, DateTime<Utc>)>,
}

/// An organization to mention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Organization {
    pub name: String,
    pub urn: String,
}

/// The state of the link card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub(super) enum Card {
    /// The page has nothing to show, or cannot be read.
    Missing,
    /// The page was read; its image is still to be uploaded.
    Read { source: String, title: String, description: String, image: String },
    /// Nothing left to do.
    Ready { source: String, title: String, description: String, thumbnail: Option<String> },
}

impl Card {
    /// Creates a card from a page.
    pub fn of(source: &str, page: Option<PageMetadata>) -> Self {
        let Some(PageMetadata { title, description, image }) = page else { return Self::Missing };
        let source = source.to_owned();
        match image {
            Some(image) => Self::Read { source, title, description, image: image.into() },
            None => Self::Ready { source, title, description, thumbnail: None },
        }
    }

    /// Finishes the card with this picture, or without one.
    pub fn with(self, thumbnail: Option<String>) -> Self {
        match self {
            Self::Read { source, title, description, .. } => {
                Self::Ready { source, title, description, thumbnail }
            }
            other => other,
        }
    }
}

/// An upload in progress. Its addresses are valid for this file only, and not for long.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Upload {
    pub urn: String,
    /// The parts that remain to be sent.
    pub parts: Vec<Part>,
    /// LinkedIn's ETags of the parts that were sent.
    pub sent: Vec<String>,
    /// The upload address of the thumbnail, until it is uploaded.
    pub thumbnail: Option<String>,
    /// The token with which the upload of a video is completed.
    pub token: Option<String>,
}

/// A byte range of a file (last byte inclusive), and its upload address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Part {
    pub url: String,
    pub first: u64,
    pub last: u64,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Look up organizations.
    Organizations(Vec<String>),
    /// Read the page behind this address.
    Card(String),
    /// Request the upload addresses of the file with this index, or of the card's picture.
    Register(Option<usize>),
    /// Send the next part of it.
    Part,
    /// Send a video's thumbnail.
    Thumbnail,
    /// Complete the upload of a video.
    Finish,
    /// Wait until LinkedIn has processed the files.
    Wait,
    /// Publish it.
    Create,
    /// Read what became of the video post with this URN, which was accepted then.
    Look(String, DateTime<Utc>),
}

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if let Some((urn, since)) = &self.accepted {
            return NextStep::Look(urn.clone(), *since);
        }
        let names = self.unknown(settings);
        if !names.is_empty() {
            return NextStep::Organizations(names);
        }
        if let Some(upload) = &self.upload {
            return upload.next();
        }
        if self.files.len() < draft.media.len() {
            return NextStep::Register(Some(self.files.len()));
        }
        let address = first_address(&draft.caption);
        let has_card = draft.media.is_empty() && settings.poll.is_none();
        match (&self.card, address.filter(|_| has_card)) {
            (None, Some(address)) => return NextStep::Card(address.to_owned()),
            (Some(Card::Read { .. }), _) => return NextStep::Register(None),
            _ => {}
        }
        if self.ready < self.files.len() {
            return NextStep::Wait;
        }
        NextStep::Create
    }

    fn unknown(&self, settings: &Settings) -> Vec<String> {
        let names = settings.mentions.iter().filter_map(|mention| mention.vanity_name.clone());
        names.filter(|name| !self.organizations.contains_key(name)).collect()
    }

    /// Returns the next step as the ledger shows it.
    pub fn step(&self, draft: &Draft, settings: &Settings) -> Step {
        let what = match draft.media.get(self.files.len()) {
            Some(media) => {
                format!("{}_{}", Asset::of(media).as_str(), self.files.len() + 1)
            }
            None => "card_image".to_owned(),
        };
        match self.next(draft, settings) {
            NextStep::Organizations(_) => Step::prepare("find_organizations"),
            NextStep::Card(_) => Step::prepare("read_link_card"),
            NextStep::Register(_) => Step::prepare(format!("register_{what}")),
            NextStep::Part => {
                let part = self.upload.as_ref().map_or(0, |upload| upload.sent.len()) + 1;
                Step::prepare(format!("upload_{what}_part_{part}"))
            }
            NextStep::Thumbnail => Step::prepare(format!("upload_thumbnail_of_{what}")),
            NextStep::Finish => Step::prepare(format!("finish_{what}")),
            NextStep::Wait => Step::prepare("wait_for_files"),
            NextStep::Create => Step::commit("create_post"),
            NextStep::Look(..) => Step::confirm("look_at_state"),
        }
    }

    /// Records that the current file, or the card's picture, is uploaded.
    pub fn uploaded(&mut self, urn: String) {
        self.upload = None;
        match self.card.take() {
            Some(card @ Card::Read { .. }) => self.card = Some(card.with(Some(urn))),
            other => {
                self.card = other;
                self.files.push(urn);
            }
        }
    }
}

impl Upload {
    fn next(&self) -> NextStep {
        match (&self.parts[..], &self.thumbnail, &self.token) {
            ([_, ..], _, _) => NextStep::Part,
            ([], Some(_), _) => NextStep::Thumbnail,
            ([], None, _) => NextStep::Finish,
        }
    }
}
