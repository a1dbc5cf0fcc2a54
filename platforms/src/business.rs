//! Business profiles: reviews, media and what the audit looks at.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Changes, MediaRules, RateLimit, Result, Session, recent_posts::Page};

/// A review of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteReview {
    /// Its full name.
    pub name: String,
    /// The author; `None`: somebody who does not tell.
    pub reviewer: Option<String>,
    /// The writer's picture.
    pub avatar_url: Option<String>,
    /// Stars, 1 to 5, if they are told.
    pub rating: Option<i32>,
    /// Its text, in the language it was written in.
    pub text: String,
    /// Its pictures and films.
    pub media: Vec<ReviewMedia>,
    /// The time at which it was written.
    pub created_at: DateTime<Utc>,
    /// The time at which it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The owner's answer.
    pub reply: Option<RemoteReply>,
}

/// A picture or film of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewMedia {
    /// The film's address.
    pub url: Option<String>,
    /// The picture's address.
    pub thumbnail_url: Option<String>,
    /// `image` or `video`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The owner's answer to a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteReply {
    /// Its text.
    pub text: String,
    /// `pending`, `approved` or `rejected`.
    pub state: String,
    /// The reason it was rejected.
    pub policy_violation: Option<String>,
    /// The time at which it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A page of reviews with what holds of all of them.
#[derive(Debug)]
pub struct ReviewPage {
    /// The reviews, the last changed first.
    pub page: Page<RemoteReview>,
    /// Average of the stars.
    pub average_rating: Option<f64>,
    /// The number of them.
    pub total: Option<i64>,
}

/// A photo or film of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteMedia {
    /// Its full name.
    pub name: String,
    /// The category on the profile.
    pub category: String,
    /// It is a film.
    pub video: bool,
    /// Its address, which changes.
    pub url: Option<String>,
    /// The address of a small picture.
    pub thumbnail_url: Option<String>,
    /// The address that it was fetched from, if that is told.
    pub source_url: Option<String>,
    /// Pixels.
    pub width: Option<i64>,
    /// Pixels.
    pub height: Option<i64>,
    /// The number of times it was seen.
    pub view_count: Option<i64>,
    /// The time at which it was added, if that is told.
    pub created_at: Option<DateTime<Utc>>,
}

/// The facts that the audit looks at, as the network states them.
#[derive(Debug, Clone, Default)]
pub struct ProfileFacts {
    /// The location's record.
    pub location: Value,
    /// The owner is known to the network.
    pub verified: Option<bool>,
    /// The time at which it last posted.
    pub last_post_at: Option<DateTime<Utc>>,
    /// The latest posts could be read.
    pub posts_known: bool,
}

/// The business profile of a network's accounts: each is one location.
#[async_trait]
pub trait BusinessProfile: Changes {
    /// Returns the number of calls that the app has for all accounts together, if that is known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Returns the rules of the photos that a profile holds, which are not those of posts.
    fn photos(&self) -> &'static MediaRules;

    /// Reads a page of reviews, the last changed first.
    ///
    /// # Errors
    /// The network's.
    async fn reviews(&self, session: &Session, next: Option<String>) -> Result<ReviewPage>;

    /// Reads a page of photos and films.
    ///
    /// # Errors
    /// The network's.
    async fn media(&self, session: &Session, next: Option<String>) -> Result<Page<RemoteMedia>>;

    /// Reads what the audit looks at.
    ///
    /// # Errors
    /// The network's; what alone cannot be read is not known.
    async fn profile(&self, session: &Session) -> Result<ProfileFacts>;
}
