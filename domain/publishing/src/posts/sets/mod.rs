//! Post sets: one message for several accounts. A target of a set is a post: it has the same row, ledger, order and retries
//! as any other. The set keeps what its posts have in common, and each post all that is published.

mod add;
mod change;
mod check;
mod copies;
mod create;
mod delete;
mod faults;
mod input;
mod levels;
mod own;
pub mod pages;
mod plan;
mod read;
mod replies;
mod retry;
mod rows;
mod settle;
mod status;
mod targets;
mod transition;
mod view;
mod write;

pub use add::add_targets;
pub use change::change;
pub use create::{SetOutcome, SetReply, create};
pub use delete::delete;
pub use input::{
    Mode, NewPostSet, NewTarget, NewTargets, Overrides, PostSetChanges, PostSetFilter,
    RetryPostSet, TargetChanges,
};
pub use levels::{Level, Origin, Origins};
pub use read::{get, list};
pub use replies::{
    ChangedPostSet, CheckedPostSet, CheckedTarget, CreatedPostSet, DeletedPostSet, RefusedTarget,
    RetriedPostSet,
};
pub use retry::retry;
pub use rows::{TargetRow, lock_of_posts};
pub use settle::changed_by_service;
pub use status::SetStatus;
pub use targets::MAX_TARGETS;
pub use transition::set_status;
pub use view::{OnePostSet, PostSet, PostSetPage, PostSetState, PostSetSummary, SetTarget};

pub(super) use own::{forget_target, own_changes, own_time};
pub(super) use rows::{lock, lock_of_post};
pub(super) use settle::changed_by_caller;
