//! The API's replies about metrics, as far as the pages use them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::chart::Point;

/// The metrics of accounts.
#[derive(Deserialize)]
pub struct AccountList {
    pub accounts: Vec<AccountNumbers>,
}

/// The metrics of an account.
#[derive(Deserialize)]
pub struct AccountNumbers {
    pub account: Account,
    pub to: String,
    pub status: String,
    pub missing_permissions: Vec<String>,
    pub synced_at: Option<String>,
    pub complete_through: Option<String>,
    pub day_zone: Option<String>,
    pub snapshots: Vec<Map<String, Value>>,
    pub summary: Option<Summary>,
    pub display_metrics: Vec<DisplayMetric>,
}

/// The name of an account.
#[derive(Deserialize)]
pub struct Account {
    pub id: i64,
    pub platform: String,
    pub username: String,
}

/// Totals of a period, and of the one before.
#[derive(Deserialize)]
pub struct Summary {
    #[serde(flatten)]
    pub period: Map<String, Value>,
    pub previous: Map<String, Value>,
}

/// A metric of the network's own dashboard.
#[derive(Deserialize)]
pub struct DisplayMetric {
    pub label: String,
    pub value: Option<i64>,
    pub unit: String,
    pub previous: Option<i64>,
}

/// The metrics of posts.
#[derive(Deserialize)]
pub struct PostList {
    pub posts: Vec<PostNumbers>,
}

/// The metrics of a post.
#[derive(Deserialize)]
pub struct PostNumbers {
    pub post_id: Option<i64>,
    pub url: Option<String>,
    pub post_type: String,
    pub caption: String,
    pub published_at: String,
    pub status: String,
    pub unmeasured: BTreeMap<String, String>,
    pub engagement_rate: Option<f64>,
    #[serde(flatten)]
    pub numbers: Map<String, Value>,
}

/// Insights about posts.
#[derive(Deserialize)]
pub struct Insights {
    pub insights: Vec<Insight>,
}

/// An insight about a post.
#[derive(Deserialize)]
pub struct Insight {
    pub post_id: i64,
    pub checkpoint: String,
    pub performance_tier: String,
    pub title: String,
    pub diagnosis: String,
    pub next_action: String,
}

/// Suggested posts.
#[derive(Deserialize)]
pub struct Suggestions {
    pub suggestions: Vec<Suggestion>,
}

/// A suggested post.
#[derive(Deserialize)]
pub struct Suggestion {
    pub id: String,
    pub social_account_id: i64,
    pub caption: String,
    pub rationale: String,
    pub period_key: String,
    pub status: String,
}

/// An account's strengths.
#[derive(Deserialize)]
pub struct ShownProfile {
    pub performance_profile: Option<Profile>,
    pub reason: Option<String>,
}

/// The sentences of a profile.
#[derive(Deserialize)]
pub struct Profile {
    pub bullets: Vec<String>,
}

/// Returns a metric by its name.
pub fn get(numbers: &Map<String, Value>, name: &str) -> Point {
    numbers.get(name)?.as_i64()
}

/// Returns the reason why a metric is unknown, in words.
pub fn reason(why: Option<&str>) -> &'static str {
    match why {
        Some("pending") => "not read yet",
        Some("permission") => "permission is missing",
        Some("too_few_viewers") => "too few viewers",
        Some("expired") => "no longer given by the network",
        _ => "not given by the network",
    }
}
