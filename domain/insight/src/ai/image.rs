//! Generates images while the caller waits, and stores them as media.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use fanfare_ai::{
    Endpoint, Failure, FailureKind, ImageModel,
    image::{self, ImageParameters},
};
use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, Violation, out_of_range, violation, wrong_count},
    input::text::{self, TextRule},
};
use fanfare_people::credits;
use fanfare_publishing::{
    media::{self, GeneratedFile},
    posts,
};
use futures_util::{future, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Purchase, not_configured,
    prices::{self, Priced},
    provider_error,
};

/// The longest time to generate images.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The largest source image, in bytes.
const MAX_SOURCE_BYTES: u64 = 20_000_000;

/// A request for images.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewImages {
    /// The subject of the images.
    #[schemars(length(min = 1, max = 4_000))]
    pub prompt: String,
    /// `google` or `xai`; google if left out.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub provider: Option<String>,
    /// For xai: `low` or `medium`; medium if left out.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub quality: Option<String>,
    /// `1K` or `2K`, for google also `4K`; 1K if left out.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub resolution: Option<String>,
    /// The shape of the images.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub aspect_ratio: Option<String>,
    /// The number of images: 1 to 4, 1 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4), extend("x-own-bounds" = true))]
    pub count: Option<i64>,
    /// Source images: addresses of files that are stored here.
    #[serde(default)]
    #[schemars(length(max = 3), inner(length(max = 2_048)))]
    pub image_urls: Option<Vec<String>>,
    /// Only say what it costs; nothing is made or spent.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// A text by which you know this, such as the id of your customer. The ledger names it, and sums are made by it.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub reference: Option<String>,
    /// The most that it may cost, in credits. If it costs more, nothing is made or spent.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub max_credits: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Leaves the prompt out.
impl std::fmt::Debug for NewImages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewImages").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// Images that were generated.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct GeneratedImages {
    pub images: Vec<GeneratedImage>,
    /// Their addresses, to be sent as `media_urls` of a post.
    pub media_urls: Vec<String>,
    /// The price. It is lower if fewer images were generated than requested.
    pub credits_spent: i64,
    pub provider: String,
    pub model: String,
    /// True if the provider is simulated.
    pub sandbox: bool,
}

/// An image that was generated.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct GeneratedImage {
    /// The address it is served at.
    url: String,
    /// The stored file.
    asset_id: Uuid,
    /// The media type.
    mime: String,
    /// Pixels.
    width: Option<i32>,
    /// Pixels.
    height: Option<i32>,
}

/// A valid request.
struct CheckedRequest {
    model: ImageModel,
    endpoint: Endpoint,
    resolution: String,
    quality: Option<String>,
    count: usize,
    /// The price of one image, before the operator's factor.
    cents: i64,
}

/// Generates images.
///
/// # Errors
/// The flaws of the request, [`Code::InsufficientCredits`], or the provider's.
pub async fn generate(act: &Act, new: NewImages) -> Result<Reply<Priced<GeneratedImages>>> {
    let wanted = check_request(act, &new)?;
    let sources = read_images(act, new.image_urls.as_deref().unwrap_or_default()).await?;
    if new.dry_run == Some(true) {
        return prices::check(act, wanted.price()?).await;
    }
    // If the caller disconnects, the images are in the media library.
    let act = act.clone();
    let work = tokio::spawn(async move { generate_paid(&act, &new, &wanted, &sources).await });
    work.await.map_err(Error::internal)?.map(Reply::cast)
}

impl CheckedRequest {
    /// Returns the price of all images, before the operator's factor.
    fn price(&self) -> Result<i64> {
        Ok(i64::try_from(self.count).map_err(Error::internal)? * self.cents)
    }
}

