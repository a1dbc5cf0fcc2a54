//! Routes of posts.

use super::parts::{
    CREATE, DELETE, EDIT, NEW_BATCH, NEW_POST, REFUSED_CONTENT, REFUSED_EDIT, REFUSED_STATUS,
    reads, writes,
};
use crate::{Body, Bucket, Method, Query, Route, WorkspaceScope, posts, wait::Wait};
use fanfare_core::{
    Code,
    access::{Role, Scope},
    input::CursorQuery,
};
use fanfare_publishing::posts::{
    NewPost, NewPostBatch, PostChanges, PostFilter, RetryPost, SetRelease, StatusChange,
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/posts", "create_post", CREATE, &posts::create)
        .doc("posts", "Schedule a post, or publish it now")
        .versioned("post")
        .when("Use it once the user agreed to text and time, with `dry_run` first if unsure; not for several posts, which go in a batch.")
        .core()
        .counts_against(Bucket::Posts)
        .takes_body(Body::of::<NewPost>(NEW_POST))
        .answers(200, "With `dry_run`: the post would be created.")
        .shows("post")
        .answers(201, "The post was created.")
        .refuses(REFUSED_CONTENT),
    Route::new(Method::Post, "/api/v1/posts/batch", "create_posts_batch",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &posts::create_batch)
        .doc("posts", "Create up to 25 posts, each on its own")
        .when("Use it for several posts at once; each succeeds or fails by itself, so read `errors` too.")
        .core()
        .counts_against(Bucket::Posts)
        .takes_body(Body::of::<NewPostBatch>(NEW_BATCH))
        .keyed_by_item()
        .answers(200, "The result of each item.")
        .shows("posts")
        .refuses(&[Code::TooManyItems]),
    Route::new(Method::Get, "/api/v1/posts", "list_posts", reads(Scope::PostsRead, WorkspaceScope::AccountFilter),
        &posts::list)
        .doc("posts", "List posts, newest first")
        .when("Use it to find posts by status, account or time; not to follow one, which is read by its id.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<PostFilter>())
        .answers(200, "A page of posts."),
    Route::new(Method::Get, "/api/v1/posts/{id}", "get_post", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::get)
        .doc("posts", "Show a post")
        .versioned("post")
        .when("Use it with `wait` to follow a post; not to list many.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<Wait>())
        .answers(200, "The post."),
    Route::new(Method::Patch, "/api/v1/posts/{id}", "update_post", EDIT, &posts::update)
        .doc("posts", "Change a scheduled, draft, paused or failed post")
        .versioned("post")
        .when("Use it to change text, files or time before a post goes out, or after it failed; not its account, which is fixed.")
        .core()
        .takes_body(Body::of::<PostChanges>(r#"{"caption": "Hello again!"}"#))
        .answers(200, "The changed post.")
        .refuses(REFUSED_EDIT),
    Route::new(Method::Delete, "/api/v1/posts/{id}", "delete_post", DELETE, &posts::delete)
        .doc("posts", "Delete a draft, scheduled or failed post")
        .versioned("post")
        .when("Use it for posts that are not out; what is public stays public.")
        .core()
        .answers(200, "The post is deleted.")
        .refuses(&[Code::InvalidTransition]),
    Route::new(Method::Put, "/api/v1/posts/{id}/status", "update_post_status",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), &posts::set_status)
        .doc("posts", "Pause, schedule or draft a post")
        .versioned("post")
        .when("Use it to pause, resume or set a post back to a draft; not to change its text.")
        .core()
        .takes_body(Body::of::<StatusChange>(r#"{"status": "paused"}"#))
        .answers(200, "The post in its new status.")
        .refuses(REFUSED_STATUS),
    Route::new(Method::Get, "/api/v1/posts/{id}/missing", "get_post_missing", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::missing)
        .doc("posts", "Show what a post is missing")
        .when("Use it to learn what a draft still lacks; a post that was accepted lacks nothing.")
        .core()
        .counts_against(Bucket::Reads)
        .answers(200, "The parts that it lacks."),
    Route::new(Method::Put, "/api/v1/posts/{id}/release-id", "update_post_release_id",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Post), &posts::set_release)
        .doc("posts", "Store release and group metadata")
        .versioned("post")
        .when("Use it to keep your own ids with a post; it changes nothing that is published.")
        .takes_body(Body::of::<SetRelease>(r#"{"release_id": "2030.1", "group": "launch"}"#))
        .answers(200, "The post."),
    Route::new(Method::Get, "/api/v1/posts/{id}/attempts", "list_attempts", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::attempts)
        .doc("posts", "List the attempts to publish a post, oldest first")
        .when("Use it to explain why a post failed or what is public of it; not for its present status.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<CursorQuery>())
        .answers(200, "The ledger."),
    Route::new(Method::Post, "/api/v1/posts/{id}/retry", "retry_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), &posts::retry)
        .doc("posts", "Send a failed post again, now")
        .versioned("post")
        .when("Use it after a failure whose cause is gone; with `outcome_unknown` only when the user has looked at the network.")
        .core()
        .takes_body(Body::of::<RetryPost>("{}"))
        .answers(200, "The post, scheduled for now.")
        .refuses(&[Code::InvalidTransition, Code::DuplicateRisk]),
    Route::new(Method::Delete, "/api/v1/posts/group/{group}", "delete_post_group",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &posts::delete_group)
        .doc("posts", "Delete the draft, scheduled, failed and paused posts of a group")
        .when("Use it to withdraw a campaign before it goes out; not for what is public already.")
        .takes_query(Query::of::<posts::GroupQuery>())
        .answers(200, "The posts that were deleted, and those that were left alone.")
        .refuses(&[Code::ConfirmRequired, Code::GroupNotFound]),
];
