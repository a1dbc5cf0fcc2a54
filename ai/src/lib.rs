//! AI models for text, images and videos: HTTP clients of the vendors, over the guarded client, and the catalogue of
//! what models offer and cost.
//!
//! This crate has no database, wallet, retries or logs; prompts appear only in requests.

mod catalogue;
mod endpoint;
mod failure;
pub mod image;
mod service_account;
mod text;
mod vertex;
pub mod video;

pub use catalogue::{
    Audio, Catalogue, CatalogueError, DurationRule, ImageModel, VideoModel, VideoProvider,
};
pub use endpoint::Endpoint;
pub use failure::{Failure, FailureKind};
pub use service_account::{ServiceAccount, ServiceAccountError};
pub use text::{Message, MessageRole, TextModel};
pub use vertex::Vertex;
pub use video::VideoClient;

/// The providers that an operator configured.
#[derive(Debug, Clone)]
pub struct Ai {
    /// The models, with their options and prices.
    pub catalogue: Catalogue,
    /// The text model.
    pub text: Option<TextModel>,
    /// Google, for images and videos.
    pub google: Option<Endpoint>,
    /// xAI, for images and videos.
    pub xai: Option<Endpoint>,
    /// Google's Vertex AI, for videos in place of Google's other models.
    pub vertex: Option<Vertex>,
    /// Multiplies all costs.
    pub factor: f64,
    /// True if the models are simulated.
    pub is_sandbox: bool,
}

impl Ai {
    /// Returns a configuration without providers.
    #[must_use]
    pub const fn none(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            text: None,
            google: None,
            xai: None,
            vertex: None,
            factor: 1.0,
            is_sandbox: false,
        }
    }

    /// Returns the simulated providers at these endpoints.
    #[must_use]
    pub fn sandbox(catalogue: Catalogue, at: impl Fn(&'static str) -> Endpoint) -> Self {
        let text = TextModel {
            endpoint: at("text/v1"),
            provider: "sandbox".to_owned(),
            model: "sandbox-text".to_owned(),
        };
        let (google, xai) = (Some(at("google")), Some(at("xai/v1")));
        let text = Some(text);
        Self { catalogue, text, google, xai, vertex: None, factor: 1.0, is_sandbox: true }
    }

    /// Returns the video models of a provider; the first is its default. Google has different ones at Vertex AI.
    pub fn video_models(&self, provider: VideoProvider) -> impl Iterator<Item = &VideoModel> {
        let is_here = move |model: &&VideoModel| {
            model.provider == provider
                && (provider == VideoProvider::XaiGrok || model.vertex == self.vertex.is_some())
        };
        self.catalogue.video.iter().filter(is_here)
    }

    /// Returns true if a provider of videos is configured.
    #[must_use]
    pub const fn offers_video(&self, provider: VideoProvider) -> bool {
        match provider {
            VideoProvider::XaiGrok => self.xai.is_some(),
            VideoProvider::GoogleVeo => self.google.is_some() || self.vertex.is_some(),
        }
    }

    /// Returns the client for a video model, if it is configured. Running jobs keep their client when the configuration
    /// changes.
    #[must_use]
    pub fn video_client(&self, provider: VideoProvider, model: &str) -> Option<VideoClient<'_>> {
        let is_vertex = self.catalogue.video.iter().any(|one| one.vertex && one.id == model);
        match provider {
            VideoProvider::XaiGrok => self.xai.as_ref().map(VideoClient::Xai),
            VideoProvider::GoogleVeo if is_vertex => self.vertex.as_ref().map(VideoClient::Vertex),
            VideoProvider::GoogleVeo => self.google.as_ref().map(VideoClient::Google),
        }
    }

    /// Returns the price in credits: the cost times the operator's factor, rounded up.
    #[must_use]
    pub fn credits(&self, cents: i64) -> i64 {
        // Costs are far below 2^52. The tolerance is for factors such as 1.1, which have no exact binary form.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "small numbers"
        )]
        let credits = (cents as f64).mul_add(self.factor, -1e-9).ceil() as i64;
        credits.max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_applied_to_the_sum_which_is_rounded_up() {
        let mut ai = Ai::none(Catalogue::built_in().unwrap());
        for (factor, cents, credits) in
            [(1.0, 57, 57), (1.1, 10, 11), (1.5, 1, 2), (0.0, 9, 0), (2.0, 3, 6)]
        {
            ai.factor = factor;
            assert_eq!(ai.credits(cents), credits, "{factor} of {cents}");
        }
    }
}
