//! Reviews, media and the profile of a location.
//!
//! <https://developers.google.com/my-business/reference/rest/v4/accounts.locations.reviews>,
//! <https://developers.google.com/my-business/reference/rest/v4/accounts.locations.media>

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use http::Method;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::{
    API, GoogleBusiness, RATE_LIMITS, client,
    error::parse_error,
    photos::{MediaItem, MediaList, PHOTOS},
    verify::location,
};
use crate::{
    BusinessProfile, Candidate, Error, ErrorKind, Likeness, Listing, MediaRules, ProfileFacts,
    Progress, RateLimit, ReconcileOutcome, RecoveryClass, RefusalReason, RemoteChange,
    RemoteChanges, RemoteMedia, RemoteReply, RemoteReview, Result, ReviewMedia, ReviewPage,
    Session,
    google::{self, authorized},
    recent_posts::{CLOCK_SLACK, ListPage},
    response,
    text::likeness,
};

/// The time a call that changes something may take. Google fetches media during the call.
const DEADLINE: Duration = Duration::from_secs(20);

/// The hosts of the profile API and the verification API.
const LOCATIONS: &str = "https://mybusinessbusinessinformation.googleapis.com";
const VERIFICATIONS: &str = "https://mybusinessverifications.googleapis.com";

const READ_MASK: &str = "name,title,phoneNumbers,categories,storefrontAddress,websiteUri,regularHours,specialHours,serviceArea,profile,openInfo,metadata";

/// Most reviews of a page, and most media.
const REVIEWS: &str = "50";
const MEDIA: &str = "100";

