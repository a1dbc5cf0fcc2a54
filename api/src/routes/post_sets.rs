//! Routes of post sets.

use super::parts::{REFUSED_SET, REFUSED_SET_CHANGE, REFUSED_STATUS, reads, writes};
use crate::{Body, Bucket, Drafts, Method, Policy, Query, RaisedRole, Route, WorkspaceScope};
use crate::{post_sets, wait::Wait};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_publishing::posts::{
    StatusChange,
    sets::{NewPostSet, NewTargets, PostSetChanges, PostSetFilter, RetryPostSet},
};

/// The policy for creating a set: editors may write drafts.
const CREATE: Policy = Policy {
    drafts: Some(Drafts::New),
    ..writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Targets)
};

/// The policy for changing a set: editors may change its text, only publishers its time.
const EDIT: Policy = Policy {
    raised: Some(RaisedRole { fields: &["scheduled_at", "timezone"], role: Role::Publisher }),
    ..writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::PostSet)
};

const PUBLISH: Policy = writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::PostSet);

const NEW_SET: &str = r#"{"targets": [{"account_id": 7}, {"account_id": 8, "caption": "Hello, friends!"}], "caption": "Hello!", "scheduled_at": "2030-01-31T09:00:00Z"}"#;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/post-sets", "create_post_set", CREATE, &post_sets::create)
        .doc("post sets", "Post one message on several accounts: all of them, or none")
        .when("Use it for one message on several accounts, with `dry_run` first; not for different posts, which go in a batch.")
        .core()
        .versioned("post_set")
        .counts_against(Bucket::Posts)
        .takes_body(Body::of::<NewPostSet>(NEW_SET))
        .answers(200, "With `dry_run`: what each target would be.")
        .shows("post_set")
        .answers(201, "The set was created.")
        .refuses(REFUSED_SET),
    Route::new(Method::Get, "/api/v1/post-sets", "list_post_sets", reads(Scope::PostsRead, WorkspaceScope::AccountFilter),
        &post_sets::list)
        .doc("post sets", "List post sets, newest first")
        .when("Use it to find sets by status, account or time; not to follow one, which is read by its id.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<PostSetFilter>())
        .answers(200, "A page of sets, without their content."),
    Route::new(Method::Get, "/api/v1/post-sets/{id}", "get_post_set", reads(Scope::PostsRead, WorkspaceScope::PostSet),
        &post_sets::get)
        .doc("post sets", "Show a post set with its targets")
        .when("Use it with `wait` to follow a set; the whole text of a target is `get_post`.")
        .versioned("post_set")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<Wait>())
        .answers(200, "The set."),
    Route::new(Method::Patch, "/api/v1/post-sets/{id}", "update_post_set", EDIT, &post_sets::update)
        .doc("post sets", "Change the content or the time of a post set")
        .when("Use it to change what the targets have in common, or what one has of its own, before they go out.")
        .versioned("post_set")
        .takes_body(Body::of::<PostSetChanges>(r#"{"caption": "Hello again!"}"#))
        .answers(200, "The set, and the targets that were left alone.")
        .shows("post_set")
        .refuses(REFUSED_SET_CHANGE),
    Route::new(Method::Delete, "/api/v1/post-sets/{id}", "delete_post_set", PUBLISH, &post_sets::delete)
        .doc("post sets", "Delete the targets of a post set that are not out")
        .when("Use it to withdraw a message everywhere; what is public stays public.")
        .versioned("post_set")
        .answers(200, "The posts that were deleted, and those that were left alone.")
        .refuses(&[]),
    Route::new(Method::Put, "/api/v1/post-sets/{id}/status", "update_post_set_status", PUBLISH, &post_sets::set_status)
        .doc("post sets", "Pause, schedule or draft the open targets of a post set")
        .when("Use it to pause or resume a whole set; not to change its text.")
        .versioned("post_set")
        .takes_body(Body::of::<StatusChange>(r#"{"status": "paused"}"#))
        .answers(200, "The set, and the targets that were left alone.")
        .shows("post_set")
        .refuses(REFUSED_STATUS),
    Route::new(Method::Post, "/api/v1/post-sets/{id}/retry", "retry_post_set", PUBLISH, &post_sets::retry)
        .doc("post sets", "Send the failed targets of a post set again, now")
        .when("Use it after failures whose cause is gone; targets that may be public are skipped unless the risk is accepted.")
        .versioned("post_set")
        .takes_body(Body::of::<RetryPostSet>("{}"))
        .answers(200, "The set, the posts that are sent again, and those that are not.")
        .shows("post_set")
        .refuses(&[Code::InvalidTransition, Code::PostNotFound]),
    Route::new(Method::Post, "/api/v1/post-sets/{id}/targets", "add_post_set_targets", PUBLISH, &post_sets::add_targets)
        .doc("post sets", "Add targets to a post set")
        .when("Use it to post the same message on further accounts; they need a time if that of the set has passed.")
        .versioned("post_set")
        .counts_against(Bucket::Posts)
        .takes_body(Body::of::<NewTargets>(r#"{"targets": [{"account_id": 9}]}"#))
        .answers(200, "With `dry_run`: what each target would be.")
        .shows("post_set")
        .answers(201, "The set with its new targets.")
        .refuses(REFUSED_SET),
];