async fn generate_paid(
    act: &Act,
    new: &NewImages,
    wanted: &CheckedRequest,
    sources: &[(String, Bytes)],
) -> Result<Reply<GeneratedImages>> {
    let cx = &act.cx;
    let terms = super::Terms { reference: new.reference.clone(), max_credits: new.max_credits };
    let purchase = Purchase::begin(act, "image", wanted.price()?, &terms).await?;
    let drawn = match draw(new, wanted, sources).await {
        Ok(drawn) => drawn,
        Err(failure) => return Err(purchase.fail(cx, provider_error(&failure)).await),
    };
    match store(act, wanted, drawn, &purchase).await {
        Ok(reply) => Ok(reply),
        Err(error) => Err(purchase.fail(cx, error).await),
    }
}

/// Generates the images; some may fail.
async fn draw(
    new: &NewImages,
    wanted: &CheckedRequest,
    sources: &[(String, Bytes)],
) -> Result<Vec<Bytes>, Failure> {
    let drawing = ImageParameters {
        model: &wanted.model.id,
        prompt: &new.prompt,
        resolution: &wanted.resolution,
        quality: wanted.quality.as_deref(),
        aspect_ratio: new.aspect_ratio.as_deref(),
        sources,
    };
    if wanted.model.provider == "xai" {
        return image::xai(&wanted.endpoint, &drawing, wanted.count, TIMEOUT).await;
    }
    let calls = (0..wanted.count).map(|_| image::google(&wanted.endpoint, &drawing, TIMEOUT));
    let (mut drawn, mut failed) = (Vec::new(), None);
    for outcome in future::join_all(calls).await {
        match outcome {
            Ok(bytes) => drawn.push(bytes),
            Err(failure) if failure.kind == FailureKind::Refused => failed = Some(failure),
            Err(failure) => failed = failed.or(Some(failure)),
        }
    }
    match failed {
        Some(failure) if drawn.is_empty() => Err(failure),
        _ => Ok(drawn),
    }
}

/// Stores the images, and settles their cost in the same transaction.
async fn store(
    act: &Act,
    wanted: &CheckedRequest,
    drawn: Vec<Bytes>,
    purchase: &Purchase,
) -> Result<Reply<GeneratedImages>> {
    let cx = &act.cx;
    let count = i64::try_from(drawn.len()).map_err(Error::internal)?;
    let spent = crate::settings(cx).ai.credits(count * wanted.cents).min(purchase.credits);
    let mut files = Vec::with_capacity(drawn.len());
    for bytes in drawn {
        let body = stream::iter([Ok::<_, Infallible>(bytes)]);
        files.push(media::receive_generated(cx, &act.membership, body).await?);
    }
    let written = async {
        let mut tx = act.begin().await?;
        let mut images = Vec::with_capacity(files.len());
        for (nth, file) in (1..).zip(&files) {
            let made = GeneratedFile {
                workspace_id: act.membership.workspace_id,
                plan: act.membership.plan,
                created_by: act.caller.user_id,
                name: format!("image-{nth}"),
                request_id: Some(act.request_id.clone()),
            };
            let row = media::keep_generated(&mut tx, made, file).await?;
            images.push(GeneratedImage {
                url: media::url_of(cx, &row),
                asset_id: row.uid,
                mime: row.mime.unwrap_or_default(),
                width: row.width,
                height: row.height,
            });
        }
        credits::pay(cx, tx.conn(), &purchase.operation, spent).await?;
        let shown = GeneratedImages {
            media_urls: images.iter().map(|image| image.url.clone()).collect(),
            images,
            credits_spent: spent,
            provider: wanted.model.provider.clone(),
            model: wanted.model.id.clone(),
            sandbox: crate::settings(cx).ai.is_sandbox,
        };
        act.finish(tx, Reply::ok(&shown).with_status(201)).await
    };
    let written = written.await;
    for file in &files {
        let kept = written.as_ref().map(|_| file.path.as_str());
        media::tidy_generated(cx, file, kept).await;
    }
    written
}

