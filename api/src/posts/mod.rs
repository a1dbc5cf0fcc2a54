//! The operations on posts.

mod create;
mod delete;
mod read;
mod status;
mod update;

pub use create::{create, create_batch};
pub use delete::{GroupQuery, delete, delete_group};
pub use read::{attempts, get, list, missing};
pub use status::{retry, set_status};
pub use update::{set_release, update};
