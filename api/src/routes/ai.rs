//! Routes of AI models.

use super::parts::{reads, writes};
use crate::{
    Body, Bucket, Method, Query, Route, WorkspaceScope, ai, discovery::WorkspaceQuery, wait::Wait,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_insight::ai::{
    captions::NewCaptions,
    image::NewImages,
    video::{VideoFunction, VideoJobQuery, VideoRequest},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/ai/generate-captions", "generate_captions",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_captions)
        .doc("ai", "Write captions that claim nothing that is not in the brief; makes no post")
        .when("Use it to have variants written from a brief; it costs a credit and makes no post.")
        .core()
        .counts_against(Bucket::Captions)
        .takes_body(Body::of::<NewCaptions>(r#"{"brief": "Brunch every Sunday, 9 euros, at cafe-luna.de", "platforms": ["bluesky", "linkedin"], "count": 2}"#))
        .shows("captions.variants")
        .answers(200, "The captions, of which a network may get fewer than were asked for; with `dry_run` the price.")
        .refuses(&[Code::InsufficientCredits, Code::AccountNotFound, Code::BrandNotFound, Code::ContentRefused,
            Code::ProviderBadAnswer, Code::ProviderUnreachable, Code::ProviderDenied, Code::Unavailable, Code::ProviderNotConfigured]),
    Route::new(Method::Post, "/api/v1/ai/generate-image", "generate_image",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_image)
        .doc("ai", "Draw images, which are stored as media")
        .when("Use it when the user wants a picture drawn; it costs credits, so not to try things out.")
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewImages>(r#"{"prompt": "A cat on a red sofa", "aspect_ratio": "16:9", "count": 2}"#))
        .shows("images")
        .answers(200, "With `dry_run`: the price.")
        .answers(201, "The images.")
        .refuses(&[Code::InsufficientCredits, Code::ContentRefused, Code::ProviderBadAnswer,
            Code::ProviderUnreachable, Code::ProviderDenied, Code::Unavailable, Code::ProviderNotConfigured]),
    Route::new(Method::Get, "/api/v1/ai/prices", "list_ai_prices",
        reads(Scope::PostsRead, WorkspaceScope::Query), &ai::list_prices)
        .doc("ai", "List what each operation that spends credits costs")
        .when("Use it before captions, images, answers or videos; `dry_run` of each tells the price of one request.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<WorkspaceQuery>())
        .shows("prices")
        .answers(200, "The prices."),
    Route::new(Method::Get, "/api/v1/ai/video-options", "get_video_options",
        reads(Scope::PostsRead, WorkspaceScope::Query), &ai::video_options)
        .doc("ai", "Show which videos can be made, and what they cost; spends nothing")
        .when("Use it before a video, to choose model, length and resolution; not to learn what one request costs.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<WorkspaceQuery>())
        .shows("providers.models.estimates")
        .answers(200, "The providers of videos."),
    Route::new(Method::Post, "/api/v1/ai/video-function", "run_video_function",
        reads(Scope::PostsRead, WorkspaceScope::Body), &ai::video_function)
        .doc("ai", "Estimate what a video costs, check a request, or list models; spends nothing")
        .when("Use it before a video, to learn its price and whether the request is right; it makes nothing.")
        .counts_against(Bucket::Reads)
        .takes_body(Body::of::<VideoFunction>(r#"{"identifier": "xai_grok", "function": "estimate_cost", "params": {"prompt": "A cat", "duration_seconds": 6}}"#))
        .answers(200, "The answer of the function.")
        .refuses(&[Code::WalletUnavailable, Code::ProviderNotConfigured]),
    Route::new(Method::Post, "/api/v1/ai/generate-video", "generate_video",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_video)
        .doc("ai", "Queue a video; poll its job until it is completed")
        .when("Use it after an estimate that the user has agreed to; not without, since videos cost the most credits.")
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<VideoRequest>(r#"{"prompt": "A cat plays the piano", "provider": "xai", "aspect_ratio": "9:16", "duration_seconds": 6}"#))
        .answers(200, "With `dry_run`: the price.")
        .answers(202, "The video is queued.")
        .refuses(&[Code::InsufficientCredits, Code::TooManyJobs, Code::ProviderNotConfigured]),
    Route::new(Method::Get, "/api/v1/ai/video-jobs", "list_video_jobs",
        reads(Scope::PostsRead, WorkspaceScope::Query), &ai::list_video_jobs)
        .doc("ai", "List videos, newest first")
        .when("Use it to find videos of earlier sessions; not to follow one, which is read by its id.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<VideoJobQuery>())
        .answers(200, "The videos."),
    Route::new(Method::Get, "/api/v1/ai/video-jobs/{id}", "get_video_job",
        reads(Scope::PostsRead, WorkspaceScope::VideoJob), &ai::get_video_job)
        .doc("ai", "Show how far a video is; `video_url` is there once it is completed")
        .when("Use it with `wait` to follow a video; not more often than every few seconds without.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<Wait>())
        .answers(200, "The video.")
        .refuses(&[Code::JobNotFound]),
    Route::new(Method::Post, "/api/v1/ai/video-jobs/{id}/cancel", "cancel_video_job",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::VideoJob), &ai::cancel_video_job)
        .doc("ai", "Cancel a video that is still queued; its credits come back")
        .when("Use it while a video is queued; one that is being made can no longer be cancelled.")
        .answers(200, "The video.")
        .refuses(&[Code::JobNotFound, Code::InvalidTransition]),
];
