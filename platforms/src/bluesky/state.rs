//! The state of a post, and the next step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    facets::{self, Feature},
    settings::Settings,
};
use crate::{Draft, Step, Warning};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// References of the uploaded images, in order.
    pub images: Vec<Value>,
    /// The preview card, once it was fetched.
    pub card: Option<Card>,
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
    /// Read the page behind this address.
    Card(String),
    /// Upload the image of the card.
    CardImage,
    /// Find the identifiers of these handles.
    Mentions(Vec<String>),
    /// Find the post to quote.
    Quote(String),
    /// Create the record.
    Create,
}

/// The number of handles that are resolved in one call, to limit its duration.
const HANDLES_PER_CALL: usize = 10;

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if self.images.len() < draft.media.len() {
            return NextStep::Image(self.images.len());
        }
        let facets = facets::detect(&draft.caption);
        // A post has one embed: images or a quote take precedence over a card.
        if draft.media.is_empty() && settings.quote_url.is_none() {
            let first = facets.iter().find_map(|facet| match &facet.feature {
                Feature::Link(uri) => Some(uri),
                Feature::Mention(_) | Feature::Tag(_) => None,
            });
            match (&self.card, first) {
                (None, Some(uri)) => return NextStep::Card(uri.clone()),
                (Some(Card::Read { .. }), _) => return NextStep::CardImage,
                _ => {}
            }
        }
        let handles = self.unresolved(&facets);
        if !handles.is_empty() {
            return NextStep::Mentions(handles);
        }
        match (&self.quote, &settings.quote_url) {
            (None, Some(url)) => NextStep::Quote(url.clone()),
            _ => NextStep::Create,
        }
    }

    fn unresolved(&self, facets: &[facets::Facet]) -> Vec<String> {
        let mut handles = Vec::new();
        for facet in facets {
            if handles.len() == HANDLES_PER_CALL {
                break;
            }
            if let Feature::Mention(handle) = &facet.feature
                && !self.mentions.contains_key(handle)
                && !handles.contains(handle)
            {
                handles.push(handle.clone());
            }
        }
        handles
    }
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::Image(index) => Step::prepare(format!("upload_image_{}", index + 1)),
            Self::Card(_) => Step::prepare("read_link_card"),
            Self::CardImage => Step::prepare("upload_card_image"),
            Self::Mentions(_) => Step::prepare("resolve_mentions"),
            Self::Quote(_) => Step::prepare("resolve_quote"),
            Self::Create => Step::commit("create_post"),
        }
    }
}
