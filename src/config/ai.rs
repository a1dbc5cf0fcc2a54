//! The providers of models that can be set.

use anyhow::{Context as _, Result, bail};
use fanfare_ai::Catalogue;
use secrecy::SecretString;
use url::Url;

use super::Given;

/// The source of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The operator's providers.
    Live,
    /// The simulated ones.
    Sandbox,
    /// Nowhere.
    Off,
}

/// A provider's address and key.
#[derive(Clone)]
pub struct Provider {
    /// Its address.
    pub url: Url,
    /// Its key.
    pub key: Option<SecretString>,
}

/// The providers of models.
#[derive(Clone)]
pub struct AiConfig {
    /// The source of models, if one is set.
    pub mode: Option<Mode>,
    /// The text model: where it is, and its id.
    pub text: Option<(Provider, String)>,
    /// xAI.
    pub xai: Option<Provider>,
    /// Google.
    pub google: Option<Provider>,
    /// Multiplies all costs.
    pub factor: f64,
    /// The models, their options and prices.
    pub catalogue: Catalogue,
}

impl AiConfig {
    /// Reads the variables.
    ///
    /// # Errors
    /// The first one that is wrong, by name.
    pub(super) fn take(given: &mut Given) -> Result<Self> {
        let mode = match given.take("FANFARE_AI").as_deref() {
            None => None,
            Some("live") => Some(Mode::Live),
            Some("sandbox") => Some(Mode::Sandbox),
            Some("off") => Some(Mode::Off),
            Some(other) => bail!("FANFARE_AI must be live, sandbox or off, not {other:?}"),
        };
        let text_url: Option<Url> =
            given.parse("FANFARE_AI_TEXT_URL", "an address like https://models.example.com/v1")?;
        let text_model = given.take("FANFARE_AI_TEXT_MODEL");
        let text_key = given.take("FANFARE_AI_TEXT_KEY").map(SecretString::from);
        let xai = provider(given, "FANFARE_XAI", "https://api.x.ai/v1")?;
        let google =
            provider(given, "FANFARE_GOOGLE_AI", "https://generativelanguage.googleapis.com")?;
        let text = match (text_url, text_model) {
            (Some(url), Some(model)) => Some((Provider { url, key: text_key }, model)),
            (None, Some(model)) => written_by(model, &xai, &google)?,
            (None, None) if text_key.is_none() => None,
            _ => bail!("FANFARE_AI_TEXT_URL needs FANFARE_AI_TEXT_MODEL beside it"),
        };
        let factor = given.parse("FANFARE_CREDIT_FACTOR", "a number from 0")?.unwrap_or(1.0);
        if !(0.0..=1_000.0).contains(&factor) {
            bail!("FANFARE_CREDIT_FACTOR must be a number from 0 to 1000");
        }
        let catalogue = match given.take("FANFARE_AI_MODELS") {
            None => Catalogue::ours()?,
            Some(path) => {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("FANFARE_AI_MODELS {path}"))?;
                Catalogue::parse(&text).context("FANFARE_AI_MODELS")?
            }
        };
        let has_key = text.is_some() || xai.is_some() || google.is_some();
        if mode == Some(Mode::Live) && !has_key {
            bail!(
                "FANFARE_AI=live needs a provider: FANFARE_AI_TEXT_URL, FANFARE_XAI_KEY or FANFARE_GOOGLE_AI_KEY"
            );
        }
        Ok(Self { mode, text, xai, google, factor, catalogue })
    }

    /// Returns where models come from: what is set, else the operator's providers if there are any, else the simulated ones where
    /// everything is embedded.
    #[must_use]
    pub fn mode(&self, is_embedded: bool) -> Mode {
        let has_key = self.text.is_some() || self.xai.is_some() || self.google.is_some();
        self.mode.unwrap_or(match (has_key, is_embedded) {
            (true, _) => Mode::Live,
            (false, true) => Mode::Sandbox,
            (false, false) => Mode::Off,
        })
    }
}

fn provider(given: &mut Given, name: &str, usual: &str) -> Result<Option<Provider>> {
    let url: Option<Url> =
        given.parse(&format!("{name}_URL"), &format!("an address like {usual}"))?;
    let key = given.take(&format!("{name}_KEY")).map(SecretString::from);
    if key.is_none() && url.is_none() {
        return Ok(None);
    }
    let url = url.map_or_else(|| Url::parse(usual), Ok)?;
    Ok(Some(Provider { url, key }))
}

/// A text model of xAI or of Google, by their keys.
fn written_by(
    model: String,
    xai: &Option<Provider>,
    google: &Option<Provider>,
) -> Result<Option<(Provider, String)>> {
    if let Some(xai) = xai {
        return Ok(Some((xai.clone(), model)));
    }
    let Some(google) = google else {
        bail!(
            "FANFARE_AI_TEXT_MODEL needs FANFARE_AI_TEXT_URL, FANFARE_XAI_KEY or FANFARE_GOOGLE_AI_KEY"
        );
    };
    let base = google.url.as_str().trim_end_matches('/');
    let url = Url::parse(&format!("{base}/v1beta/openai"))?;
    Ok(Some((Provider { url, key: google.key.clone() }, model)))
}
