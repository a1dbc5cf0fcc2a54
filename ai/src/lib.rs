//! Models that write, draw and film: clients that speak the vendors' HTTP over the guarded client, and the table of what models
//! offer and cost.
//!
//! Absent are a database, a wallet, retries and a log; prompts stand nowhere but in requests.

mod catalogue;
mod endpoint;
mod failure;
pub mod image;
mod text;
pub mod video;

pub use catalogue::{Audio, BadCatalogue, Catalogue, ImageModel, VideoModel, VideoProvider};
pub use endpoint::Endpoint;
pub use failure::{Failure, FailureKind};
pub use text::{Message, Speaker, TextModel};

/// The providers that an operator configured.
#[derive(Debug, Clone)]
pub struct Ai {
    /// The models, with their options and prices.
    pub catalogue: Catalogue,
    /// The model that writes.
    pub text: Option<TextModel>,
    /// Google, for images and films.
    pub google: Option<Endpoint>,
    /// xAI, for images and films.
    pub xai: Option<Endpoint>,
    /// Multiplies all costs.
    pub factor: f64,
    /// They are simulated.
    pub is_sandbox: bool,
}

impl Ai {
    /// Returns no providers at all.
    #[must_use]
    pub const fn off(catalogue: Catalogue) -> Self {
        Self { catalogue, text: None, google: None, xai: None, factor: 1.0, is_sandbox: false }
    }

    /// Returns the simulated providers below an address.
    #[must_use]
    pub fn sandbox(catalogue: Catalogue, at: impl Fn(&'static str) -> Endpoint) -> Self {
        let text = TextModel {
            endpoint: at("text/v1"),
            provider: "sandbox".to_owned(),
            model: "sandbox-text".to_owned(),
        };
        let (google, xai) = (Some(at("google")), Some(at("xai/v1")));
        Self { catalogue, text: Some(text), google, xai, factor: 1.0, is_sandbox: true }
    }

    /// Returns where a provider of films is, if it is configured.
    #[must_use]
    pub const fn films(&self, provider: VideoProvider) -> Option<&Endpoint> {
        match provider {
            VideoProvider::XaiGrok => self.xai.as_ref(),
            VideoProvider::GoogleVeo => self.google.as_ref(),
        }
    }

    /// Returns what something costs here: the operator's factor is applied to the sum, which is then rounded up.
    #[must_use]
    pub fn credits(&self, cents: i64) -> i64 {
        // Costs are far below 2^52. A hair below the next number is the number: factors such as 1.1 have no exact form.
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
        let mut ai = Ai::off(Catalogue::ours().unwrap());
        for (factor, cents, credits) in
            [(1.0, 57, 57), (1.1, 10, 11), (1.5, 1, 2), (0.0, 9, 0), (2.0, 3, 6)]
        {
            ai.factor = factor;
            assert_eq!(ai.credits(cents), credits, "{factor} of {cents}");
        }
    }
}
