//! The site.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::rest;
use crate::network::{Identity, Medium};

/// Everything on the site.
pub(crate) struct State {
    pub articles: BTreeMap<u64, Article>,
    pub media: BTreeMap<u64, Upload>,
    pub terms: BTreeMap<u64, Term>,
    /// The slugs in use, for fast look-up.
    pub slugs: HashSet<String>,
    /// The last id, which articles and uploads share.
    pub last_id: u64,
    /// Users whose application password a fault has revoked.
    pub revoked: HashSet<u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Article {
    pub id: u64,
    pub author: u64,
    pub status: String,
    pub title: String,
    pub content: String,
    pub excerpt: String,
    pub slug: String,
    pub featured_media: u64,
    pub categories: Vec<u64>,
    pub tags: Vec<u64>,
    pub date_ms: i64,
    pub modified_ms: i64,
    pub sticky: bool,
    pub comment_status: String,
    pub format: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub id: u64,
    pub author: u64,
    pub at_ms: i64,
    pub name: String,
    pub title: String,
    pub caption: String,
    /// Its `alt` is the alt text.
    pub medium: Medium,
    pub size: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Taxonomy {
    Category,
    PostTag,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Term {
    pub id: u64,
    pub taxonomy: Taxonomy,
    pub name: String,
    pub slug: String,
    pub description: String,
    pub parent: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// A new article or a new state of one.
    Article(Box<Article>),
    Deleted {
        id: u64,
    },
    Upload(Box<Upload>),
    Term(Term),
    Revoked(bool),
}

impl Default for State {
    fn default() -> Self {
        let first = Term {
            id: 1,
            taxonomy: Taxonomy::Category,
            name: "Uncategorized".into(),
            slug: "uncategorized".into(),
            description: String::new(),
            parent: 0,
        };
        Self {
            articles: BTreeMap::new(),
            media: BTreeMap::new(),
            terms: BTreeMap::from([(1, first)]),
            slugs: HashSet::new(),
            last_id: 0,
            revoked: HashSet::new(),
        }
    }
}

impl State {
    pub fn apply(&mut self, identity: &Identity, change: Change) {
        match change {
            Change::Article(article) => {
                self.last_id = self.last_id.max(article.id);
                self.forget_slug(article.id);
                self.slugs.insert(article.slug.clone());
                self.articles.insert(article.id, *article);
            }
            Change::Deleted { id } => {
                self.forget_slug(id);
                self.articles.remove(&id);
            }
            Change::Upload(upload) => {
                self.last_id = self.last_id.max(upload.id);
                self.media.insert(upload.id, *upload);
            }
            Change::Term(term) => {
                self.terms.insert(term.id, term);
            }
            Change::Revoked(revoked) => {
                let user = rest::user_id(identity);
                if revoked {
                    self.revoked.insert(user)
                } else {
                    self.revoked.remove(&user)
                };
            }
        }
    }

    fn forget_slug(&mut self, id: u64) {
        if let Some(old) = self.articles.get(&id) {
            self.slugs.remove(&old.slug);
        }
    }
}