/// The markers before the original text and before the translation of a review.
const ORIGINAL: &str = "(Original)";
const TRANSLATED: &str = "(Translated by Google)";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reviews {
    /// Each is read alone, so that one of an unknown form costs itself.
    #[serde(default)]
    reviews: Vec<Value>,
    average_rating: Option<f64>,
    total_review_count: Option<i64>,
    #[serde(default)]
    next_page_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    name: String,
    #[serde(default)]
    reviewer: Reviewer,
    #[serde(default)]
    star_rating: String,
    #[serde(default)]
    comment: String,
    create_time: DateTime<Utc>,
    update_time: DateTime<Utc>,
    review_reply: Option<Reply>,
    #[serde(default)]
    review_media_items: Vec<Value>,
    /// Google puts the state here or in the reply.
    review_reply_state: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reviewer {
    display_name: String,
    profile_photo_url: Option<String>,
    is_anonymous: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    #[serde(default)]
    comment: String,
    update_time: Option<DateTime<Utc>>,
    state: Option<String>,
    review_reply_state: Option<String>,
    policy_violation: Option<String>,
}

impl Reply {
    fn read(self, beside: Option<String>, at: DateTime<Utc>) -> RemoteReply {
        let state = self.state.or(self.review_reply_state).or(beside).unwrap_or_default();
        RemoteReply {
            text: self.comment,
            state: match state.as_str() {
                "PENDING" => "pending",
                "REJECTED" => "rejected",
                _ => "approved",
            }
            .to_owned(),
            policy_violation: self.policy_violation,
            updated_at: self.update_time.unwrap_or(at),
        }
    }
}

impl Review {
    fn read(self) -> RemoteReview {
        let rating = ["ONE", "TWO", "THREE", "FOUR", "FIVE"];
        let rating = rating.iter().position(|name| *name == self.star_rating);
        let at = self.update_time;
        let beside = self.review_reply_state;
        RemoteReview {
            name: self.name,
            reviewer: (!self.reviewer.is_anonymous).then_some(self.reviewer.display_name),
            avatar_url: self.reviewer.profile_photo_url,
            rating: rating.and_then(|place| i32::try_from(place + 1).ok()),
            text: original(&self.comment),
            media: self.review_media_items.iter().map(review_media).collect(),
            created_at: self.create_time,
            updated_at: at,
            reply: self.review_reply.map(|reply| reply.read(beside, at)),
        }
    }
}

/// Returns the original text of a review.
fn original(text: &str) -> String {
    if let Some((_, original)) = text.split_once(ORIGINAL) {
        return original.trim().to_owned();
    }
    match text.split_once(TRANSLATED) {
        Some((original, _)) if !original.trim().is_empty() => original.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}

fn review_media(item: &Value) -> ReviewMedia {
    let text = |name: &str| item[name].as_str().map(str::to_owned);
    let url = text("videoUrl");
    let kind = if url.is_some() { "video" } else { "image" };
    ReviewMedia { url, thumbnail_url: text("thumbnailUrl"), kind: kind.to_owned() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verification {
    has_voice_of_merchant: Option<bool>,
}

fn v4(session: &Session, path: &str) -> Result<url::Url> {
    session.url(API, &format!("/v4/{path}"))
}

async fn send(session: &Session, method: Method, path: &str, body: Option<&Value>) -> Result<()> {
    let mut request = session.http.request(method, v4(session, path)?).deadline(DEADLINE);
    if let Some(body) = body {
        request = request.json(body);
    }
    let request = authorized(session, request)?;
    response::send::<IgnoredAny>(session, request, parse_error).await.map(drop)
}

async fn read_review(session: &Session, name: &str) -> Result<Option<RemoteReview>> {
    match google::get::<Review>(session, v4(session, name)?, &[], parse_error).await {
        Ok(review) => Ok(Some(review.read())),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &Error) -> bool {
    error.reply.as_ref().is_some_and(|reply| reply.status == 404)
}

#[async_trait]
impl RemoteChanges for GoogleBusiness {
    fn class(&self, change: &RemoteChange) -> RecoveryClass {
        match change {
            RemoteChange::AddMedia { category, .. }
                if !matches!(category.as_str(), "COVER" | "PROFILE" | "LOGO") =>
            {
                RecoveryClass::Search
            }
            // These are idempotent: repeating them changes nothing.
            _ => RecoveryClass::Key { window: None },
        }
    }

    /// Google counts every change of a location.
    fn limits(&self, _change: &RemoteChange) -> &'static [RateLimit] {
        RATE_LIMITS
    }

    async fn apply_change(
        &self,
        session: &Session,
        change: &RemoteChange,
        _state: Option<Value>,
    ) -> Result<Progress> {
        match change {
            RemoteChange::ReviewReply { review, text } => {
                let body = json!({ "comment": text });
                send(session, Method::PUT, &format!("{review}/reply"), Some(&body)).await?;
                Ok(Progress::done(review, None))
            }
            RemoteChange::DeleteReviewReply { review } => {
                send(session, Method::DELETE, &format!("{review}/reply"), None).await?;
                Ok(Progress::done(review, None))
            }
            RemoteChange::AddMedia { source_url, category, video } => {
                let body = json!({
                    "mediaFormat": if *video { "VIDEO" } else { "PHOTO" },
                    "locationAssociation": {"category": category}, "sourceUrl": source_url,
                });
                let url = v4(session, &format!("{}/media", location(session)?))?;
                let request = session.http.post(url).json(&body).deadline(DEADLINE);
                let made: MediaItem =
                    response::send(session, authorized(session, request)?, parse_error).await?;
                if made.name.is_empty() {
                    let message = "Google answered without the name of the file.";
                    return Err(Error::new(ErrorKind::Ambiguous, message));
                }
                Ok(Progress::done(made.name, made.google_url))
            }
            RemoteChange::DeleteMedia { media } => {
                send(session, Method::DELETE, media, None).await?;
                Ok(Progress::done(media, None))
            }
            _ => Err(Error::defect("Google takes no such change.")),
        }
    }

    async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        _state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let there = |id: &str| ReconcileOutcome::Committed(Progress::done(id, None));
        Ok(match change {
            RemoteChange::ReviewReply { review, text } => match read_review(session, review).await?
            {
                Some(found) if is_reply(&found, text) => there(review),
                _ => ReconcileOutcome::NotCommitted,
            },
            RemoteChange::DeleteReviewReply { review } => match read_review(session, review).await?
            {
                Some(found) if found.reply.is_some() => ReconcileOutcome::NotCommitted,
                _ => there(review),
            },
            RemoteChange::AddMedia { source_url, .. } => {
                added_media(&self.media(session, None).await?, source_url, sent_at).into()
            }
            RemoteChange::DeleteMedia { media } => {
                match google::get::<MediaItem>(session, v4(session, media)?, &[], parse_error).await
                {
                    Ok(_) => ReconcileOutcome::NotCommitted,
                    Err(error) if is_gone(&error) => there(media),
                    Err(error) => return Err(error),
                }
            }
            _ => ReconcileOutcome::Unknown,
        })
    }

    fn refusal_reason(&self, change: &RemoteChange, error: &Error) -> Option<RefusalReason> {
        let status = error.reply.as_ref()?.status;
        match (change, status) {
            (RemoteChange::DeleteReviewReply { .. } | RemoteChange::DeleteMedia { .. }, 404) => {
                Some(RefusalReason::Done)
            }
            (RemoteChange::DeleteMedia { .. }, 400 | 412) | (_, 404) => {
                Some(RefusalReason::NotAllowed)
            }
            (_, 403) => Some(RefusalReason::PermissionMissing),
            _ => None,
        }
    }
}

/// Returns true if this is the reply to a review, as Google shows it.
fn is_reply(review: &RemoteReview, text: &str) -> bool {
    let shown = review.reply.as_ref().map(|reply| reply.text.as_str());
    shown.is_some_and(|shown| shown == text || likeness(text, shown) == Likeness::Same)
}

/// Lists the photos and videos that may be one that was added from this address.
fn added_media(page: &ListPage<RemoteMedia>, source_url: &str, sent_at: DateTime<Utc>) -> Listing {
    let candidates = page.items.iter().filter(|one| one.source_url.as_deref() == Some(source_url));
    let candidate = |one: &RemoteMedia| Candidate {
        id: one.name.clone(),
        created_at: one.created_at.unwrap_or(sent_at),
        is_same: true,
        progress: Progress::done(one.name.clone(), None),
    };
    let is_older = |one: &RemoteMedia| one.created_at.is_some_and(|at| at < sent_at - CLOCK_SLACK);
    let is_whole = page.next.is_none() || page.items.iter().any(is_older);
    Listing { candidates: candidates.map(candidate).collect(), is_whole }
}

#[async_trait]
impl BusinessProfile for GoogleBusiness {
    fn quota(&self) -> Option<RateLimit> {
        Some(super::analytics::QUOTA)
    }

    fn photos(&self) -> &'static MediaRules {
        &PHOTOS
    }

    async fn reviews(&self, session: &Session, next: Option<String>) -> Result<ReviewPage> {
        let url = v4(session, &format!("{}/reviews", location(session)?))?;
        let next = next.unwrap_or_default();
        let mut query = vec![("pageSize", REVIEWS), ("orderBy", "updateTime desc")];
        if !next.is_empty() {
            query.push(("pageToken", next.as_str()));
        }
        let page: Reviews = google::get(session, url, &query, parse_error).await?;
        let count = page.reviews.len();
        let known = page.reviews.into_iter().filter_map(|one| Review::deserialize(one).ok());
        let items: Vec<RemoteReview> = known.map(Review::read).collect();
        Ok(ReviewPage {
            unread: count - items.len(),
            page: ListPage::with_next(items, Some(page.next_page_token)),
            average_rating: page.average_rating,
            total: page.total_review_count,
        })
    }

    async fn media(
        &self,
        session: &Session,
        next: Option<String>,
    ) -> Result<ListPage<RemoteMedia>> {
        let url = v4(session, &format!("{}/media", location(session)?))?;
        let next = next.unwrap_or_default();
        let mut query = vec![("pageSize", MEDIA)];
        if !next.is_empty() {
            query.push(("pageToken", next.as_str()));
        }
        let page: MediaList = google::get(session, url, &query, parse_error).await?;
        let items = page.media_items.into_iter().map(MediaItem::read).collect();
        Ok(ListPage::with_next(items, Some(page.next_page_token)))
    }

    async fn profile(&self, session: &Session) -> Result<ProfileFacts> {
        let whole = location(session)?;
        let id = whole.rsplit('/').next().unwrap_or_default();
        let url = session.url(LOCATIONS, &format!("/v1/locations/{id}"))?;
        let location: Value =
            google::get(session, url, &[("readMask", READ_MASK)], parse_error).await?;
        let url =
            session.url(VERIFICATIONS, &format!("/v1/locations/{id}/VoiceOfMerchantState"))?;
        let verified = google::get::<Verification>(session, url, &[], parse_error).await;
        let posts = client::latest(session, &whole, None).await;
        Ok(ProfileFacts {
            location,
            verified: verified.ok().and_then(|state| state.has_voice_of_merchant),
            posts_known: posts.is_ok(),
            last_post_at: posts
                .ok()
                .and_then(|page| page.items.iter().find_map(client::creation_time)),
        })
    }
}
