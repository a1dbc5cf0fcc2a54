//! The configuration of AI models.

use anyhow::{Context as _, Result, bail};
use fanfare_ai::{Catalogue, VideoProvider};
use secrecy::SecretString;
use url::Url;

use super::VariableReader;

/// Where models come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AiMode {
    /// Providers that the operator configured.
    Live,
    /// Simulated models.
    Sandbox,
    /// No models.
    Off,
}

/// A provider's address and key.
#[derive(Clone)]
pub struct ProviderConfig {
    /// Its address.
    pub url: Url,
    /// Its key.
    pub key: Option<SecretString>,
}

/// A project at Google's Vertex AI.
#[derive(Clone)]
pub struct VertexConfig {
    /// Its id.
    pub project: String,
    /// The location in which its models run.
    pub location: String,
    /// The address.
    pub url: Url,
    /// The text of the service account's file, if one is set.
    pub account: Option<SecretString>,
}

/// The providers of models.
#[derive(Clone)]
pub struct AiConfig {
    /// Where models come from, if it is set.
    pub mode: Option<AiMode>,
    /// The provider and id of the text model.
    pub text: Option<(ProviderConfig, String)>,
    /// xAI.
    pub xai: Option<ProviderConfig>,
    /// Google.
    pub google: Option<ProviderConfig>,
    /// Google's Vertex AI.
    pub vertex: Option<VertexConfig>,
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
    pub(super) fn take(given: &mut VariableReader) -> Result<Self> {
        let mode = match given.take("FANFARE_AI").as_deref() {
            None => None,
            Some("live") => Some(AiMode::Live),
            Some("sandbox") => Some(AiMode::Sandbox),
            Some("off") => Some(AiMode::Off),
            Some(other) => bail!("FANFARE_AI must be live, sandbox or off, not {other:?}"),
        };
        let text_url: Option<Url> =
            given.parse("FANFARE_AI_TEXT_URL", "an address like https://models.example.com/v1")?;
        let text_model = given.take("FANFARE_AI_TEXT_MODEL");
        let text_key = given.take("FANFARE_AI_TEXT_KEY").map(SecretString::from);
        let xai = provider(given, "FANFARE_XAI", "https://api.x.ai/v1")?;
        let google =
            provider(given, "FANFARE_GOOGLE_AI", "https://generativelanguage.googleapis.com")?;
        let vertex = vertex(given)?;
        let text = match (text_url, text_model) {
            (Some(url), Some(model)) => Some((ProviderConfig { url, key: text_key }, model)),
            (None, Some(model)) => text_provider(model, &xai, &google)?,
            (None, None) if text_key.is_none() => None,
            _ => bail!("FANFARE_AI_TEXT_URL needs FANFARE_AI_TEXT_MODEL beside it"),
        };
        let factor = given.parse("FANFARE_CREDIT_FACTOR", "a number from 0")?.unwrap_or(1.0);
        if !(0.0..=1_000.0).contains(&factor) {
            bail!("FANFARE_CREDIT_FACTOR must be a number from 0 to 1000");
        }
        let mut catalogue = match given.take("FANFARE_AI_MODELS") {
            None => Catalogue::built_in()?,
            Some(path) => {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("FANFARE_AI_MODELS {path}"))?;
                Catalogue::parse(&text).context("FANFARE_AI_MODELS")?
            }
        };
        prefer(given, &mut catalogue)?;
        let films = vertex.as_ref().is_some_and(|vertex| vertex.account.is_some());
        if mode == Some(AiMode::Live) && vertex.is_some() && !films {
            bail!("FANFARE_VERTEX_PROJECT needs FANFARE_VERTEX_CREDENTIALS with FANFARE_AI=live");
        }
        let has_key = text.is_some() || xai.is_some() || google.is_some() || films;
        if mode == Some(AiMode::Live) && !has_key {
            bail!(
                "FANFARE_AI=live needs a provider: FANFARE_AI_TEXT_URL, FANFARE_XAI_KEY, FANFARE_GOOGLE_AI_KEY or FANFARE_VERTEX_PROJECT"
            );
        }
        Ok(Self { mode, text, xai, google, vertex, factor, catalogue })
    }

    /// Returns where models come from: as configured, else from the operator's providers if there are any, else from
    /// the simulator if everything is embedded.
    #[must_use]
    pub fn mode(&self, is_embedded: bool) -> AiMode {
        let films = self.vertex.as_ref().is_some_and(|vertex| vertex.account.is_some());
        let has_key = self.text.is_some() || self.xai.is_some() || self.google.is_some() || films;
        self.mode.unwrap_or(match (has_key, is_embedded) {
            (true, _) => AiMode::Live,
            (false, true) => AiMode::Sandbox,
            (false, false) => AiMode::Off,
        })
    }
}

