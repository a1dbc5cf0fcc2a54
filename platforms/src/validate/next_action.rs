//! Suggested calls after a refusal.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A call that helps to resolve a refusal, ready to execute, or a page for the user to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextAction {
    /// The operation, which is also the name of its MCP tool; absent for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// HTTP method.
    pub method: &'static str,
    /// Path and query.
    pub path: String,
    /// The body, where one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The full address of a page for the user to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its purpose.
    pub why: &'static str,
}
