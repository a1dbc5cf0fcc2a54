//! Posts: what a valid post is, which statuses it may have, and what each change writes.

pub mod agenda;
mod alike;
mod batch;
mod caption_files;
mod compared;
mod create;
pub mod dead_workers;
mod delete;
mod draft;
pub mod duplicates;
mod edit;
mod fit;
mod forecast;
mod generic_type;
pub mod holds;
mod input;
pub mod later_names;
pub mod leaving;
mod media;
mod media_facts;
mod missing;
mod offset;
pub mod publishing;
pub mod quota;
mod read;
mod readiness;
mod release;
mod restore_hold;
pub mod sets;
mod status;
pub mod suggestion;
pub mod unpaid;
mod video_quota;
mod view;
mod waiting;
mod warnings;
mod workspace;
mod write;
mod write_once;

use fanfare_core::{Act, Domain, events::NewEvent};
use fanfare_entities::{Millis, post};
use fanfare_platforms::Spec;

pub use batch::{MAX_ITEMS, PostBatch, create_batch, item_requests};
pub use create::{CreateOutcome, CreateReply, create};
pub use delete::{GroupDeleted, delete, delete_group, is_own_draft};

pub use draft::{CaptionLength, caption_length};
pub use edit::edit;
pub use fanfare_entities::post::PostStatus;
pub use fit::{AnalysedFile, Fit, analysed_file, fit_photo};
pub use input::{NewPost, NewPostBatch, PostChanges, RetryPost, SetRelease, StatusChange};
pub use media::{find_stored as stored_file, look_up as stored_media};
pub use missing::{Missing, MissingItem, missing, missing_of};
pub use read::{Attempt, AttemptPage, PostFilter, attempts, find, get, list, rows};
pub use readiness::{FilesState, Readiness, check_readiness};
pub use release::set_release;
pub use restore_hold::{HeldPosts, hold_after_restore, is_asked_after_restore};
pub use status::retry_for_operator;
pub use status::{allowed_transitions, retry, set_status};
pub use video_quota::VideoQuotas;
use view::payload;
pub use view::{
    ChangedPost, CreatedPost, OnePost, POST_ERRORS, POST_FAILURES, PlannedPost, Post, PostError,
    PostErrorCode, PostFailure, PostMedia, PostPage, PostPart, Trouble, is_of_requests_too,
    media_of, outcome_words, post_failure, status_name, status_words, trouble,
};
pub use waiting::{WaitReason, Waiting, waiting_of};
pub use workspace::WorkspaceOfPost;
pub use write::{NewPostRow, PostWriter};
pub use write_once::Once;

/// Returns the time at which a worker first takes a post that goes out at `scheduled_at`: ahead of its time if there is
/// something to prepare.
#[must_use]
pub fn first_due(spec: &Spec, needs_preparing: bool, scheduled_at: Millis) -> Millis {
    if !needs_preparing {
        return scheduled_at;
    }
    let lead = i64::try_from(spec.prepare_lead.as_millis()).unwrap_or(0);
    scheduled_at.saturating_sub(lead)
}

/// Returns the event of a change to a post, with the post's new row as its payload.
#[must_use]
pub fn event(
    cx: &Domain,
    event_type: &'static str,
    row: &post::Model,
    message: String,
    request_id: Option<String>,
) -> NewEvent {
    NewEvent {
        workspace_id: row.workspace_id,
        event_type,
        streamed: true,
        data: payload(row, &cx.settings.base_url),
        post_id: Some(row.id),
        account_id: Some(row.account_id),
        brand_id: row.brand_id,
        platform: Some(row.platform.clone()),
        status: Some(status_name(row.status).to_owned()),
        message,
        request_id,
    }
}

/// Returns the event of a change that a request made to a post.
fn post_event(act: &Act, event_type: &'static str, row: &post::Model, message: String) -> NewEvent {
    event(&act.cx, event_type, row, message, Some(act.request_id.clone()))
}
