//! Videos: their options, their prices, and the checks of requests. All of it follows from the table of models.

mod jobs;
mod options;
mod request;
pub mod work;

pub use jobs::{
    OneVideoJob, QueuedVideoJob, VideoJob, VideoJobError, VideoJobPage, VideoJobQuery, cancel,
    generate, get, list,
};
pub use options::{ModelOptions, ProviderOptions, VideoEstimate, VideoOptions, options};
pub use request::{
    FunctionResult, VideoFunction, VideoParams, VideoRequest, call_function, normalize,
};