fn vertex(given: &mut VariableReader) -> Result<Option<VertexConfig>> {
    let project = given.take("FANFARE_VERTEX_PROJECT");
    let location = given.take("FANFARE_VERTEX_LOCATION");
    let file = given.take("FANFARE_VERTEX_CREDENTIALS");
    let url: Option<Url> = given.parse("FANFARE_VERTEX_URL", "an http(s) address")?;
    let Some(project) = project else {
        if location.is_some() || file.is_some() || url.is_some() {
            bail!(
                "FANFARE_VERTEX_LOCATION, FANFARE_VERTEX_CREDENTIALS and FANFARE_VERTEX_URL need FANFARE_VERTEX_PROJECT beside them"
            );
        }
        return Ok(None);
    };
    let location = location.unwrap_or_else(|| "us-central1".to_owned());
    let is_name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.:".contains(&it))
    };
    if !is_name(&project) || !is_name(&location) {
        bail!(
            "FANFARE_VERTEX_PROJECT and FANFARE_VERTEX_LOCATION must be ids such as my-project and us-central1"
        );
    }
    let usual = || Url::parse(&vertex_address(&location));
    let url = url.map_or_else(usual, Ok)?;
    let read = |path: String| {
        let text = std::fs::read_to_string(&path);
        text.with_context(|| format!("FANFARE_VERTEX_CREDENTIALS {path}"))
    };
    let account = file.map(read).transpose()?.map(SecretString::from);
    Ok(Some(VertexConfig { project, location, url, account }))
}

/// Returns the address of Vertex AI for a location.
fn vertex_address(location: &str) -> String {
    let place = if location == "global" { String::new() } else { format!("{location}-") };
    format!("https://{place}aiplatform.googleapis.com")
}

/// Makes the models that the operator named the defaults of their providers.
fn prefer(given: &mut VariableReader, catalogue: &mut Catalogue) -> Result<()> {
    for (name, provider, vertex) in [
        ("FANFARE_XAI_VIDEO_MODEL", VideoProvider::XaiGrok, false),
        ("FANFARE_GOOGLE_AI_VIDEO_MODEL", VideoProvider::GoogleVeo, false),
        ("FANFARE_VERTEX_VIDEO_MODEL", VideoProvider::GoogleVeo, true),
    ] {
        let Some(model) = given.take(name) else { continue };
        if let Err(known) = catalogue.set_default(&model, provider, vertex) {
            bail!("{name} must be one of {}, not {model:?}", known.join(", "));
        }
    }
    Ok(())
}

fn provider(given: &mut VariableReader, name: &str, usual: &str) -> Result<Option<ProviderConfig>> {
    let url: Option<Url> =
        given.parse(&format!("{name}_URL"), &format!("an address like {usual}"))?;
    let key = given.take(&format!("{name}_KEY")).map(SecretString::from);
    if key.is_none() && url.is_none() {
        return Ok(None);
    }
    let url = url.map_or_else(|| Url::parse(usual), Ok)?;
    Ok(Some(ProviderConfig { url, key }))
}

/// Returns the provider of a text model of xAI or Google, if its key is set.
fn text_provider(
    model: String,
    xai: &Option<ProviderConfig>,
    google: &Option<ProviderConfig>,
) -> Result<Option<(ProviderConfig, String)>> {
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
    Ok(Some((ProviderConfig { url, key: google.key.clone() }, model)))
}
