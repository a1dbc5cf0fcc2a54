//! The articles of an account.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Default)]
pub(crate) struct State {
    pub articles: BTreeMap<u64, Article>,
    /// True if a fault has revoked the key.
    pub revoked: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Article {
    pub id: u64,
    pub title: String,
    pub body: String,
    pub slug: String,
    pub published: bool,
    pub description: String,
    pub tags: Vec<String>,
    pub canonical_url: Option<String>,
    pub main_image: Option<String>,
    pub series: Option<String>,
    pub organization_id: Option<i64>,
    /// Its AI disclosure; `None`: not disclosed.
    #[serde(default)]
    pub ai_disclosure_level: Option<String>,
    pub created_ms: i64,
    pub published_ms: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// A new article or a new state of one.
    Article(Box<Article>),
    Deleted {
        id: u64,
    },
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Article(article) => {
                self.articles.insert(article.id, *article);
            }
            Change::Deleted { id } => drop(self.articles.remove(&id)),
            Change::Revoked(revoked) => self.revoked = revoked,
        }
    }
}
