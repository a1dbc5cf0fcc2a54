//! What operations of models cost: one list, and the price of one request before it is made.

use fanfare_core::{
    Act, Reply,
    error::{Error, Result},
};
use fanfare_people::credits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The price of an operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Price {
    /// The operation.
    operation: &'static str,
    /// The provider; null where it makes no difference.
    provider: Option<String>,
    /// The model; null where it makes no difference.
    model: Option<String>,
    /// The quality and resolution; null where there are none.
    resolution: Option<String>,
    /// Credits for one `per`.
    credits: i64,
    /// What the price is for: `request`, `image`, or `video` of `duration_seconds`.
    per: &'static str,
    /// The length of the video.
    duration_seconds: Option<u32>,
}

/// All prices.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PriceList {
    prices: Vec<Price>,
    /// The day of the prices.
    as_of: String,
}

/// The price of a request that was only checked.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PriceCheck {
    /// Always true.
    dry_run: bool,
    /// The credits that the request costs at most.
    credits: i64,
    /// The credits that can be spent now.
    available: i64,
    /// Whether they are enough.
    affordable: bool,
}

/// Lists the prices of all operations that spend credits.
///
/// # Errors
/// None.
pub async fn prices(act: &Act) -> Result<Reply<PriceList>> {
    let ai = &crate::settings(&act.cx).ai;
    let of_request = |operation, cents| Price {
        operation,
        provider: None,
        model: None,
        resolution: None,
        credits: ai.credits(cents),
        per: "request",
        duration_seconds: None,
    };
    let mut prices = vec![
        of_request("generate_captions", ai.catalogue.captions),
        of_request("suggest_review_reply", ai.catalogue.reply),
    ];
    for model in &ai.catalogue.image {
        prices.extend(model.credits.iter().map(|(resolution, cents)| Price {
            provider: Some(model.provider.clone()),
            model: Some(model.id.clone()),
            resolution: Some(resolution.clone()),
            per: "image",
            ..of_request("generate_image", *cents)
        }));
    }
    for model in &ai.catalogue.video {
        let lengths = model.resolutions.iter().flat_map(|resolution| {
            model.durations_at(resolution).iter().map(move |seconds| (resolution, *seconds))
        });
        prices.extend(lengths.filter_map(|(resolution, seconds)| {
            let cents = model.cost(seconds, resolution, false)?;
            Some(Price {
                provider: Some(model.provider.as_str().to_owned()),
                model: Some(model.id.clone()),
                resolution: Some(resolution.clone()),
                per: "video",
                duration_seconds: Some(seconds),
                ..of_request("generate_video", cents)
            })
        }));
    }
    Ok(Reply::ok(&PriceList { prices, as_of: ai.catalogue.as_of.clone() }))
}

/// The reply to a request that spends credits: what was made, or with `dry_run` its price.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Priced<T> {
    /// It was made.
    Made(T),
    /// It was only checked.
    Checked(PriceCheck),
}

impl<T> Priced<T> {
    /// Returns what was made.
    ///
    /// # Errors
    /// It was only checked.
    pub fn made(self) -> Result<T> {
        match self {
            Self::Made(made) => Ok(made),
            Self::Checked(_) => Err(Error::internal("a request was only checked")),
        }
    }
}

/// Returns the reply to a request that was only checked; `cents` is its price before the operator's factor.
pub(super) async fn check<T>(act: &Act, cents: i64) -> Result<Reply<Priced<T>>> {
    check_credits(act, crate::settings(&act.cx).ai.credits(cents)).await
}

/// Returns the same for a price in credits.
pub(super) async fn check_credits<T>(act: &Act, credits: i64) -> Result<Reply<Priced<T>>> {
    let available = credits::available(&act.cx, act.membership.workspace_id).await?;
    let affordable = credits <= available;
    let checked = PriceCheck { dry_run: true, credits, available, affordable };
    Ok(Reply::ok(&checked).unchanged().cast())
}
