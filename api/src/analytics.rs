//! Metrics of accounts and posts, insights and suggestions.

use fanfare_core::{Listed, Reply, Result};
use fanfare_insight::analytics::{
    self, AccountNumbersList, PostNumbersPage,
    insights::{self, Insights},
    profile::{self, ProfileResponse},
    suggestions::{self, OneSuggestion, SuggestNow, SuggestNowResponse, Suggestions},
};

use crate::Call;

/// Shows the daily metrics of accounts.
pub async fn list_accounts(mut call: Call) -> Result<Reply<Listed<AccountNumbersList>>> {
    let query = call.query()?;
    analytics::accounts(&call.act, query).await
}

/// Lists the metrics of posts.
pub async fn list_posts(mut call: Call) -> Result<Reply<PostNumbersPage>> {
    let query = call.query()?;
    analytics::posts(&call.act, query).await
}

/// Shows the performance profile of an account.
pub async fn get_profile(call: Call) -> Result<Reply<ProfileResponse>> {
    profile::show_profile(&call.act, call.account()?).await
}

/// Lists insights.
pub async fn list_insights(mut call: Call) -> Result<Reply<Listed<Insights>>> {
    let query = call.query()?;
    insights::list(&call.act, query).await
}

/// Lists suggestions.
pub async fn list_suggestions(mut call: Call) -> Result<Reply<Listed<Suggestions>>> {
    let query = call.query()?;
    suggestions::list(&call.act, query).await
}

/// Dismisses a suggestion.
pub async fn dismiss_suggestion(call: Call) -> Result<Reply<OneSuggestion>> {
    suggestions::dismiss(&call.act, call.suggestion()?).await
}

/// Suggests posts for an account on a simulated network at once.
pub async fn suggest_now(mut call: Call) -> Result<Reply<SuggestNowResponse>> {
    let now: SuggestNow = call.body()?;
    suggestions::derive_now(&call.act, fanfare_core::AccountId(now.account_id)).await
}
