//! Business profiles: reviews, media and the facts that the audit checks.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    MediaRules, RateLimit, RemoteChanges, Result, Session,
    inbox::{NAME_MAX, TEXT_MAX, bound_text},
    recent_posts::ListPage,
};

/// A review of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteReview {
    /// Its full name.
    pub name: String,
    /// The author; `None` for an anonymous one.
    pub reviewer: Option<String>,
    /// The author's picture.
    pub avatar_url: Option<String>,
    /// Stars, 1 to 5, if the network gives them.
    pub rating: Option<i32>,
    /// Its text, in the language it was written in.
    pub text: String,
    /// Its photos and videos.
    pub media: Vec<ReviewMedia>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The owner's answer.
    pub reply: Option<RemoteReply>,
}

impl RemoteReview {
    /// Bounds what its author has written.
    pub fn bound(&mut self) {
        bound_text(&mut self.text, TEXT_MAX);
        if let Some(name) = &mut self.reviewer {
            bound_text(name, NAME_MAX);
        }
    }
}

/// A photo or video of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewMedia {
    /// The video's address.
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
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A page of reviews, with the totals of all reviews.
#[derive(Debug)]
pub struct ReviewPage {
    /// The reviews, last changed first.
    pub page: ListPage<RemoteReview>,
    /// Average of the stars.
    pub average_rating: Option<f64>,
    /// The number of reviews.
    pub total: Option<i64>,
    /// The number of reviews on this page that could not be read. They are there, whatever they say.
    pub unread: usize,
}

/// A photo or video of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteMedia {
    /// Its full name.
    pub name: String,
    /// The category on the profile.
    pub category: String,
    /// True for a video.
    pub video: bool,
    /// Its address, which changes over time.
    pub url: Option<String>,
    /// The address of its thumbnail.
    pub thumbnail_url: Option<String>,
    /// The address that it was fetched from, if known.
    pub source_url: Option<String>,
    /// Pixels.
    pub width: Option<i64>,
    /// Pixels.
    pub height: Option<i64>,
    /// The number of views.
    pub view_count: Option<i64>,
    /// When it was added, if known.
    pub created_at: Option<DateTime<Utc>>,
}

/// The facts that the audit checks, as the network reports them.
#[derive(Debug, Clone, Default)]
pub struct ProfileFacts {
    /// The location's record.
    pub location: Value,
    /// True if the network has verified the owner.
    pub verified: Option<bool>,
    /// When it last posted.
    pub last_post_at: Option<DateTime<Utc>>,
    /// True if the latest posts could be read.
    pub posts_known: bool,
}

/// The business profile of a network's accounts: each is one location.
#[async_trait]
pub trait BusinessProfile: RemoteChanges {
    /// Returns the app's call quota for all accounts together, if known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Returns the rules for photos of a profile, which differ from those of posts.
    fn photos(&self) -> &'static MediaRules;

    /// Reads a page of reviews, last changed first.
    ///
    /// # Errors
    /// The network's error.
    async fn reviews(&self, session: &Session, next: Option<String>) -> Result<ReviewPage>;

    /// Reads a page of photos and videos.
    ///
    /// # Errors
    /// The network's error.
    async fn media(&self, session: &Session, next: Option<String>)
    -> Result<ListPage<RemoteMedia>>;

    /// Reads the facts that the audit checks.
    ///
    /// # Errors
    /// The network's error; a single fact that cannot be read is left unknown.
    async fn profile(&self, session: &Session) -> Result<ProfileFacts>;
}
