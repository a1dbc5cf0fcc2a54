//! The state of a post, and the next step.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    facets::{self, Feature},
    reply_rules,
    settings::Settings,
    texts,
    video::{self, VideoStage},
};
use crate::{Draft, Step, Warning};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// References of the uploaded images, in order.
    pub images: Vec<Value>,
    /// The video, once it may be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoStage>,
    /// References of the uploaded captions, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub captions: Vec<Value>,
    /// The preview card, once it was fetched.
    pub card: Option<Card>,
    /// The cards of the other posts of a chain, by their places from 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cards: BTreeMap<usize, Card>,
    /// DIDs of the resolved handles; `None` for an unknown one.
    pub mentions: BTreeMap<String, Option<String>>,
    /// The quoted post, once it was found.
    pub quote: Option<StrongRef>,
    /// Shortcomings the post will have.
    pub warnings: Vec<Warning>,
}

/// The state of the preview card.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Card {
    /// The page has nothing to show, or cannot be read.
    Missing,
    /// The page was read; its image is still to be uploaded.
    Read {
        /// The text of the card.
        page: CardText,
        /// Address of the image.
        image: String,
    },
    /// Nothing left to do.
    Ready {
        /// The text of the card.
        page: CardText,
        /// Reference of the uploaded image.
        thumb: Option<Value>,
    },
}

/// The text of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardText {
    /// The address as written in the text.
    pub uri: String,
    /// Its title.
    pub title: String,
    /// Its description, may be empty.
    pub description: String,
}

/// A record in one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrongRef {
    /// `at://` address.
    pub uri: String,
    /// Hash of the content.
    pub cid: String,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Upload the image with this index.
    Image(usize),
    /// Find out whether a video may be sent.
    VideoLimits,
    /// Upload the video.
    Video,
    /// Look whether the video of this job, which was sent then, is processed.
    VideoJob(String, DateTime<Utc>),
    /// Upload the captions with this index.
    Captions(usize),
    /// Read the page behind this address, for the post with this place.
    Card(usize, String),
    /// Upload the image of the card of the post with this place.
    CardImage(usize),
    /// Find the identifiers of these handles.
    Mentions(Vec<String>),
    /// Find the post to quote.
    Quote(String),
    /// Create the record.
    Create,
}

/// Most cards of a chain.
const CARDS_MAX: usize = 10;

/// The number of handles that are resolved in one call, to limit its duration.
const HANDLES_PER_CALL: usize = 10;

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if let Some(next) = self.next_file(draft, settings) {
            return next;
        }
        let texts = texts(draft);
        let facets: Vec<_> = texts.iter().map(|text| facets::detect(text)).collect();
        if let Some(next) = self.next_card(draft, settings, &facets) {
            return next;
        }
        let handles = self.unresolved(&facets.concat(), settings);
        if !handles.is_empty() {
            return NextStep::Mentions(handles);
        }
        match (&self.quote, &settings.quote_url) {
            (None, Some(url)) => NextStep::Quote(url.clone()),
            _ => NextStep::Create,
        }
    }

    /// Returns the next step of the files: images, or a video with its captions.
    fn next_file(&self, draft: &Draft, settings: &Settings) -> Option<NextStep> {
        if video::of(draft).is_none() {
            let next = self.images.len();
            return (next < draft.media.len()).then_some(NextStep::Image(next));
        }
        match &self.video {
            None => Some(NextStep::VideoLimits),
            Some(VideoStage::Allowed) => Some(NextStep::Video),
            Some(VideoStage::InProcess { job, since }) => {
                Some(NextStep::VideoJob(job.clone(), *since))
            }
            Some(VideoStage::Ready { .. }) => {
                let next = self.captions.len();
                (next < settings.captions.len()).then_some(NextStep::Captions(next))
            }
        }
    }

    /// Returns the next step of the cards: each text without media or quote has that of its first address.
    fn next_card(
        &self,
        draft: &Draft,
        settings: &Settings,
        facets: &[Vec<facets::Facet>],
    ) -> Option<NextStep> {
        let mut cards = 0;
        for (place, facets) in facets.iter().enumerate() {
            // A post has one embed: files or a quote take precedence over a card.
            if place == 0 && !(draft.media.is_empty() && settings.quote_url.is_none()) {
                continue;
            }
            let Some(uri) = first_link(facets) else { continue };
            cards += 1;
            if cards > CARDS_MAX {
                return None;
            }
            match self.card_of(place) {
                None => return Some(NextStep::Card(place, uri)),
                Some(Card::Read { .. }) => return Some(NextStep::CardImage(place)),
                Some(Card::Missing | Card::Ready { .. }) => {}
            }
        }
        None
    }

    /// Returns the card of the post with this place.
    pub fn card_of(&self, place: usize) -> Option<&Card> {
        if place == 0 { self.card.as_ref() } else { self.cards.get(&place) }
    }

    /// Stores the card of the post with this place.
    pub fn set_card(&mut self, place: usize, card: Card) {
        match place {
            0 => self.card = Some(card),
            _ => drop(self.cards.insert(place, card)),
        }
    }

    fn unresolved(&self, facets: &[facets::Facet], settings: &Settings) -> Vec<String> {
        let mentioned = facets.iter().filter_map(|facet| match &facet.feature {
            Feature::Mention(handle) => Some(handle.clone()),
            Feature::Link(_) | Feature::Tag(_) => None,
        });
        let mut handles = Vec::new();
        for handle in mentioned.chain(reply_rules::handles(settings)) {
            if handles.len() == HANDLES_PER_CALL {
                break;
            }
            if !self.mentions.contains_key(&handle) && !handles.contains(&handle) {
                handles.push(handle);
            }
        }
        handles
    }
}

/// Returns the first address of a text.
fn first_link(facets: &[facets::Facet]) -> Option<String> {
    facets.iter().find_map(|facet| match &facet.feature {
        Feature::Link(uri) => Some(uri.clone()),
        Feature::Mention(_) | Feature::Tag(_) => None,
    })
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::Image(index) => Step::prepare(format!("upload_image_{}", index + 1)),
            Self::VideoLimits => Step::prepare("check_video_limits"),
            Self::Video => Step::prepare("upload_video"),
            Self::VideoJob(..) => Step::prepare("await_video"),
            Self::Captions(index) => Step::prepare(format!("upload_captions_{}", index + 1)),
            Self::Card(0, _) => Step::prepare("read_link_card"),
            Self::Card(place, _) => Step::prepare(format!("read_link_card_{}", place + 1)),
            Self::CardImage(0) => Step::prepare("upload_card_image"),
            Self::CardImage(place) => Step::prepare(format!("upload_card_image_{}", place + 1)),
            Self::Mentions(_) => Step::prepare("resolve_mentions"),
            Self::Quote(_) => Step::prepare("resolve_quote"),
            Self::Create => Step::commit("create_post"),
        }
    }
}
