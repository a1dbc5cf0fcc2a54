//! The table of models: what each offers, and what it costs. Options, validation, estimates and charges all read it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The table in the binary.
static OURS: &str = include_str!("models.json");

/// The models, with their options and prices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The day of the prices.
    pub as_of: String,
    /// Credits of a request for captions.
    pub captions: i64,
    /// Credits of a suggested reply.
    pub reply: i64,
    /// Models that film; the first of a provider is its default.
    pub video: Vec<VideoModel>,
    /// Models that draw; one a provider.
    pub image: Vec<ImageModel>,
}

/// The providers of films.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VideoProvider {
    /// xAI.
    XaiGrok,
    /// Google.
    GoogleVeo,
}

impl VideoProvider {
    /// Both, in the order in which one is chosen.
    pub const ALL: [Self; 2] = [Self::XaiGrok, Self::GoogleVeo];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::XaiGrok => "xai_grok",
            Self::GoogleVeo => "google_veo",
        }
    }

    /// Returns the provider with this name, long or short.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "xai" | "xai_grok" => Some(Self::XaiGrok),
            "google" | "google_veo" => Some(Self::GoogleVeo),
            _ => None,
        }
    }
}

/// Does a film have sound?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audio {
    /// As one likes.
    Optional,
    /// It has.
    Always,
}

/// A model that films.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoModel {
    /// The id at the provider.
    pub id: String,
    /// The provider.
    pub provider: VideoProvider,
    /// Lengths in seconds.
    pub durations: Vec<u32>,
    /// Resolutions, in small letters.
    pub resolutions: Vec<String>,
    /// Shapes.
    pub aspect_ratios: Vec<String>,
    /// Does it have sound?
    pub audio: Audio,
    /// The price of a second by resolution, in US cents.
    pub credits_per_second: BTreeMap<String, i64>,
    /// The additional price of a first frame, for the whole film, in US cents.
    pub with_image: i64,
    /// The longest prompt, in characters.
    pub prompt_max: usize,
}

impl VideoModel {
    /// Returns the credits of a film, before the operator's factor; `None` for a resolution that it has not.
    #[must_use]
    pub fn cost(&self, seconds: u32, resolution: &str, has_image: bool) -> Option<i64> {
        let second = self.credits_per_second.get(resolution)?;
        Some(second * i64::from(seconds) + if has_image { self.with_image } else { 0 })
    }
}

/// A model that draws.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageModel {
    /// The id at the provider.
    pub id: String,
    /// `google` or `xai`.
    pub provider: String,
    /// Shapes.
    pub aspect_ratios: Vec<String>,
    /// The price of an image by resolution, or by quality and resolution, in US cents.
    pub credits: BTreeMap<String, i64>,
}

/// The reason a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadCatalogue {
    /// It is not what the table looks like.
    #[error("the models are not valid JSON of the documented form: {0}")]
    Json(#[from] serde_json::Error),
    /// A resolution has no price.
    #[error("the model {0} has no price for one of its resolutions")]
    Price(String),
}

impl Catalogue {
    /// Reads a table.
    ///
    /// # Errors
    /// [`BadCatalogue`].
    pub fn parse(text: &str) -> Result<Self, BadCatalogue> {
        let read: Self = serde_json::from_str(text)?;
        let is_priced = |model: &&VideoModel| {
            model.resolutions.iter().all(|one| model.credits_per_second.contains_key(one))
        };
        match read.video.iter().find(|model| !is_priced(model)) {
            Some(model) => Err(BadCatalogue::Price(model.id.clone())),
            None => Ok(read),
        }
    }

    /// Returns the table in the binary.
    ///
    /// # Errors
    /// None that happens: a test reads it.
    pub fn ours() -> Result<Self, BadCatalogue> {
        Self::parse(OURS)
    }

    /// Returns the models of a provider that film; the first is its default.
    pub fn films_of(&self, provider: VideoProvider) -> impl Iterator<Item = &VideoModel> {
        self.video.iter().filter(move |model| model.provider == provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_table_is_read_and_every_resolution_has_a_price() {
        let ours = Catalogue::ours().unwrap();
        let grok = ours.films_of(VideoProvider::XaiGrok).next().unwrap();
        assert_eq!(grok.cost(8, "720p", true), Some(57));
        assert_eq!(grok.cost(8, "1080p", false), None);
        let broken = OURS.replace("\"4k\": 30", "\"8k\": 30");
        assert!(matches!(Catalogue::parse(&broken), Err(BadCatalogue::Price(_))));
        assert!(Catalogue::parse("{}").is_err());
    }
}
