//! The publication of an account.

use serde::{Deserialize, Serialize};

#[derive(Default)]
pub(crate) struct State {
    /// Oldest first.
    pub articles: Vec<Article>,
    /// True if a fault has revoked the token.
    pub revoked: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Article {
    pub id: String,
    pub slug: String,
    pub title: String,
    pub subtitle: Option<String>,
    pub markdown: String,
    pub cover_image: Option<String>,
    pub tags: Vec<(String, String)>,
    pub original_url: Option<String>,
    pub meta_title: Option<String>,
    pub meta_description: Option<String>,
    pub disable_comments: bool,
    pub published_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Published(Box<Article>),
    Deleted { id: String },
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Published(article) => {
                let is_before = |other: &Article| other.published_ms <= article.published_ms;
                let place = self.articles.partition_point(is_before);
                self.articles.insert(place, *article);
            }
            Change::Deleted { id } => self.articles.retain(|article| article.id != id),
            Change::Revoked(revoked) => self.revoked = revoked,
        }
    }
}
