//! Routes of business profiles.

use super::parts::reads_either;
use super::parts::{REFUSED_BUSINESS, REFUSED_BUSINESS_MEDIA, writes};
use crate::{Body, Bucket, Method, Query, Route, WorkspaceScope, business};
use fanfare_conversations::business::{
    LocationFilter, MediaFilter, MediaRef, NewMedia, NewReviewReply, ReviewFilter, ReviewRef,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_insight::ai::review_reply::NewReviewReplies;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/google-business/reviews", "list_reviews",
        reads_either(WorkspaceScope::AccountInQuery), &business::list_reviews)
        .doc("google-business", "List reviews, the last changed first")
        .when("Use it to find reviews that wait for an answer (`replied=false`); not for comments on posts.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<ReviewFilter>())
        .shows("reviews")
        .answers(200, "A page of reviews.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Post, "/api/v1/google-business/reviews/reply", "reply_to_review",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &business::reply)
        .doc("google-business", "Answer a review; 200 in place of an earlier answer")
        .when("Use it once the user has seen the text, because it is public; not for drafts, which suggestions are.")
        .takes_body(Body::of::<NewReviewReply>(r#"{"review_id": 7, "text": "Thank you for coming!"}"#))
        .answers(200, "The network has the answer, in place of an earlier one.")
        .answers(201, "The network has the answer.")
        .answers(202, "The outcome is open: read the review again.")
        .refuses(REFUSED_BUSINESS),
    Route::new(Method::Delete, "/api/v1/google-business/reviews/reply", "delete_review_reply",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &business::delete_reply)
        .doc("google-business", "Delete the answer to a review")
        .when("Use it when an answer is to go; to change it, answer again with `replace`.")
        .takes_query(Query::of::<ReviewRef>())
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: read the review again.")
        .refuses(REFUSED_BUSINESS),
    Route::new(Method::Post, "/api/v1/google-business/reviews/suggest-reply", "suggest_review_reply",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &business::suggest_reply)
        .doc("google-business", "Suggest answers to a review that claim nothing unknown; posts nothing")
        .when("Use it for drafts of answers; it costs a credit and posts nothing.")
        .counts_against(Bucket::Captions)
        .takes_body(Body::of::<NewReviewReplies>(r#"{"review_id": 7, "tone": "warm", "count": 2}"#))
        .shows("suggestions")
        .answers(200, "The suggested answers, which may be fewer than were asked for; with `dry_run` the price.")
        .refuses(&[Code::ReviewNotFound, Code::InsufficientCredits, Code::ContentRefused, Code::ProviderBadAnswer,
            Code::ProviderUnreachable, Code::ProviderDenied, Code::Unavailable, Code::ProviderNotConfigured]),
    Route::new(Method::Get, "/api/v1/google-business/review-link", "get_review_link",
        reads_either(WorkspaceScope::AccountInQuery), &business::review_link)
        .doc("google-business", "Show the addresses at which people review locations")
        .when("Use it to ask customers for reviews; not to read reviews.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<LocationFilter>())
        .answers(200, "The addresses.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Get, "/api/v1/google-business/audit", "audit_business_profile",
        reads_either(WorkspaceScope::AccountInQuery), &business::audit)
        .doc("google-business", "Check what business profiles lack")
        .when("Use it to say what a business profile lacks; not for its reviews.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<LocationFilter>())
        .answers(200, "The audits.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Get, "/api/v1/google-business/media", "list_business_media",
        reads_either(WorkspaceScope::AccountInQuery), &business::list_media)
        .doc("google-business", "List the photos and videos of locations, added here or elsewhere")
        .when("Use it to find the `media_name` that a deletion needs; not for files of posts.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<MediaFilter>())
        .answers(200, "A page of media.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Post, "/api/v1/google-business/media", "add_business_media",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &business::add_media)
        .doc("google-business", "Add a photo or video to a location")
        .when("Use it with a file of this service for a location's gallery; not for posts.")
        .takes_body(Body::of::<NewMedia>(r#"{"source_url": "https://fanfare.example/media/2f9c.jpg", "category": "INTERIOR"}"#))
        .answers(202, "It is on its way.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound, Code::AccountReconnectRequired, Code::DuplicateRisk,
            Code::MediaTypeUnsupported, Code::MediaTooLarge, Code::MediaDimensionsUnsupported, Code::MediaNotFound]),
    Route::new(Method::Delete, "/api/v1/google-business/media", "delete_business_media",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &business::delete_media)
        .doc("google-business", "Delete a photo or video of a location")
        .when("Use it when the user named the photo; a deleted one cannot be brought back.")
        .takes_query(Query::of::<MediaRef>())
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: list the media again.")
        .refuses(REFUSED_BUSINESS_MEDIA),
];
