//! Films: what can be asked for, what it costs, and whether a request is right. All of it reads the table of models.

mod jobs;
mod options;
mod request;
pub mod work;

pub use jobs::{
    JobError, JobPage, JobQuery, OneJob, QueuedJob, VideoJob, cancel, generate, get, list,
};
pub use options::{VideoOptions, options};
pub use request::{FunctionResult, Normalized, VideoFunction, VideoRequest, function, normalize};
