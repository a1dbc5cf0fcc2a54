//! Addresses at which customers can write a review.

use fanfare_core::{Act, Reply, error::Result, page::Listed};
use fanfare_entities::AccountId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{LocationFilter, no_locations, profile_of, selected_accounts, title};

/// The address at which customers can review a location.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewLink {
    account_id: AccountId,
    location_id: String,
    title: String,
    /// Null if the network returns none.
    review_url: Option<String>,
    /// The reason why there is none.
    reason: Option<&'static str>,
}

/// The addresses at which customers can review locations.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReviewLinkList {
    links: Vec<ReviewLink>,
}

/// Lists the addresses at which customers can review locations.
///
/// # Errors
/// [`fanfare_core::Code::LocationNotFound`], [`fanfare_core::Code::PlatformMismatch`].
pub async fn links(act: &Act, wanted: LocationFilter) -> Result<Reply<Listed<ReviewLinkList>>> {
    let mut links = Vec::new();
    for account in selected_accounts(act, wanted.account_id, wanted.location_id.as_deref()).await? {
        let profile = super::sync::fresh_profile(act, &account, super::sync::HOUR).await?;
        let profile = match profile {
            Some(profile) => Some(profile),
            None => profile_of(act, account.id).await?,
        };
        let metadata = profile
            .as_ref()
            .and_then(|profile| profile.location.as_ref())
            .map(|one| &one["metadata"]);
        let text = |name: &str| metadata.and_then(|metadata| metadata[name].as_str());
        let by_place = || {
            text("placeId")
                .map(|id| format!("https://search.google.com/local/writereview?placeid={id}"))
        };
        let review_url = text("newReviewUri").map(str::to_owned).or_else(by_place);
        let reason = match (&review_url, metadata) {
            (Some(_), _) => None,
            (None, None) => Some("not_read_yet"),
            (None, Some(_)) => Some("not_on_maps"),
        };
        links.push(ReviewLink {
            account_id: account.id,
            location_id: account.remote_id.clone(),
            title: title(profile.as_ref(), &account),
            review_url,
            reason,
        });
    }
    let why = if links.is_empty() { Some(no_locations(act).await?) } else { None };
    Ok(Reply::ok(&Listed::new(ReviewLinkList { links }, why)))
}
