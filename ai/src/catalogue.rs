//! The catalogue of models: what each offers, and what it costs. Options, validation, estimates and charges are based
//! on it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The catalogue in the binary.
static OURS: &str = include_str!("models.json");

/// The models, with their options and prices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The date of the prices.
    pub as_of: String,
    /// The price of a request for captions, in credits.
    pub captions: i64,
    /// The price of a suggested reply, in credits.
    pub reply: i64,
    /// Video models; the first of a provider is its default.
    pub video: Vec<VideoModel>,
    /// Image models, one for each provider.
    pub image: Vec<ImageModel>,
}

/// The providers of videos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VideoProvider {
    /// xAI.
    XaiGrok,
    /// Google.
    GoogleVeo,
}

impl VideoProvider {
    /// Both, in order of preference.
    pub const ALL: [Self; 2] = [Self::XaiGrok, Self::GoogleVeo];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::XaiGrok => "xai_grok",
            Self::GoogleVeo => "google_veo",
        }
    }

    /// Returns the provider with this long or short name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "xai" | "xai_grok" => Some(Self::XaiGrok),
            "google" | "google_veo" => Some(Self::GoogleVeo),
            _ => None,
        }
    }
}

/// True if videos have sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audio {
    /// A video has sound if it is requested.
    Optional,
    /// Every video has sound.
    Always,
}

/// A video model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoModel {
    /// The id at the provider.
    pub id: String,
    /// The provider.
    pub provider: VideoProvider,
    /// Lengths in seconds.
    pub durations: Vec<u32>,
    /// Resolutions, in lower case.
    pub resolutions: Vec<String>,
    /// Aspect ratios.
    pub aspect_ratios: Vec<String>,
    /// True if its videos have sound.
    pub audio: Audio,
    /// The price of a second by resolution, in US cents.
    pub credits_per_second: BTreeMap<String, i64>,
    /// The additional price of a first frame, for the whole video, in US cents.
    pub with_image: i64,
    /// The longest prompt, in characters.
    pub prompt_max: usize,
    /// True if it runs at Vertex AI.
    #[serde(default)]
    pub vertex: bool,
    /// Resolutions with fewer lengths.
    #[serde(default)]
    pub rules: Vec<DurationRule>,
}

/// A resolution for which there are fewer lengths.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationRule {
    /// The resolution.
    pub resolution: String,
    /// Its lengths in seconds.
    pub durations: Vec<u32>,
}

impl VideoModel {
    /// Returns the lengths of videos of a resolution.
    #[must_use]
    pub fn durations_at(&self, resolution: &str) -> &[u32] {
        let rule = self.rules.iter().find(|rule| rule.resolution == resolution);
        rule.map_or(&self.durations, |rule| &rule.durations)
    }

    /// Returns the price of a video in credits, before the operator's factor; `None` for a resolution that it does not
    /// have.
    #[must_use]
    pub fn cost(&self, seconds: u32, resolution: &str, has_image: bool) -> Option<i64> {
        let second = self.credits_per_second.get(resolution)?;
        Some(second * i64::from(seconds) + if has_image { self.with_image } else { 0 })
    }
}

/// An image model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageModel {
    /// The id at the provider.
    pub id: String,
    /// `google` or `xai`.
    pub provider: String,
    /// Aspect ratios.
    pub aspect_ratios: Vec<String>,
    /// The price of an image by resolution, or by quality and resolution, in US cents.
    pub credits: BTreeMap<String, i64>,
}

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// It does not have the right form.
    #[error("the models are not valid JSON of the documented form: {0}")]
    Json(#[from] serde_json::Error),
    /// A resolution has no price.
    #[error("the model {0} has no price for one of its resolutions")]
    Price(String),
}

impl Catalogue {
    /// Parses a catalogue.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let read: Self = serde_json::from_str(text)?;
        let is_priced = |model: &&VideoModel| {
            model.resolutions.iter().all(|one| model.credits_per_second.contains_key(one))
        };
        match read.video.iter().find(|model| !is_priced(model)) {
            Some(model) => Err(CatalogueError::Price(model.id.clone())),
            None => Ok(read),
        }
    }

    /// Returns the catalogue in the binary.
    ///
    /// # Errors
    /// None in practice: a test parses it.
    pub fn built_in() -> Result<Self, CatalogueError> {
        Self::parse(OURS)
    }

    /// Makes a model the default of its provider.
    ///
    /// # Errors
    /// The existing models, if there is none of this name.
    pub fn set_default(
        &mut self,
        id: &str,
        provider: VideoProvider,
        vertex: bool,
    ) -> Result<(), Vec<String>> {
        let is_of = |one: &VideoModel| one.provider == provider && one.vertex == vertex;
        let Some(place) = self.video.iter().position(|one| is_of(one) && one.id == id) else {
            let known = self.video.iter().filter(|one| is_of(one));
            return Err(known.map(|one| one.id.clone()).collect());
        };
        let model = self.video.remove(place);
        self.video.insert(0, model);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_table_is_read_and_every_resolution_has_a_price() {
        let ours = Catalogue::built_in().unwrap();
        let grok = ours.video.iter().find(|it| it.provider == VideoProvider::XaiGrok).unwrap();
        assert_eq!(grok.cost(8, "720p", true), Some(57));
        assert_eq!(grok.cost(8, "1080p", false), None);
        let veo = ours.video.iter().find(|it| it.vertex).unwrap();
        assert_eq!((veo.durations_at("720p"), veo.durations_at("4k")), (&[4, 6, 8][..], &[8][..]));
        let mut chosen = ours.clone();
        chosen.set_default("veo-3.1-generate-001", VideoProvider::GoogleVeo, true).unwrap();
        assert_eq!(chosen.video.iter().find(|it| it.vertex).unwrap().id, "veo-3.1-generate-001");
        assert_eq!(chosen.video.len(), ours.video.len());
        let unknown = chosen.set_default("veo-9", VideoProvider::GoogleVeo, false).unwrap_err();
        assert_eq!(unknown, ["gemini-omni-1.1-flash"]);
        let broken = OURS.replace("\"4k\": 30", "\"8k\": 30");
        assert!(matches!(Catalogue::parse(&broken), Err(CatalogueError::Price(_))));
        assert!(Catalogue::parse("{}").is_err());
    }
}
