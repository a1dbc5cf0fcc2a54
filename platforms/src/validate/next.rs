//! Calls that lead out of a refusal.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A call that leads out of a refusal, executable as it stands, or a page for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Next {
    /// The operation, which is also the name of its tool; absent for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// HTTP method.
    pub method: &'static str,
    /// Path and query.
    pub path: String,
    /// The body, where one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The whole address of a page that a person opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its purpose.
    pub why: &'static str,
}