/// Checks a request; reports all violations together.
fn check_request(act: &Act, new: &NewImages) -> Result<CheckedRequest> {
    let ai = &crate::settings(&act.cx).ai;
    let mut broken = violations(new);
    let name = new.provider.as_deref().unwrap_or("google");
    let model = ai.catalogue.image.iter().find(|model| model.provider == name);
    let count = new.count.unwrap_or(1);
    if !(1..=4).contains(&count) {
        broken.push(out_of_range("count", count, &(1..=4)));
    }
    let Some(model) = model else {
        let message = "provider is not one that draws.";
        broken.push(violation(Code::InvalidField, "provider", message, "Send google or xai."));
        Error::check(broken)?;
        return Err(not_configured("images"));
    };
    let resolution = new.resolution.as_deref().unwrap_or("1K").to_uppercase();
    let is_xai = name == "xai";
    let quality = match new.quality.as_deref() {
        None if is_xai => Some("medium"),
        Some(quality) if is_xai && matches!(quality, "low" | "medium") => Some(quality),
        None => None,
        Some(_) => {
            let message = "quality is for xai alone, and there low or medium.";
            let remedy = "Send low or medium with xai, or leave it out.";
            broken.push(violation(Code::InvalidField, "quality", message, remedy));
            is_xai.then_some("medium")
        }
    };
    let price = quality.map_or_else(|| resolution.clone(), |it| format!("{it} {resolution}"));
    let cents = model.credits.get(&price);
    if cents.is_none() {
        let message = format!("{name} does not draw at this resolution.");
        let remedy = if is_xai { "Send 1K or 2K." } else { "Send 1K, 2K or 4K." };
        broken.push(violation(Code::InvalidField, "resolution", message, remedy));
    }
    if new.aspect_ratio.as_ref().is_some_and(|ratio| !model.aspect_ratios.contains(ratio)) {
        let known = model.aspect_ratios.join(", ");
        let message = format!("{name} draws in these shapes: {known}.");
        broken.push(violation(Code::InvalidField, "aspect_ratio", message, "Send one of them."));
    }
    Error::check(broken)?;
    let endpoint = if is_xai { &ai.xai } else { &ai.google };
    Ok(CheckedRequest {
        endpoint: endpoint.clone().ok_or_else(|| not_configured("images"))?,
        model: model.clone(),
        resolution,
        quality: quality.map(str::to_owned),
        count: usize::try_from(count).map_err(Error::internal)?,
        cents: cents.copied().unwrap_or_default(),
    })
}

fn violations(new: &NewImages) -> Vec<Violation> {
    let mut broken: Vec<Violation> = Vec::new();
    if new.prompt.trim().is_empty() {
        let message = "prompt is empty.";
        broken.push(violation(Code::InvalidField, "prompt", message, "Say what the images show."));
    }
    broken.extend(text::problem("prompt", &new.prompt, TextRule::lines(4_000)));
    if let Some(urls) = new.image_urls.as_ref().filter(|urls| urls.len() > 3) {
        broken.push(wrong_count("image_urls", urls.len(), &(0..=3)));
    }
    broken
}

/// Reads images that are stored here.
pub(super) async fn read_images(act: &Act, urls: &[String]) -> Result<Vec<(String, Bytes)>> {
    let mut sources = Vec::with_capacity(urls.len());
    for (place, file) in posts::stored_media(act, urls).await?.into_iter().enumerate() {
        let is_image = file.mime.starts_with("image/");
        let Some(path) = file.path.filter(|_| is_image) else {
            let message = format!("image_urls[{place}] is not an image that is stored here.");
            let remedy = "Upload it first, and send its url.";
            return Err(Error::field(Code::InvalidField, "image_urls", message, remedy));
        };
        let bytes = act.cx.store.read(&path, MAX_SOURCE_BYTES).await.map_err(Error::internal)?;
        sources.push((file.mime, bytes));
    }
    Ok(sources)
}
