//! Checks a draft against a descriptor. Reports all violations, not the first.

use serde::Serialize;
use serde_json::Value;

use crate::{Draft, Platform};

/// One broken rule, in the shape of the API's `validation_errors`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Path of the field, for example `settings.board` or `media_urls[2]`.
    pub field: String,
    /// Code from the API's catalogue.
    pub code: &'static str,
    /// What is wrong, one sentence.
    pub message: String,
    /// The limit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// What was given, where it can be compared with the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
    /// What to do, one sentence.
    pub remedy: String,
}

/// All rules of the network that `draft` breaks, in the order of the fields: caption, media, post type, settings,
/// metadata. Pure. Media whose type or size is not known yet passes.
#[must_use]
pub fn validate(platform: &dyn Platform, draft: &Draft) -> Vec<Violation> {
    platform.check(draft)
}
